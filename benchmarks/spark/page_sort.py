"""CPU time of a run that cuts files by their pages, as a multiple of one that leaves rows on the curve.

    python benchmarks/spark/page_sort.py               5 pairs, in memory and with tasks that spill
    python benchmarks/spark/page_sort.py --pairs 1     a trial; its result is not kept

TPC-DS store_sales at scale 1 in 12 files of 240,000 rows. CPU is that of the tasks that write. Spills are
forced after so many rows, so that a task spills three times. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
import cpu
import data
import demo
import machine
import result_file

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

BY = "ss_customer_sk, ss_cdemo_sk"
FILES = 12
SPILL = "spark.shuffle.spill.numElementsForceSpillThreshold"
# rows between spills, and the greatest ratio that is wanted
CASES = {"in memory": (None, 1.1), "spilled": (70_000, 1.5)}
HEAD = ("curve, s", "pages, s", "ratio (least to greatest)", "wanted", "pages read, curve", "by pages")


def writing_cpu(context: Any, before: int) -> float:
    """CPU seconds of the tasks that wrote files, of all jobs since one."""
    context.listenerBus().waitUntilEmpty()
    store = context.statusStore()
    jobs = range(before + 1, cpu.last_job(context) + 1)
    stages = [store.lastStageAttempt(s) for job in jobs for s in cpu.stages(store.job(job))]
    return float(sum(s.executorCpuTime() for s in stages if s.outputBytes() > 0)) / 1e9


def run(spark: SparkSession, source: Path, pages: bool, every: int | None) -> tuple[float, Row]:
    """CPU seconds and the result of one run on a fresh copy."""
    table = data.fresh("page-sort")
    shutil.copytree(source, table)
    context = spark.sparkContext._jsc.sc()
    settings = context.conf()
    spark.conf.set("spark.zorder.pages.enabled", str(pages).lower())
    before = cpu.last_job(context)
    if every:
        settings.set(SPILL, str(every))
    row = spark.sql(f"ZORDER TABLE '{table}' BY ({BY}) WITH (fileCount = {FILES}, force = true)").collect()[0]
    if every:
        settings.remove(SPILL)
    took = writing_cpu(context, before)
    shutil.rmtree(table)
    return took, row


def pages_read(row: Row) -> float:
    """The mean share of pages that look-ups read."""
    shares = [column["pages"]["measured"] for column in row["columns"]]
    return float(sum(shares)) / len(shares)


def line(spark: SparkSession, source: Path, name: str, pairs: int) -> tuple[str, bool]:
    """The row of a case, and whether it is within its target."""
    every, most = CASES[name]
    made = []
    for turn in range(pairs + 1):
        order = (True, False) if turn % 2 else (False, True)
        taken = {pages: run(spark, source, pages, every) for pages in order}
        if turn:
            made.append(taken)
    ratios = sorted(m[True][0] / m[False][0] for m in made)
    middle = statistics.median(ratios)
    seconds = [statistics.median(m[pages][0] for m in made) for pages in (False, True)]
    read = [pages_read(made[-1][pages][1]) for pages in (False, True)]
    ratio = f"**{middle:.2f}** ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    cells = (name, *(f"{s:.1f}" for s in seconds), ratio, f"<= {most}", *(f"{r:.3f}" for r in read))
    text = f"| {' | '.join(cells)} |"
    print(text, flush=True)
    return text, middle <= most


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    spark = demo.session()
    spark.conf.set("spark.zorder.progress.show", "false")
    if not data.parquet_path(1).is_dir():
        data.fetch_generator()
        data.write_parquet(spark, 1)
    found = [line(spark, data.parquet_path(1), name, arguments.pairs) for name in CASES]
    text = "\n".join(
        [
            "# CPU time of files that are cut by their pages",
            "",
            f"`benchmarks/spark/page_sort.py`, {time.strftime('%Y-%m-%d')}. The tasks of `ZORDER TABLE` that",
            f"write store_sales at scale 1 in {FILES} files, with pages as leaves of a tree and with",
            f"`spark.zorder.pages.enabled = false`, taking turns in one session, {arguments.pairs} pairs",
            "after one to warm up; medians, CPU seconds. Spilled: a spill after every "
            f"{CASES['spilled'][0]:,} rows.",
            "",
            f"| tasks | {' | '.join(HEAD)} |",
            "| --- | --- | --- | --- | --- | --- | --- |",
            *(text for text, _ in found),
            "",
            f"- Spark {spark.version}, {spark.sparkContext.master}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
            "",
        ]
    )
    result_file.show(text, "page-sort", keep=arguments.pairs > 1)
    spark.stop()
    return 0 if all(within for _, within in found) else 1


if __name__ == "__main__":
    sys.exit(main())
