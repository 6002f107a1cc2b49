"""What the jobs of the cluster look at, on the driver."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from pyspark.sql import DataFrame, SparkSession


def check(what: str, ok: bool) -> None:
    print(("ok: " if ok else "FAILED: ") + what, flush=True)
    if not ok:
        sys.exit(1)


def rows(spark: SparkSession) -> DataFrame:
    """100,000 rows in no order of `a` or `b`."""
    return spark.range(0, 100_000, 1, 8).selectExpr(
        "cast(pmod(hash(id, 1), 1000) as int) as a", "cast(pmod(hash(id, 2), 1000) as int) as b", "id"
    )


def totals(df: DataFrame) -> list[object]:
    return list(df.selectExpr("count(*)", "sum(a)", "sum(b)", "sum(id)", "sum(a * b + id)").collect()[0])


def executors_of(keyed: DataFrame) -> dict[str, int]:
    """The rows that each executor has seen."""

    def seen(part: Iterator[object]) -> Iterator[tuple[str, int]]:
        import os
        import time

        count = sum(1 for _ in part)
        # so that one executor does not take all tasks
        time.sleep(1)
        return iter([(os.environ.get("SPARK_EXECUTOR_DIRS", str(os.getppid())).rsplit("/", 1)[-1], count)])

    found: dict[str, int] = {}
    for place, count in keyed.rdd.mapPartitions(seen).collect():
        found[place] = found.get(place, 0) + count
    return found
