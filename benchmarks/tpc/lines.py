"""The layouts that are compared: the tables unclustered, as we cluster them, and as others do."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import advice
import clustered
import peers
import session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from workload import Workload

    Columns = dict[str, tuple[str, ...]]
    Make = Callable[["Maker", str, str, tuple[str, ...]], DataFrame]

SKIPPING = "spark.zorder.skipping.enabled"
UNCLUSTERED = "unclustered"
HAND = "hand"
UNSKIPPED = "unskipped"


@dataclass(frozen=True)
class Line:
    """A layout: its tables by the names that the queries use, and whether our skipping is on."""

    key: str
    name: str
    tables: dict[str, DataFrame]
    ours: bool
    files: dict[str, int]
    columns: Columns

    def show(self, spark: SparkSession) -> None:
        """From now on the session's queries read these tables."""
        for name, table in self.tables.items():
            table.createOrReplaceTempView(name)
        spark.conf.set(SKIPPING, str(self.ours).lower())


@dataclass(frozen=True)
class Maker:
    """Makes one table after the other from the unclustered ones."""

    spark: SparkSession
    workload: Workload
    folder: Path
    largest: int

    def unclustered(self, name: str) -> Path:
        """Where the unclustered table lies, from which all others are made."""
        return self.folder / UNCLUSTERED / name

    def rows(self, name: str) -> DataFrame:
        return self.spark.read.parquet(str(self.unclustered(name)))

    def by(self, name: str) -> tuple[str, ...]:
        return self.workload.tables[name].by

    def files(self, name: str) -> int:
        return self.workload.tables[name].files(self.largest)

    def write_unclustered(self, sources: dict[str, DataFrame]) -> None:
        """Rows in the order of the generator, in as many files as the layouts have."""
        for name, table in self.workload.tables.items():
            rows = sources[name].repartitionByRange(self.files(name), *table.order)
            rows.sortWithinPartitions(*table.order).write.parquet(str(self.unclustered(name)))

    def parquet(self, key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        """Ours on plain Parquet, with an index; no columns: the table as it is, with an index."""
        path = self.folder / key / name
        shutil.copytree(self.unclustered(name), path)
        if by:
            clustered.ours(self.spark, f"'{path}'", self.files(name), by)
        self.spark.sql(f"ZORDER INDEX '{path}'").collect()
        return self.spark.read.parquet(str(path))

    def delta(self, key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        """Ours on Delta."""
        path = self.folder / key / name
        clustered.delta(self.spark, self.rows(name), path)
        clustered.ours(self.spark, f"'{path}'", self.files(name), by)
        return self.spark.read.format("delta").load(str(path))

    def iceberg(self, _key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        """Ours on Iceberg."""
        table = f"ours_{name}"
        clustered.iceberg(self.spark, self.rows(name), table)
        clustered.ours(self.spark, f"ice.db.{table}", self.files(name), by)
        self.spark.sql(f"REFRESH TABLE ice.db.{table}")
        return self.spark.table(f"ice.db.{table}")

    def delta_zorder(self, key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        return clustered.delta_own(
            self.spark, self.rows(name), self.folder / key / name, self.files(name), by=by
        )

    def delta_liquid(self, key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        path = self.folder / key / name
        return clustered.delta_own(self.spark, self.rows(name), path, self.files(name), clustered=True, by=by)

    def iceberg_zorder(self, _key: str, name: str, by: tuple[str, ...]) -> DataFrame:
        return clustered.iceberg_own(self.spark, self.rows(name), f"own_{name}", self.files(name), by)


# by the key that --lines takes: name, how a table is made, whether the layout is ours
LINES: dict[str, tuple[str, Make, bool]] = {
    HAND: ("spark-zorder, plain Parquet with index", Maker.parquet, True),
    UNSKIPPED: ("the same, skipping switched off", Maker.parquet, False),
    "advice": ("spark-zorder, columns by clustering_advice", Maker.parquet, True),
    "delta": ("spark-zorder, Delta", Maker.delta, True),
    "iceberg": ("spark-zorder, Iceberg", Maker.iceberg, True),
    "delta-zorder": (f"Delta {peers.DELTA} ZORDER BY", Maker.delta_zorder, False),
    "delta-liquid": (f"Delta {peers.DELTA} liquid clustering", Maker.delta_liquid, False),
    "iceberg-zorder": (f"Iceberg {peers.ICEBERG} zorder", Maker.iceberg_zorder, False),
}


def lines(maker: Maker, sources: dict[str, DataFrame], keys: list[str]) -> Iterator[Line]:
    """The unclustered tables, then the others; tables that are not clustered are the same in all lines."""
    maker.write_unclustered(sources)
    names = list(maker.workload.tables)
    as_they_are = {name: table for name, table in sources.items() if name not in names}

    def line(key: str, name: str, made: dict[str, DataFrame], ours: bool, by: Columns) -> Line:
        files = {n: len(session.files(table)) for n, table in made.items()}
        return Line(key, name, {**as_they_are, **made}, ours, files, by)

    rows = {n: maker.rows(n) for n in names}
    first = line(UNCLUSTERED, "unclustered, plain Parquet", rows, False, dict.fromkeys(names, ()))
    yield first
    hand = {n: maker.by(n) for n in names}
    for key in keys:
        name, make, ours = LINES[key]
        by = advised(maker, first) if key == "advice" else hand
        yield line(key, name, {n: make(maker, key, n, by[n]) for n in names}, ours, by)


def advised(maker: Maker, unclustered: Line) -> Columns:
    """Columns by advice from a log of the workload's queries over the unclustered tables."""
    unclustered.show(maker.spark)
    advice.log(maker.spark, maker.folder / "log", maker.workload.queries.values())
    return {
        name: advice.columns(maker.spark, maker.unclustered(name), maker.files(name))
        for name in maker.workload.tables
    }
