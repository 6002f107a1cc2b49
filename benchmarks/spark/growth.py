"""A table that grows: what look-ups read after each append and run, beside a fresh FULL.

    python benchmarks/spark/growth.py                 30 appends of 3 %, random and in time order
    python benchmarks/spark/growth.py --appends 5     a trial

Rows are counted from Parquet footers by pyarrow, apart from the product, and printed beside the simulation of
benchmarks/growth.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "growth"))
import data
import demo
import machine
import policies
import result_file
import simulate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FILES = 64
ROWS = 100_000
SHARE = 0.03
LOOKUPS = 1000
COLUMNS = {
    "random": ("pmod(xxhash64(id, 1), 1000000)", "pmod(xxhash64(id, 2), 1000000)"),
    "time": ("id", "pmod(xxhash64(id, 2), 1000000)"),
}


@dataclass
class Footer:
    """A file, as pyarrow sees it: rows, bytes, and the range of each column."""

    name: str
    rows: int
    bytes: int
    ranges: list[tuple[int, int]]


@dataclass
class Step:
    """What was found after an append and its run."""

    read: float
    files: int
    rows: int
    rows_written: int
    bytes_written: int
    bytes_appended: int


def footers(table: Path) -> list[Footer]:
    """Of all data files."""
    found = []
    for path in sorted(table.glob("*.parquet")):
        meta = pq.read_metadata(path)
        groups = [meta.row_group(g) for g in range(meta.num_row_groups)]
        ranges = []
        for name in ("a", "b"):
            at = meta.schema.names.index(name)
            of = [g.column(at).statistics for g in groups]
            ranges.append((min(s.min for s in of), max(s.max for s in of)))
        found.append(Footer(path.name, meta.num_rows, path.stat().st_size, ranges))
    return found


def read_share(table: Path, found: list[Footer]) -> float:
    """Mean share of the rows that look-ups of the values of random rows read, over both columns."""
    rows = pq.ParquetDataset([str(table / f.name) for f in found]).read(columns=["a", "b"]).to_pydict()
    total = len(rows["a"])
    drawn = random.Random(19).sample(range(total), LOOKUPS)
    read = sum(
        f.rows
        for i, name in enumerate(("a", "b"))
        for value in (rows[name][d] for d in drawn)
        for f in found
        if f.ranges[i][0] <= value <= f.ranges[i][1]
    )
    return read / (2 * LOOKUPS * total)


def made(spark: SparkSession, order: str, start: int, count: int) -> DataFrame:
    """Rows `start` to `start + count`, in the order of their ids."""
    a, b = COLUMNS[order]
    payload = "sha2(cast(id as string), 256) AS payload"
    return spark.range(start, start + count, 1, 1).selectExpr("id", f"{a} AS a", f"{b} AS b", payload)


def run(spark: SparkSession, table: Path, *, full: bool = False) -> None:
    """A run with the columns of the table."""
    # a table that grew in time order may read less than a FULL would leave it
    force = ", force = true" if full else ""
    words = f"ZORDER TABLE '{table}' {'FULL ' if full else ''}BY (a, b) WITH (fileCount = {FILES}{force})"
    row = spark.sql(words).collect()[0]
    print(f"   {row['reason']}", flush=True)
    if row["status"] != "DONE":
        raise SystemExit(f"{row['status']}: {row['reason']}")


def fresh_full(spark: SparkSession, table: Path) -> float:
    """What look-ups read of a copy of the table that is clustered anew."""
    copy = data.fresh("growth-full")
    copy.mkdir(parents=True)
    for f in footers(table):
        shutil.copy(table / f.name, copy / f.name)
    run(spark, copy, full=True)
    return read_share(copy, footers(copy))


def grown(spark: SparkSession, order: str, appends: int) -> tuple[list[Step], dict[int, float]]:
    """Each step, and what look-ups read of a fresh FULL after some of them."""
    table = data.fresh(f"growth-{order}")
    made(spark, order, 0, ROWS).repartition(4).write.parquet(str(table))
    run(spark, table, full=True)
    steps: list[Step] = []
    fulls = {0: read_share(table, footers(table))}
    new = round(ROWS * SHARE)
    for i in range(1, appends + 1):
        print(f"== {order}, append {i}", flush=True)
        before = {f.name for f in footers(table)}
        made(spark, order, ROWS + (i - 1) * new, new).coalesce(1).write.mode("append").parquet(str(table))
        appended = [f for f in footers(table) if f.name not in before]
        run(spark, table)
        now = footers(table)
        written = [f for f in now if f.name not in before]
        if sum(f.rows for f in now) != ROWS + i * new:
            raise SystemExit(f"{sum(f.rows for f in now)} rows instead of {ROWS + i * new}")
        steps.append(
            Step(
                read_share(table, now),
                len(now),
                sum(f.rows for f in now),
                sum(f.rows for f in written),
                sum(f.bytes for f in written),
                sum(f.bytes for f in appended),
            )
        )
        if i % 10 == 0 or i == appends:
            fulls[i] = fresh_full(spark, table)
    return steps, fulls


def full_after(fulls: dict[int, float], i: int) -> float:
    """What look-ups read of a fresh FULL after append `i`, between those that were measured."""
    low, high = max(k for k in fulls if k <= i), min(k for k in fulls if k >= i)
    return fulls[low] + (fulls[high] - fulls[low]) * (i - low) / max(1, high - low)


def section(order: str, steps: list[Step], fulls: dict[int, float]) -> list[str]:
    """The part of the result file about one order of appends."""
    ratios = [s.read / full_after(fulls, i) for i, s in enumerate(steps, 1)]
    simulated = policies.outcome(simulate.CHOSEN, order, FILES, SHARE, len(steps))
    appended = len(steps) * round(ROWS * SHARE)
    rows_written = sum(s.rows_written for s in steps) / appended
    bytes_written = sum(s.bytes_written for s in steps) / sum(s.bytes_appended for s in steps)
    files = max(s.files for s in steps) / FILES
    return [
        f"## Appends: {'in time order' if order == 'time' else order}",
        "",
        "| | worst | mean | rows written per row appended | bytes per byte | files beside FULL |",
        "| --- | --- | --- | --- | --- | --- |",
        f"| measured | {max(ratios):.2f} | {sum(ratios) / len(ratios):.2f} | {rows_written:.2f} | "
        f"{bytes_written:.2f} | {files:.2f} |",
        f"| simulated | {simulated.worst:.2f} | {simulated.mean:.2f} | {simulated.written:.2f} | | "
        f"{simulated.files:.2f} |",
        "",
        "| append | look-ups beside FULL | simulated | files | rows written |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {i} | {ratio:.2f} | {expected:.2f} | {s.files} | {s.rows_written:,} |"
            for i, (s, ratio, expected) in enumerate(zip(steps, ratios, simulated.each, strict=True), 1)
        ),
        "",
    ]


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--appends", type=int, default=30, help="fewer make a trial, which is not kept")
    arguments = parser.parse_args()
    spark = demo.session()
    spark.conf.set("spark.zorder.progress.show", "false")
    lines = [
        "# Growth of a table, measured",
        "",
        f"`benchmarks/spark/growth.py`, {time.strftime('%Y-%m-%d')}. {ROWS:,} rows of plain Parquet in "
        f"{FILES} files, then appends of {SHARE:.0%} of them, a run after each. Unit:",
        f"rows in the files that {LOOKUPS:,} look-ups on each column read, beside those of a fresh `FULL` "
        "(run after every tenth append, between these by a",
        "straight line), counted from footers by pyarrow. Written: files that were not there before the run.",
        "",
    ]
    for order in policies.ORDERS:
        lines += section(order, *grown(spark, order, arguments.appends))
    lines.append(f"- {machine.line(spark._jvm.System.getProperty('java.version'))}")
    result_file.show("\n".join(lines) + "\n", "growth", keep=arguments.appends == 30)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
