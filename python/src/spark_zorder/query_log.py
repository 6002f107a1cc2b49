"""Logs of queries, so that a layout can be made for what users ask of their tables.

Nothing is logged unless ``start`` is called. A log is a DataFrame, or Parquet files, in the format that
docs/guide/query-log.md describes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from . import _session, _sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession


def start(
    spark: SparkSession, path: str | os.PathLike[str] | None = None, literals: str | None = None
) -> DataFrame:
    """Starts to log the filters and join keys of this session's queries to a directory.

    Without a path, it is the directory in ``spark.zorder.queryLog.path``. ``literals="drop"`` logs only how
    much a filter selects, and ``"keep"`` the values, too; without it, ``spark.zorder.queryLog.literals``
    decides, which is ``drop`` by default. Returns one row: ``path``, ``status``, ``queries``, ``shapes``,
    ``left_out``, ``literals``.
    """
    statement = _sql.log_start(path, literals)
    return _session.run(spark, statement, [] if path is None else [os.fspath(path)])


def stop(spark: SparkSession) -> DataFrame:
    """Ends the log of this session and writes it. Returns one row with the columns of ``start``."""
    return _session.run(spark, _sql.log_stop())


def of_sql(spark: SparkSession, queries: Sequence[str]) -> DataFrame:
    """A log of these queries. The session analyses them, and does not run them."""
    statement = _sql.log_of_sql(queries)
    _session.require_functions(spark)
    return _session.query(spark, statement)


def of_event_log(spark: SparkSession, path: str | os.PathLike[str]) -> DataFrame:
    """A log of the queries in Spark's event logs: a file or directory that the driver can read."""
    _session.require_functions(spark)
    return _session.query(spark, _sql.log_of_events(path))


def explain(spark: SparkSession, log: DataFrame | str | os.PathLike[str]) -> DataFrame:
    """Explains what the queries of a log would skip today, and why not more. No query is run.

    ``log`` is a DataFrame, or the table or path that holds one. The result has one row for each query and
    table, those that open the most files in all (weight times files) first: ``table``, ``query``,
    ``filter``, ``weight``, ``considered``, ``pruned``, ``kept``, ``pruned_by``, ``reason``.
    """
    if isinstance(log, (str, os.PathLike)):
        text = _sql.path_text(log, "explain")
        return _session.run(spark, _sql.explain_log(text), [text] if _sql.is_path(text) else [])
    _session.require_same(spark, log)
    with _session.viewed(log) as view:
        rows = _session.run(spark, _sql.explain_log(view))
        return spark.createDataFrame(rows.collect(), rows.schema)
