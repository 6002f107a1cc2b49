"""Look-ups of single values: which values, what they answer, what they read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pages import LEVELS, Blocks, blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import SparkSession

LOOKUPS = 200

Values = dict[str, list[int]]
Answers = dict[str, dict[int, tuple[int, int]]]


def draw(spark: SparkSession, table: Path, columns: tuple[str, ...]) -> Values:
    """Values of rows drawn by a hash: frequent values are asked for as often as they occur."""
    return {column: _of_column(spark, table, column) for column in columns}


def _of_column(spark: SparkSession, table: Path, column: str) -> list[int]:
    rows = spark.read.parquet(str(table)).where(f"{column} is not null")
    order = f"xxhash64('{column}', ss_ticket_number, ss_item_sk)"
    drawn = rows.selectExpr(column, f"{order} as place").orderBy("place", column).limit(LOOKUPS)
    return [int(row[0]) for row in drawn.collect()]


def answers(spark: SparkSession, table: Path, values: Values) -> Answers:
    """Per look-up, the number of matching rows and a checksum of all their columns."""
    from pyspark.sql import functions as sf

    rows = spark.read.parquet(str(table))
    # a sum, because equal rows would cancel out in an exclusive or; 38 digits hold it
    checksum = f"sum(cast(xxhash64({', '.join(sorted(rows.columns))}) as decimal(20, 0)))"
    found: Answers = {}
    for column, wanted in values.items():
        matching = rows.where(f"{column} in ({', '.join(str(v) for v in sorted(set(wanted)))})")
        counted = matching.groupBy(column).agg(sf.expr("count(*)"), sf.expr(checksum)).collect()
        found[column] = {int(row[0]): (int(row[1]), int(row[2])) for row in counted}
    return found


def reads(spark: SparkSession, table: Path, values: Values) -> dict[str, dict[str, tuple[float, int]]]:
    """Per column and level, (mean number of blocks that a look-up reads, number of blocks)."""
    return reads_of(spark, sorted(table.glob("*.parquet")), values)


def reads_of(
    spark: SparkSession, files: Iterable[Path], values: Values
) -> dict[str, dict[str, tuple[float, int]]]:
    """The same of any files."""
    found: dict[str, dict[str, Blocks]] = blocks(spark, files, tuple(values))
    return {
        column: {
            level: (found[column][level].mean_read(wanted), found[column][level].total) for level in LEVELS
        }
        for column, wanted in values.items()
    }
