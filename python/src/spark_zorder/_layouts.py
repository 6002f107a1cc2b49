"""Layouts that were fitted to a DataFrame, or that a run has stored beside a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _session, _sql, functions
from ._errors import SetupError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


@dataclass(frozen=True)
class Layout:
    """Boundaries and cuts for some columns, as JSON. It holds values of the data: treat it as data."""

    json: str

    def __repr__(self) -> str:
        """Without the boundaries, which are many, and values of the data."""
        return f"<Layout: {len(self.json):,} characters of JSON>"

    def file(self, *cols: functions.ColumnOrName) -> Column:
        """The number of the file that a row belongs to (INT). Give the columns in the layout's order."""
        return functions.zorder_file(self.json, *cols)

    def key(self, *cols: functions.ColumnOrName) -> Column:
        """The place of a row in the layout (BIGINT). Give the columns in the layout's order."""
        return functions.zorder_key(self.json, *cols)


def fit(df: DataFrame, *cols: functions.ColumnOrName, files: int | None = None) -> Layout:
    """Fits a layout of this many files to a sample of the DataFrame. Nothing is written.

    One job runs, or two where few tasks have most of the rows. Columns and ``files`` are the same as for
    ``cluster``. Raises SetupError on Spark Connect, and AnalysisException if the DataFrame has no rows.

    Examples:
        >>> layout = fit(df, "a", "b", files=64)
    """
    bridge, by, count = _prepare(df, cols, files, "fit")
    return Layout(str(bridge.fit(_java(df), by, count)))


def cluster(df: DataFrame, *cols: functions.ColumnOrName, files: int | None = None) -> DataFrame:
    """The DataFrame in ``files`` partitions, ordered for clustering. Write it with any writer.

    One job first fits a layout to a sample, or two where few tasks have most of the rows. NULLs have a place
    of their own. Give a column by name or as a ``Column``; it may be a field of a struct. Without ``files``,
    the number of partitions is what a clustering run would choose for a table of the size in Spark's plan
    (``spark.zorder.fileCount`` and ``targetFileSize`` count), or ``spark.sql.shuffle.partitions`` if the plan
    has no size.

    Examples:
        >>> spark_zorder.cluster(df, "a", "b", files=64).write.parquet(path)
    """
    bridge, by, count = _prepare(df, cols, files, "cluster")
    return _session.dataframe(df.sparkSession, bridge.cluster(_java(df), by, count))


def stored(spark: SparkSession, target: _sql.Target) -> Layout | None:
    """The layout of the newest run of a table. The session must be able to read its file."""
    if _session.is_connect(spark):
        raise SetupError("layout() needs a classic session: a Spark Connect client cannot read the file.")
    session: Any = spark
    body = _session.require_bridge(spark).layout(session._jsparkSession, target.sql)
    return None if body is None else Layout(str(body))


def _prepare(
    df: DataFrame, cols: tuple[functions.ColumnOrName, ...], files: int | None, name: str
) -> tuple[Any, Any, int]:
    from pyspark.sql import Column

    if not cols:
        raise ValueError(f"{name} takes at least one column.")
    # py4j knows no other whole numbers than Python's
    count = 0 if files is None else _sql.whole(files, "files is a whole number, 1 or more.")
    spark = df.sparkSession
    if _session.is_connect(spark):
        raise SetupError(
            f"{name} needs a classic session; on Spark Connect write the table first and run "
            "ZOrderTable.forPath(spark, path).optimize().executeZOrderBy(...)."
        )
    for col in cols:
        if not isinstance(col, (str, Column)):
            raise TypeError(f"{name} takes columns by name or as Column, not {col!r}.")
    bridge = _session.require_bridge(spark)
    session: Any = spark
    by = session._sc._gateway.new_array(session._jvm.java.lang.Object, len(cols))
    for i, col in enumerate(cols):
        column: Any = col
        by[i] = _sql.identifier(col) if isinstance(col, str) else column._jc
    return bridge, by, count


def _java(df: DataFrame) -> Any:
    frame: Any = df
    return frame._jdf
