"""The audit through a session, for every table that Spark can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from .. import _errors, _session, _skipping, _sql
from .._errors import AuditError, UsageError
from .._table import ZOrderTable
from .files import sparktype
from .files.table import partition_values
from .opened import Opened
from .result import Result, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

# columns of metadata begin so, and no run or audit takes them
_OF_HUDI = "_hoodie_"


def audit(spark: SparkSession, table: str, columns: str | None, log: str | None, pictures: bool) -> Result:
    """Reads the rows of the table functions. Boxes and history are read only if `pictures` need them.

    Raises UsageError if the columns are no list.
    """
    try:
        names = "NULL" if columns is None else _sql.literal(_sql.columns([columns]))
    except ValueError as error:
        raise UsageError(str(error)) from None
    _session.require_functions(spark)
    target = _sql.Target(table, _sql.is_path(table))
    at = [target.argument, names]
    logged = [] if log is None else [_sql.literal(log)]

    def of(function: str, *arguments: str) -> Rows:
        rows = _session.query(spark, f"SELECT * FROM {function}({', '.join(arguments)})").collect()
        return [row.asDict(recursive=True) for row in rows]

    return Result(
        of("clustering_information", *at, *logged),
        of("clustering_boxes", *at) if pictures else [],
        of("clustering_queries", target.argument, *logged) if logged else [],
        of("zorder_history", target.argument) if pictures else [],
    )


def explained(spark: SparkSession, table: str, predicate: str) -> list[dict[str, Any]]:
    """The rows of ``ZORDER EXPLAIN`` for a query with this filter. The query is not run.

    The first row is about the whole scan. If the table has a statistics index, a row of each filter follows.
    There is no row if Spark finds that no row of the table can meet the filter.
    """
    query = ZOrderTable._named(spark, table).toDF().where(predicate)
    rows = _skipping.explained(query, None).collect()
    return [row.asDict(recursive=True) for row in rows if row["scan"] is not None]


def would_open(spark: SparkSession, table: str, predicate: str) -> list[Opened]:
    """Counts files, row groups and pages that a query with this filter would read: ``clustering_where``.

    Raises AuditError if the function refuses the filter.
    """
    from pyspark.errors import PySparkException

    arguments = f"{_sql.Target(table, _sql.is_path(table)).argument}, {_sql.literal(predicate)}"
    try:
        rows = _session.query(spark, f"SELECT * FROM clustering_where({arguments})").collect()
    except PySparkException as error:
        raise AuditError(_errors.sentence(error)) from error
    return [_opened(row) for row in rows]


def _opened(row: Row) -> Opened:
    left_out = row["total_count"] - row["read_count"]
    return Opened(
        None,
        row["level"],
        row["total_count"],
        left_out,
        left_out,
        row["read_count"],
        row["read_rows"],
        row["share"] or 0.0,
        "",
    )


def total_bytes(spark: SparkSession, table: str) -> int:
    """The bytes of all files. Raises AuditError if they are not known."""
    target = _sql.Target(table, _sql.is_path(table))
    found = files_and_bytes(spark, target, ZOrderTable._named(spark, table).toDF())[1]
    if found is None:
        raise AuditError(f"The price is not known: {table} has no column of which files keep bounds.")
    return found


def files_and_bytes(
    spark: SparkSession, target: _sql.Target, rows: DataFrame
) -> tuple[int | None, int | None]:
    """The number of files and their bytes, which are in the rows of ``clustering_boxes`` for any column.

    ``rows`` are those of the table. The numbers are None if no column can be asked for.
    """
    from pyspark.errors import PySparkException

    folders = _partitioned_by(rows)
    types = sparktype.of_schema(rows.schema.json())
    columns = [path for path, kind in types.items() if kind is not None and path[0] not in folders]
    for path in columns:
        if path[0].startswith(_OF_HUDI):
            continue
        name = _sql.literal(".".join(_sql.name(part) for part in path))
        boxes = f"clustering_boxes({target.argument}, {name}) WHERE row_group IS NULL"
        try:
            counting = f"SELECT count(*), coalesce(sum(bytes), 0) FROM {boxes}"
            counted = _session.query(spark, counting).collect()[0]
        except PySparkException as error:
            # such as a partition column of Iceberg, which no directory names
            if "ZORDER_COLUMN_REFUSED" not in str(error):
                raise
        else:
            return counted[0], counted[1]
    return None, None


def _partitioned_by(relation: DataFrame) -> list[str]:
    """The columns whose values are in the names of directories."""
    files = [unquote(uri) for uri in relation.inputFiles()[:1]]
    folders = {folder for file in files for folder in partition_values(file)}
    return [name for name in relation.columns if name in folders]
