"""What a TPC benchmark consists of: tables, queries and targets, fixed before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class Table:
    """A table that is clustered: by which columns, in which share of the files, and how its rows come.

    `order` is the order in which the generator writes the rows: the unclustered table keeps it.
    """

    by: tuple[str, ...]
    share: float
    order: tuple[str, ...]

    def files(self, largest: int) -> int:
        """So many where the largest table has `largest`."""
        return max(1, round(largest * self.share))


@dataclass(frozen=True)
class Wanted:
    """On the slow store at least `queries` queries are `times` as fast as without clustering."""

    queries: int
    times: float


@dataclass(frozen=True)
class Workload:
    """`source` makes all tables; those that `tables` does not name stay plain Parquet in every layout."""

    name: str
    title: str
    source: Callable[[SparkSession, Path, float], dict[str, DataFrame]]
    tables: dict[str, Table]
    queries: dict[str, str]
    wanted: Wanted
    note: str
