"""All layouts answer a query in turn, round after round; a round has one time of each layout."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

import answers
import asked
import counting
from lines import UNCLUSTERED
from pairs import Pairs

if TYPE_CHECKING:
    from asked import Measured
    from lines import Line
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Found:
    """What one query of one layout took in each round, on the quick store and on the slow one."""

    quick: list[Measured]
    slow: list[Measured]

    def seconds(self, slow: bool) -> list[float]:
        return [m.wall for m in (self.slow if slow else self.quick)]

    def mean(self, what: str, slow: bool = False) -> float:
        """Of a count. A scan may begin before the keys of its join are known, or after, as requests wait."""
        return statistics.mean(getattr(m, what) for m in (self.slow if slow else self.quick))


Query = dict[str, Found]
"""By the key of the layout."""


def pairs(query: Query, key: str, slow: bool, base: str = UNCLUSTERED) -> Pairs:
    """A layout beside another one, the unclustered tables if none is named."""
    return Pairs(query[base].seconds(slow), query[key].seconds(slow))


def disagreement(spark: SparkSession, lines: list[Line], text: str) -> list[str]:
    """The layouts whose whole answer is not that of the unclustered tables, and the first difference."""
    expected, wrong = None, []
    for line in lines:
        line.show(spark)
        rows = answers.sorted_rows(spark.sql(answers.unlimited(text)).collect())
        if expected is None:
            expected = rows
        elif difference := answers.differ(expected, rows):
            wrong.append(f"{line.name}: {difference}")
    return wrong


def measured(spark: SparkSession, lines: list[Line], text: str, quick: int, slow: int) -> Query:
    """One round to warm up, then those that count; who begins changes from round to round."""
    _rounds(spark, lines, text, 1)
    on_quick = _rounds(spark, lines, text, quick)
    counting.slow(spark, asked.SLOW_MS)
    try:
        on_slow = _rounds(spark, lines, text, slow)
    finally:
        counting.slow(spark, 0)
    return {line.key: Found(on_quick[line.key], on_slow[line.key]) for line in lines}


def _rounds(spark: SparkSession, lines: list[Line], text: str, count: int) -> dict[str, list[Measured]]:
    found: dict[str, list[Measured]] = {line.key: [] for line in lines}
    for i in range(count):
        for line in lines[i % len(lines) :] + lines[: i % len(lines)]:
            line.show(spark)
            found[line.key].append(asked.ask(spark, text)[0])
    return found
