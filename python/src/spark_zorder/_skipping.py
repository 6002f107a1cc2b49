"""Explains what queries skip, and why not more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _session, _sql
from ._errors import SetupError
from .view.notebook import shown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def explain_skipping(df: DataFrame) -> DataFrame:
    """Explains what the scans of a query skip, and why not more. The query is planned and not run.

    The result has one row for each scan, with ``filter`` NULL, and one for each of its filters. A query
    without a scan has one row, in which only ``summary`` is not NULL. Columns:
    ``scan``, ``table``, ``filter``, ``considered``, ``pruned``, ``pruned_further``, ``kept``, ``pruned_by``,
    ``reason``, ``files``, and in the row of a scan ``summary``, a sentence.
    """
    return shown(explained(df, None))


def skipping_usage(spark: SparkSession) -> DataFrame:
    """Counts what the scans of this application have skipped since it began, by table and column.

    Columns: ``table``, ``column`` (NULL in the row of a table as a whole), ``scans``, the numbers of files
    ``considered``, ``pruned`` and ``unknown``, and ``ms``, the milliseconds that it took to know.
    """
    _session.require_functions(spark)
    return shown(spark.sql(_sql.skipping_usage()))


def explained(df: DataFrame, target: _sql.Target | None) -> DataFrame:
    """The rows about one table, or about all tables of the query."""
    if isinstance(df, str):
        raise TypeError("A query is explained as a DataFrame: spark.table(...).where(...) or spark.sql(...).")
    spark = df.sparkSession
    if not _session.is_connect(spark):
        frame: Any = df
        bridge = _session.require_bridge(spark)
        argument = None if target is None else target.sql
        return _session.dataframe(spark, bridge.explainSkipping(frame._jdf, argument))
    if target is not None:
        raise SetupError("Spark Connect explains whole queries only: use spark_zorder.explain_skipping(df).")
    with _session.viewed(df) as view:
        rows = _session.run(spark, _sql.explain(f"SELECT * FROM {view}"))
        return spark.createDataFrame(rows.collect(), rows.schema)
