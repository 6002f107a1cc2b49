"""The 22 queries of TPC-H with and without our index: none may be slower by it.

    python benchmarks/tpch/run.py              scale 0.3, 9 pairs of each query; a quarter of an hour
    python benchmarks/tpch/run.py --pairs 2    a trial; its result is not kept

The tables are clustered by us either way. A pair is the same query with the index and without, one after the
other; who begins changes. The interval is that of the median of the pairs' ratios, by the order of the ratios
(binomial, 95 % or a little more). A query counts as slower when the whole interval lies above 1.05.
"""

from __future__ import annotations

import argparse
import math
import re
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
import demo
import machine
import result_file
import tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SKIPPING = "spark.zorder.skipping.enabled"
SLOWER = 1.05
FASTER = 1.5


@dataclass(frozen=True)
class Pairs:
    """Seconds of one query, pair by pair."""

    without: list[float]
    with_index: list[float]

    @property
    def ratios(self) -> list[float]:
        """Time with the index / time without, smallest first."""
        return sorted(w / o for w, o in zip(self.with_index, self.without, strict=True))

    def interval(self) -> tuple[float, float]:
        """Of the median of the ratios: the narrowest pair of order statistics that covers 95 %, or all."""
        ratios, n = self.ratios, len(self.without)
        outside, k = 0.0, 0
        while k < n // 2:
            more = outside + 2 * math.comb(n, k) / 2**n
            if more > 0.05:
                break
            outside, k = more, k + 1
        k = max(k - 1, 0)
        return ratios[k], ratios[n - 1 - k]


def queries() -> dict[str, str]:
    """Name to text."""
    text = (Path(__file__).resolve().parent / "queries.sql").read_text()
    parts = re.split(r"^-- (q\d+)$", text, flags=re.MULTILINE)[1:]
    return {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}


def seconds(spark: SparkSession, text: str, index: bool) -> tuple[float, list[str]]:
    """Of one run, and its rows."""
    spark.conf.set(SKIPPING, str(index).lower())
    start = time.monotonic()
    rows = spark.sql(text).collect()
    return time.monotonic() - start, [str(row) for row in rows]


def pairs(spark: SparkSession, name: str, text: str, count: int) -> Pairs:
    """Two runs to warm up, whose answers must be equal, then the pairs."""
    _, expected = seconds(spark, text, index=False)
    _, found = seconds(spark, text, index=True)
    if found != expected:
        raise SystemExit(f"{name}: the answers differ: {expected[:3]}... and {found[:3]}...")
    times: dict[bool, list[float]] = {False: [], True: []}
    for i in range(count):
        for index in (False, True) if i % 2 else (True, False):
            times[index].append(seconds(spark, text, index)[0])
    return Pairs(times[False], times[True])


def main() -> int:
    """Measures, writes the result file; 1 where a query is slower."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=float, default=0.3)
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    whole = arguments == parser.parse_args([])
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-tpch-"))
    try:
        spark = demo.session()
        tables.clustered(spark, tables.generated(folder, arguments.scale), folder)
        found = {}
        for name, text in queries().items():
            found[name] = pairs(spark, name, text, arguments.pairs)
            print(f"{name}: {statistics.median(found[name].ratios):.2f} {found[name].interval()}", flush=True)
        slower = [name for name, of in found.items() if of.interval()[0] > SLOWER]
        faster = [name for name, of in found.items() if statistics.median(of.ratios) <= 1 / FASTER]
        rows = [
            f"| {name} | {statistics.median(of.without):.2f} | {statistics.median(of.with_index):.2f} "
            f"| {statistics.median(of.ratios):.2f} | {of.interval()[0]:.2f} to {of.interval()[1]:.2f} |"
            for name, of in found.items()
        ]
        by = "; ".join(
            f"{name} {files} files by {', '.join(columns)}"
            for name, (columns, files) in tables.CLUSTERED.items()
        )
        text = [
            "# TPC-H with and without the statistics index",
            "",
            f"`make bench-tpch`, {time.strftime('%Y-%m-%d')}. Scale {arguments.scale:g}, clustered by us:",
            f"{by}.",
            f"{arguments.pairs} pairs of each query; the interval is of the median of their ratios.",
            "",
            "| query | without, s | with, s | with / without | interval |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            f"Slower by more than {SLOWER:g} x (the whole interval): {', '.join(slower) or 'none'}. "
            f"Faster by {FASTER:g} x or more: {len(faster)} ({', '.join(faster) or 'none'}).",
            "",
            f"- Spark {spark.version}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        ]
        result_file.show("\n".join(text) + "\n", "tpch", keep=whole)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
