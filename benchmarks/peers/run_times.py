"""Time and CPU time of ZORDER TABLE as multiples of a plain rewrite of the same table in the same format.

    python benchmarks/peers/run_times.py                two tables, three formats, 5 pairs each; half an hour
    python benchmarks/peers/run_times.py --rows 200000 --pairs 1      a trial; its result is not kept

The plain rewrite is `repartition(n)` and a write of the format. It shuffles and writes every row as a run
does. By default Spark sorts the rows of each task by their hash first, so that a task that is tried again
deals them out alike; the same without that (`spark.sql.execution.sortBeforeRepartition`) is measured beside
it. One table is wide (TPC-DS store_sales at scale 1, by 2 of 23 columns), one narrow (8 million rows of 7
columns, by 4 of them).
"""

from __future__ import annotations

import argparse
import gc
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import clustered
import cpu
import data
import machine
import peers
import result_file
import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

FILES = 64
FORMATS = ("Parquet", "Delta", "Iceberg")
# wanted, by table and format
MOST = {
    ("store_sales", "Delta"): 1.2,
    ("store_sales", "Iceberg"): 1.1,
    ("narrow", "Parquet"): 1.15,
}


@dataclass(frozen=True)
class Table:
    """What is clustered, and by which columns."""

    name: str
    rows: DataFrame
    by: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Seconds and CPU seconds of a run and of two plain rewrites, and the milliseconds of the run's steps."""

    run: float
    run_cpu: float
    plain: float
    plain_cpu: float
    unsorted: float
    unsorted_cpu: float
    steps: dict[str, int]


def narrow(spark: SparkSession, folder: Path, rows: int) -> DataFrame:
    """Independent columns, each but the first by a hash of the row's number."""
    path = folder / "narrow"

    def drawn(seed: int, values: int) -> str:
        return f"pmod(xxhash64(id, {seed}), {values})"

    spark.range(0, rows, 1, 8).selectExpr(
        "id",
        f"{drawn(1, 1000000)} a",
        f"{drawn(2, 100000)} b",
        f"cast({drawn(3, 10000)} as int) c",
        f"{drawn(4, 1000000)} / 7.0D d",
        f"cast({drawn(5, 100)} as int) e",
        f"timestamp_seconds(1600000000 + {drawn(6, 50000000)}) t",
    ).write.parquet(str(path))
    return spark.read.parquet(str(path))


def write(table: Table, form: str, folder: Path, name: str, files: int | None = None) -> str:
    """The table in a format, repartitioned if `files` are given; what statements call it."""
    rows = table.rows.repartition(files) if files else table.rows
    path = folder / name
    if form == "Iceberg":
        rows.sparkSession.sql(f"DROP TABLE IF EXISTS ice.db.{name}")
        clustered.iceberg(rows.sparkSession, rows, name)
        return f"ice.db.{name}"
    shutil.rmtree(path, ignore_errors=True)
    rows.write.format(form.lower()).save(str(path))
    return f"'{path}'"


def timed(spark: SparkSession, work: Callable[[], None]) -> tuple[float, float]:
    """Seconds and CPU seconds of the JVM; neither side pays for the garbage of the other."""
    gc.collect()
    spark._jvm.System.gc()
    start, before = time.monotonic(), cpu.seconds(spark)
    work()
    return time.monotonic() - start, cpu.seconds(spark) - before


def pair(spark: SparkSession, table: Table, form: str, folder: Path, turn: int) -> Pair:
    """A run on a fresh table and the plain rewrites; which one goes first changes from pair to pair."""
    target = write(table, form, folder, "clustered")
    steps: dict[str, int] = {}

    def run() -> None:
        text = f"ZORDER TABLE {target} BY ({', '.join(table.by)}) WITH (fileCount = {FILES}, force = true)"
        row = spark.sql(text).head()
        assert row is not None
        if row["status"] != "DONE":
            raise SystemExit(f"{row['status']}: {row['reason']}")
        steps.update(row["metrics"]["stepMs"])

    def plain() -> None:
        write(table, form, folder, "plain", FILES)

    def unsorted() -> None:
        spark.conf.set("spark.sql.execution.sortBeforeRepartition", "false")
        plain()
        spark.conf.unset("spark.sql.execution.sortBeforeRepartition")

    works = [run, plain, unsorted]
    first = turn % len(works)
    times = {work: timed(spark, work) for work in works[first:] + works[:first]}
    return Pair(*times[run], *times[plain], *times[unsorted], steps)


def line(table: Table, form: str, made: list[Pair]) -> str:
    """A row of the result."""
    ratios = sorted(p.run / p.plain for p in made)
    most = MOST.get((table.name, form))
    steps = {s: statistics.median(p.steps.get(s, 0) for p in made) for s in made[0].steps}
    longest = sorted(steps, key=lambda s: -steps[s])[:6]
    cells = [
        table.name,
        form,
        f"{statistics.median(p.run for p in made):.1f}",
        f"{statistics.median(p.plain for p in made):.1f}",
        f"{statistics.median(p.unsorted for p in made):.1f}",
        f"**{statistics.median(ratios):.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f})",
        f"<= {most}" if most else "",
        f"{statistics.median(p.run / p.unsorted for p in made):.2f}",
        f"{statistics.median(p.run_cpu / p.plain_cpu for p in made):.2f}",
        ", ".join(f"{s} {steps[s] / 1000:.1f}" for s in longest),
    ]
    return f"| {' | '.join(cells)} |"


def report(spark: SparkSession, tables: list[Table], rows: list[str], pairs: int) -> str:
    """The result file."""
    counts = ", ".join(
        f"{t.name} {t.rows.count():,} rows by {len(t.by)} of {len(t.rows.columns)} columns" for t in tables
    )
    head = ["table", "format", "run, s", "plain, s", "unsorted, s", "ratio (least to greatest)", "wanted"]
    head += ["ratio to unsorted", "CPU ratio", "longest steps, s"]
    return "\n".join(
        [
            "# Time of a run against a plain rewrite of the same format",
            "",
            f"`benchmarks/peers/run_times.py`, {time.strftime('%Y-%m-%d')}. `ZORDER TABLE`, {FILES} files,",
            f"on a fresh table, beside `repartition({FILES})` and a write of the format in one session,",
            f"taking turns, {pairs} pairs after one to warm up; medians, seconds. CPU is that of the JVM.",
            "Unsorted: the same with `spark.sql.execution.sortBeforeRepartition = false`, by which a task",
            "that is tried again may deal its rows out in another way.",
            "",
            f"| {' | '.join(head)} |",
            "| --- " * len(head) + "|",
            *rows,
            "",
            f"- {counts}; Delta {peers.DELTA}, Iceberg {peers.ICEBERG}",
            f"- spark-zorder {session.VERSION}, Spark {spark.version}, {spark.sparkContext.master}, "
            f"driver memory {spark.conf.get('spark.driver.memory')}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
            "",
        ]
    )


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=8_000_000, help="of the narrow table; fewer: a trial")
    parser.add_argument("--only", help="of one table")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-run-times-"))
    spark = session.session(folder, memory="4g")
    spark.conf.set("spark.zorder.progress.show", "false")
    # all formats alike; INT96, which Spark writes by default, has no statistics
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    if not data.parquet_path(1).is_dir():
        data.fetch_generator()
        data.write_parquet(spark, 1)
    tables = [
        Table("store_sales", spark.read.parquet(str(data.parquet_path(1))), clustered.BY),
        Table("narrow", narrow(spark, folder, arguments.rows), ("a", "b", "c", "t")),
    ]
    tables = [t for t in tables if arguments.only in (None, t.name)]
    rows = []
    for table in tables:
        for form in FORMATS:
            made = [pair(spark, table, form, folder, turn) for turn in range(arguments.pairs + 1)][1:]
            rows.append(line(table, form, made))
            print(rows[-1], flush=True)
    text = report(spark, tables, rows, arguments.pairs)
    result_file.show(text, "run-times", keep=arguments.rows == 8_000_000 and not arguments.only)
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
