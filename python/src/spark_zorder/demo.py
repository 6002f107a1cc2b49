"""A small demonstration from the wheel alone: what look-ups read before and after ZORDER TABLE."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Callable, TypeVar

from . import _text
from ._table import ZOrderTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import Column, DataFrame, SparkSession

T = TypeVar("T")

ROWS = 300_000
FILES = 16
COLUMNS = ("customer", "product")
LOOKUPS = 40


def run(spark: SparkSession) -> int:
    """Generates a table in a temporary directory, clusters it, shows the same look-ups, removes it."""
    folder = tempfile.mkdtemp(prefix="spark-zorder-demo-")
    path = str(Path(folder) / "sales")
    try:
        _show(spark, path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def _show(spark: SparkSession, path: str) -> None:
    what = f"writing {ROWS:,} rows as an ordinary Parquet table of {FILES} files"
    with_time(what, lambda: generate(spark, path))
    values = {column: lookups(spark, path, column) for column in COLUMNS}
    before, answers = shares(spark, path, values), counts(spark, path, values)
    table = ZOrderTable.forPath(spark, path)
    statement = table.optimize().option("fileCount", FILES).option("minGain", 0)
    row = with_time(
        f"ZORDER TABLE ... BY ({', '.join(COLUMNS)})",
        lambda: statement.executeZOrderBy(*COLUMNS).collect()[0],
    )
    after = shares(spark, path, values)
    if counts(spark, path, values) != answers:
        raise RuntimeError("The look-ups answer differently after the run: please report this.")
    print(f"\nFiles that a point look-up must open, mean of {LOOKUPS} look-ups a column (same answers):\n")
    print(
        _text.grid(
            [
                {"look-up on": c, "before": before[c], "after": after[c], "times fewer": before[c] / after[c]}
                for c in COLUMNS
            ]
        )
    )
    print("\nThe result row of the run:\n")
    print(_text.result(row))


def generate(spark: SparkSession, path: str) -> None:
    """Two skewed columns that have nothing to do with the order of the rows; the same data every time."""
    spark.range(0, ROWS, 1, FILES).selectExpr(
        "cast(floor(20000 * pow(pmod(hash(id, 1), 1000003) / 1000003d, 3)) as int) as customer",
        "cast(floor(5000 * pow(pmod(hash(id, 2), 1000003) / 1000003d, 2)) as int) as product",
        "id as sale",
        "cast(pmod(hash(id, 3), 10000) / 100 as decimal(8, 2)) as price",
    ).write.parquet(path)


def lookups(spark: SparkSession, path: str, column: str) -> list[int]:
    """Values that occur, drawn evenly from the rows."""
    step = ROWS // LOOKUPS
    rows = spark.read.parquet(path).where(f"sale % {step} = 7").select(column).collect()
    return sorted(int(row[0]) for row in rows)


def shares(spark: SparkSession, path: str, values: dict[str, list[int]]) -> dict[str, float]:
    """Mean number of files whose range holds the value, counted from the data themselves."""
    ranges = [f"{f}({c}) as {f}_{c}" for c in values for f in ("min", "max")]
    files = spark.read.parquet(path).selectExpr("input_file_name() as file", *values).groupBy("file")
    rows = files.agg(*_aggregates(ranges)).collect()
    return {
        c: sum(1 for v in vs for r in rows if r[f"min_{c}"] <= v <= r[f"max_{c}"]) / len(vs)
        for c, vs in values.items()
    }


def counts(spark: SparkSession, path: str, values: dict[str, list[int]]) -> list[tuple[str, int, int]]:
    """The answers of the look-ups."""
    return [answer for c, vs in values.items() for answer in _answers(spark.read.parquet(path), c, vs)]


def _answers(df: DataFrame, column: str, values: list[int]) -> Iterator[tuple[str, int, int]]:
    wanted = ", ".join(str(v) for v in sorted(set(values)))
    rows = df.where(f"{column} in ({wanted})").groupBy(column).count().orderBy(column).collect()
    return ((column, int(row[0]), int(row[1])) for row in rows)


def _aggregates(texts: list[str]) -> list[Column]:
    from pyspark.sql import functions as sf

    return [sf.expr(text) for text in texts]


def with_time(what: str, action: Callable[[], T]) -> T:
    """Says what happens now, and afterwards how long it took."""
    print(f"{what} ...", flush=True)
    start = time.monotonic()
    done = action()
    print(f"    {time.monotonic() - start:.1f} s", flush=True)
    return done
