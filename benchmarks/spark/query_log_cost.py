"""Time of many short queries with a query log as a multiple of their time without one, in pairs.

    python benchmarks/spark/query_log_cost.py               9 pairs of 200 queries
    python benchmarks/spark/query_log_cost.py --pairs 1     to see that it works

The queries are look-ups on a small Parquet table, the kind that a log would delay most. Ends with 1 where
a logged query is missing. Prints each pair and writes the ratios into benchmarks/results.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
import data
import demo

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
QUERIES = 200


def table(spark: SparkSession) -> Path:
    """Four files of 1,000 rows: what a query costs is its own planning and one small job."""
    target = data.fresh("query-log-table")
    spark.range(0, 4000, 1, 4).selectExpr("id", "pmod(id * 7919, 4000) as a").write.parquet(str(target))
    return target


def queries(spark: SparkSession, source: Path, first: int) -> float:
    """Seconds of so many look-ups of different values, one after the other."""
    start = time.monotonic()
    for value in range(first, first + QUERIES):
        spark.sql(f"SELECT count(*) FROM parquet.`{source}` WHERE a = {value % 4000}").collect()
    return time.monotonic() - start


def logged(spark: SparkSession, source: Path, first: int, log: Path) -> float:
    """The same with a log; its start and stop, which write it, are part of the time."""
    from spark_zorder import query_log

    shutil.rmtree(log, ignore_errors=True)
    start = time.monotonic()
    query_log.start(spark, str(log), literals="keep")
    queries(spark, source, first)
    stopped = query_log.stop(spark).collect()[0]
    took = time.monotonic() - start
    if stopped["queries"] != QUERIES:
        raise SystemExit(f"{stopped['queries']} of {QUERIES} queries were logged.")
    return took


def pairs(spark: SparkSession, count: int) -> list[tuple[float, float]]:
    """Seconds with and without a log, after a warm-up of each; which goes first changes from pair to pair."""
    source, log = table(spark), data.fresh("query-log")
    made = []
    for i in range(count + 1):
        # no value twice: Spark keeps the code that it has compiled, which would favour the second side
        one, other = 2 * i * QUERIES, (2 * i + 1) * QUERIES
        if i % 2:
            took = logged(spark, source, one, log)
            plain = queries(spark, source, other)
        else:
            plain = queries(spark, source, one)
            took = logged(spark, source, other, log)
        name = f"pair {i}" if i else "warm-up"
        print(f"{name}: {took:.2f} s / {plain:.2f} s = {took / plain:.3f}", flush=True)
        if i:
            made.append((took, plain))
    return made


def report(spark: SparkSession, made: list[tuple[float, float]]) -> str:
    """The result file."""
    import spark_zorder

    ratios = sorted(took / plain for took, plain in made)
    middle = statistics.median(ratios)
    each = statistics.median(plain for _, plain in made) / QUERIES
    lines = [
        "# Cost of a query log",
        "",
        f"`benchmarks/spark/query_log_cost.py`, {time.strftime('%Y-%m-%d')}. Seconds of {QUERIES} look-ups "
        "on a table of 4,000 rows with a log",
        "(literals kept, its start and stop included), divided by the seconds without one, in the same",
        "session, alternating, after a warm-up of each. All queries of all pairs are in the log.",
        "",
        f"**Ratio: {ratios[0]:.3f} least, {middle:.3f} median, {ratios[-1]:.3f} greatest;** a query takes "
        f"{1000 * each:.0f} ms without a log.",
        "",
        "| pair | with a log, s | without, s | ratio |",
        "| --- | --- | --- | --- |",
        *(f"| {i} | {t:.2f} | {p:.2f} | {t / p:.3f} |" for i, (t, p) in enumerate(made, 1)),
        "",
        f"- spark-zorder {spark_zorder.__version__}, Spark {spark.version}, "
        f"Python {platform.python_version()}, master {spark.sparkContext.master}",
        f"- {os.cpu_count()} cores, {platform.machine()}; load average at the end {os.getloadavg()[0]:.1f}",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    spark = demo.session()
    text = report(spark, pairs(spark, arguments.pairs))
    print("\n" + text)
    if arguments.pairs > 1:
        target = TOP / f"benchmarks/results/{time.strftime('%Y-%m-%d')}-query-log.md"
        target.write_text(text)
        print(f"written: {target.relative_to(TOP)}")
    spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
