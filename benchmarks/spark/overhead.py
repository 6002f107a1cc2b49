"""Time of ZORDER TABLE as a multiple of repartition(n).write.parquet of the same table, in pairs.

    python benchmarks/spark/overhead.py                 store_sales at scale 1, 5 pairs
    python benchmarks/spark/overhead.py --rows 200000   a part of it, to see that it works

Prints each pair, the least, middle and greatest ratio, and the steps of the runs; writes them into
benchmarks/results. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import gc
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
import data
import demo
import machine
import result_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    # seconds of the run, seconds of the plain rewrite, milliseconds of the run's steps
    Pair = tuple[float, float, dict[str, int]]

STEPS = ("select", "footers", "sample", "fit", "forecast", "rewrite", "verify", "measure", "commit")


def plain(spark: SparkSession, source: Path, files: int) -> float:
    """Seconds of the floor: one scan, one shuffle, one write."""
    target = data.fresh("overhead-plain")
    start = time.monotonic()
    spark.read.parquet(str(source)).repartition(files).write.parquet(str(target))
    return time.monotonic() - start


def clustered(spark: SparkSession, source: Path, files: int) -> tuple[float, dict[str, int]]:
    """Seconds of a run on a fresh copy, and the milliseconds of its steps."""
    from spark_zorder import ZOrderTable

    table = data.fresh("overhead-zorder")
    shutil.copytree(source, table)
    run = ZOrderTable.forPath(spark, str(table)).optimize().option("fileCount", files)
    start = time.monotonic()
    row = run.executeZOrderBy(*demo.COLUMNS).collect()[0]
    took = time.monotonic() - start
    if row["status"] != "DONE":
        raise SystemExit(f"{row['status']}: {row['reason']}")
    return took, dict(row["metrics"]["stepMs"])


def pairs(spark: SparkSession, source: Path, files: int, count: int) -> list[Pair]:
    """Alternating measurements after a warm-up of each; which one goes first changes from pair to pair."""
    made = []
    for i in range(count + 1):
        # neither side pays for the garbage of the other
        gc.collect()
        spark._jvm.System.gc()
        if i % 2:
            took, steps = clustered(spark, source, files)
            floor = plain(spark, source, files)
        else:
            floor = plain(spark, source, files)
            took, steps = clustered(spark, source, files)
        name = f"pair {i}" if i else "warm-up"
        print(f"{name}: {took:.1f} s / {floor:.1f} s = {took / floor:.2f}", flush=True)
        if i:
            made.append((took, floor, steps))
    return made


def report(spark: SparkSession, source: Path, files: int, made: list[Pair]) -> str:
    """The result file."""
    import spark_zorder

    ratios = sorted(took / floor for took, floor, _ in made)
    middle = statistics.median(ratios)
    lines = [
        "# Time of a run against a plain rewrite",
        "",
        f"`benchmarks/spark/overhead.py`, {time.strftime('%Y-%m-%d')}. Seconds of `ZORDER TABLE ... BY "
        f"({', '.join(demo.COLUMNS)}) WITH (fileCount = {files})` on a fresh copy, divided by the seconds of",
        f"`repartition({files}).write.parquet` of the same table, in the same session, alternating, after a "
        "warm-up of each.",
        "",
        f"**Ratio: {ratios[0]:.2f} least, {middle:.2f} median, {ratios[-1]:.2f} greatest.**",
        "",
        "| pair | ZORDER TABLE, s | plain, s | ratio |",
        "| --- | --- | --- | --- |",
        *(f"| {i} | {t:.1f} | {f:.1f} | {t / f:.2f} |" for i, (t, f, _) in enumerate(made, 1)),
        "",
        "| step | median, ms |",
        "| --- | --- |",
        *(f"| {step} | {statistics.median(s[step] for _, _, s in made):.0f} |" for step in in_order(made)),
        "",
        f"- spark-zorder {spark_zorder.__version__}, Spark {spark.version}, master "
        f"{spark.sparkContext.master}, driver memory {spark.conf.get('spark.driver.memory')}",
        f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        f"- {spark.read.parquet(str(source)).count():,} rows, "
        f"{sum(f.stat().st_size for f in source.glob('*.parquet')) / 2**20:.0f} MiB of TPC-DS store_sales",
    ]
    return "\n".join(lines) + "\n"


def in_order(made: list[Pair]) -> list[str]:
    """The steps as they run; names that are new come last."""
    found = set(made[0][2])
    return [s for s in STEPS if s in found] + sorted(found - set(STEPS))


def some_rows(spark: SparkSession, rows: int) -> Path:
    """A small table of the first rows, for a trial."""
    target = data.fresh("overhead-source")
    first = spark.read.parquet(str(data.parquet_path(1))).limit(rows)
    first.repartition(4).write.parquet(str(target))
    return target


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--rows", type=int, help="a trial on so many rows; its result is printed, not kept")
    arguments = parser.parse_args()
    spark = demo.session()
    spark.conf.set("spark.zorder.progress.show", "false")
    demo.prepare(spark, 1)
    source = some_rows(spark, arguments.rows) if arguments.rows else data.parquet_path(1)
    text = report(spark, source, demo.FILES, pairs(spark, source, demo.FILES, arguments.pairs))
    result_file.show(text, "overhead", keep=not arguments.rows)
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
