"""The audit through a session, for every table that Spark can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _errors, _session, _sql
from . import boxed, plain
from .files import partitions, sparktype
from .problem import AuditError
from .query import time_zone
from .query.opened import Opened
from .result import Result, Rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def audit(spark: SparkSession, table: str, columns: str | None, log: str | None, pictures: bool) -> Result:
    """The rows of the table functions; boxes and history only where `pictures` need them."""
    _session.require_functions(spark)
    target = _sql.Target(table, _sql.is_path(table))
    at = [target.argument, "NULL" if columns is None else _sql.literal(columns)]
    logged = [] if log is None else [_sql.literal(log)]

    def of(function: str, *arguments: str) -> Rows:
        rows = spark.sql(f"SELECT * FROM {function}({', '.join(arguments)})").collect()
        return [row.asDict(recursive=True) for row in rows]

    return Result(
        of("clustering_information", *at, *logged),
        of("clustering_boxes", *at) if pictures else [],
        of("clustering_queries", target.argument, *logged) if logged else [],
        of("zorder_history", target.argument) if pictures else [],
    )


def explained(spark: SparkSession, table: str, predicate: str) -> list[dict[str, Any]]:
    """What the statistics index of a table leaves out of a query: ``ZORDER EXPLAIN``. The query is not run.

    Empty where the table has no index, and where its format has statistics of its own.
    """
    query = f"SELECT * FROM {_relation(table)} WHERE (\n{predicate}\n)"
    rows = [row.asDict(recursive=True) for row in _session.run(spark, _sql.explain(query)).collect()]
    return rows if any(row["filter"] is not None for row in rows) else []


def pages(spark: SparkSession, table: str, predicate: str) -> Opened:
    """The pages that a query with this filter would read, of the files that it opens: ``clustering_where``.

    Raises AuditError where the filter is none that the function takes.
    """
    from pyspark.errors import PySparkException

    argument = _sql.Target(table, _sql.is_path(table)).argument
    try:
        rows = spark.sql(f"SELECT * FROM clustering_where({argument}, {_sql.literal(predicate)})").collect()
    except PySparkException as error:
        raise AuditError(_errors.sentence(error)) from error
    found = next(row for row in rows if row["level"] == "page")
    left_out = found["total_count"] - found["read_count"]
    return Opened(
        None,
        "page",
        found["total_count"],
        left_out,
        left_out,
        found["read_count"],
        found["read_rows"],
        found["share"] or 0.0,
        "",
    )


def would_open(spark: SparkSession, table: str, predicate: str) -> tuple[list[Opened], int]:
    """What a query with this filter would open, by the bounds that ``clustering_boxes`` has; bytes in all."""
    relation = spark.table(_relation(table))
    types = sparktype.of_schema(relation.schema.json())
    target = _sql.Target(table, _sql.is_path(table))

    def boxes(names: str) -> Rows:
        rows = spark.sql(
            f"SELECT * FROM clustering_boxes({target.argument}, {_sql.literal(names)})"
        ).collect()
        return [row.asDict(recursive=True) for row in rows]

    with time_zone.of_session(time_zone.named(spark.conf.get("spark.sql.session.timeZone") or "UTC")):
        return boxed.would_open(types, _partitioned_by(relation), predicate, boxes)


def _partitioned_by(relation: DataFrame) -> list[str]:
    """The columns whose values are in the names of directories."""
    folders = {folder for file in relation.inputFiles()[:1] for folder in partitions.values(file)}
    return [name for name in relation.columns if name in folders]


def _relation(table: str) -> str:
    """As it stands behind FROM; a path needs its format."""
    if not _sql.is_path(table):
        return _sql.identifier(table)
    kind = "parquet"
    if plain.available():
        try:
            kind = (plain.listed(table).format or kind).lower()
        except AuditError:
            # Hadoop knows file systems and layouts that pyarrow does not
            kind = "parquet"
    return f"{_sql.quoted(kind)}.{_sql.quoted(table)}"
