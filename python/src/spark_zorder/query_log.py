"""Logs of queries: what people ask of their tables, so that a layout can be made for it.

Nothing is logged unless ``start`` is called. A log is a DataFrame, or Parquet files, in the format that
docs/guide/query-log.md describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _session, _sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession


def start(spark: SparkSession, path: str | None = None, literals: str = "drop") -> DataFrame:
    """Logs the filters of this session's queries to a directory, from now on.

    Without a path it is the one of ``spark.zorder.queryLog.path``. ``literals="keep"`` also logs the values
    that queries compare with; by default only how much they select. Returns one row: ``path``, ``status``,
    ``queries``, ``shapes``, ``left_out``.
    """
    return _session.run(spark, _sql.log_start(path, literals))


def stop(spark: SparkSession) -> DataFrame:
    """Ends the log of this session; what was logged is written when this returns one row, as of ``start``."""
    return _session.run(spark, _sql.log_stop())


def of_sql(spark: SparkSession, queries: Sequence[str]) -> DataFrame:
    """A log of these queries. They are analysed in the session, not run."""
    statement = _sql.log_of_sql(queries)
    _session.require_functions(spark)
    return spark.sql(statement)


def of_event_log(spark: SparkSession, path: str) -> DataFrame:
    """A log of the queries in Spark's event logs: a file or a directory of them, as the driver sees it."""
    _session.require_functions(spark)
    return spark.sql(_sql.log_of_events(path))


def explain(spark: SparkSession, log: DataFrame | str) -> DataFrame:
    """What the queries of a log would skip today, and why not more; those that open the most files first.

    ``log`` is a DataFrame, or the table or path that holds one. No query is run. One row for each query and
    table: ``table``, ``query``, ``filter``, ``weight``, ``considered``, ``pruned``, ``kept``, ``pruned_by``,
    ``reason``.
    """
    if isinstance(log, str):
        return _session.run(spark, _sql.explain_log(log))
    with _session.viewed(spark, log) as view:
        rows = _session.run(spark, _sql.explain_log(view))
        return spark.createDataFrame(rows.collect(), rows.schema)
