"""One query: how long it took to plan and to run, and what the store saw of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import counting

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

# what the slow store adds to each request
SLOW_MS = 20


@dataclass(frozen=True)
class Measured:
    """Seconds to plan and to run, and what the store saw."""

    plan: float
    run: float
    files: int
    requests: int
    bytes: int
    row_groups: int
    shuffled: int

    @property
    def wall(self) -> float:
        return self.plan + self.run


def ask(spark: SparkSession, text: str) -> tuple[Measured, list[Row]]:
    """The query is planned, then run; its rows come back."""
    counting.reset(spark)
    start = time.monotonic()
    query = spark.sql(text)
    query._jdf.queryExecution().executedPlan()
    planned = time.monotonic()
    rows = query.collect()
    done = time.monotonic()
    seen = (*counting.counts(spark), counting.row_groups(spark), counting.shuffled(spark))
    return Measured(planned - start, done - planned, *seen), rows
