"""Columns by `clustering_advice`, from a log of the workload's own queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pyspark.sql import SparkSession

LOG = "tpc_log"


def log(spark: SparkSession, folder: Path, queries: Iterable[str]) -> None:
    """The view of the log. The queries run over the tables that the session shows: joins have keys then."""
    spark.sql(f"ZORDER LOG START '{folder}' KEEP LITERALS")
    try:
        for query in queries:
            spark.sql(query).collect()
    finally:
        spark.sql("ZORDER LOG STOP")
    spark.read.parquet(str(folder)).createOrReplaceTempView(LOG)


def columns(spark: SparkSession, table: Path, files: int) -> tuple[str, ...]:
    """Those of the best proposal for so many files; none where it is to leave the table as it is."""
    spark.conf.set("spark.zorder.fileCount", str(files))
    try:
        rows = spark.sql(f"SELECT * FROM clustering_advice('{table}', '{LOG}') ORDER BY rank").collect()
    except AnalysisException as e:
        if "has no query with a filter on" not in str(e):
            raise
        return ()
    finally:
        spark.conf.unset("spark.zorder.fileCount")
    first = next((r for r in rows if r["verdict"] in ("CLUSTER", "SORT", "LEAVE IT")), None)
    return () if first is None or first["verdict"] == "LEAVE IT" else tuple(first["columns"])
