"""Files, row groups and pages of a Parquet table with their ranges, read by Parquet's own reader.

Nothing of spark-zorder takes part: these counts check what its result row says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

LEVELS = ("files", "row groups", "pages")
Range = tuple[int, int]


@dataclass
class Blocks:
    """All blocks of one level: how many, and the ranges of those that hold a value."""

    total: int
    ranges: list[Range]

    def mean_read(self, values: list[int]) -> float:
        """Mean number of blocks whose range holds a value: what a look-up has to read."""
        return sum(low <= v <= high for v in values for low, high in self.ranges) / len(values)


def blocks(
    spark: SparkSession, files: Iterable[Path], columns: tuple[str, ...]
) -> dict[str, dict[str, Blocks]]:
    """Per INT column and level, the blocks of a table's files."""
    found = {column: {level: Blocks(0, []) for level in LEVELS} for column in columns}
    for file in files:
        _add_file(spark, file, found)
    return found


def _add_file(spark: SparkSession, file: Path, found: dict[str, dict[str, Blocks]]) -> None:
    session: Any = spark
    hadoop, parquet = session._jvm.org.apache.hadoop.fs, session._jvm.org.apache.parquet.hadoop
    little = session._jvm.java.nio.ByteOrder.LITTLE_ENDIAN
    where = hadoop.Path(str(file))
    reader = parquet.ParquetFileReader.open(
        parquet.util.HadoopInputFile.fromPath(where, session._jsc.hadoopConfiguration())
    )
    try:
        groups = [_chunks(group) for group in reader.getFooter().getBlocks()]
        for column, levels in found.items():
            chunks = [group[column] for group in groups]
            of_chunks = [_of_chunk(chunk) for chunk in chunks]
            indexes = [reader.readColumnIndex(chunk) for chunk in chunks]
            of_pages = [page for index in indexes for page in _of_pages(little, index)]
            for level, ranges in zip(LEVELS, ([_union(of_chunks)], of_chunks, of_pages)):
                levels[level].total += len(ranges)
                levels[level].ranges += [r for r in ranges if r is not None]
    finally:
        reader.close()


def _chunks(group: Any) -> dict[str, Any]:
    return {chunk.getPath().toDotString(): chunk for chunk in group.getColumns()}


def _of_chunk(chunk: Any) -> Range | None:
    statistics = chunk.getStatistics()
    if not statistics.hasNonNullValue():
        return None
    return int(statistics.genericGetMin()), int(statistics.genericGetMax())


def _of_pages(order: Any, index: Any) -> Iterator[Range | None]:
    for only_nulls, low, high in zip(index.getNullPages(), index.getMinValues(), index.getMaxValues()):
        yield None if only_nulls else (low.order(order).getInt(0), high.order(order).getInt(0))


def _union(ranges: list[Range | None]) -> Range | None:
    known = [r for r in ranges if r is not None]
    return (min(r[0] for r in known), max(r[1] for r in known)) if known else None
