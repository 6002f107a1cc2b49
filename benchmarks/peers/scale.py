"""Many files and many partitions: a run that finds nothing to do, how many jobs a run needs, plans.

    python benchmarks/peers/scale.py                                   90,000 small files
    python benchmarks/peers/scale.py --partitions 0                    the first part alone
    python benchmarks/peers/scale.py --files 0                         the second part alone
    python benchmarks/peers/scale.py --files 0 --partitions 0 --plans 10000 1000    plans alone
    python benchmarks/peers/scale.py --files 100 --partitions 200 --plans 100 10    to see that it works

A table of 10,000 files is clustered into 10,000 files; the same statement again must write nothing, and
its time is what is measured. A table of 20,000 partitions is clustered, and its jobs are counted. Plans are
dry runs: of a first run on many files in many partitions, and of an append to a table of as many cells.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine
import peers
import result_file
import session
from pyspark.sql.functions import col

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMATS = ("parquet", "delta", "iceberg")
FILES = 10_000
PARTITIONS = 20_000
ROWS_PER_FILE = 100
STEPS = ("schema", "select", "footers", "sample", "fit", "forecast")


def rows(spark: SparkSession, count: int) -> DataFrame:
    return spark.range(0, count, 1, 8).selectExpr(
        "id", "cast(pmod(xxhash64(id, 1), 100000) as int) a", "pmod(xxhash64(id, 2), 1000000) b"
    )


def jobs(spark: SparkSession) -> int:
    """How many jobs the application has started."""
    return int(spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs())


def statement(spark: SparkSession, text: str) -> tuple[Any, float, int]:
    """The result row, seconds and jobs."""
    start, before = time.monotonic(), jobs(spark)
    row = spark.sql(text).head()
    return row, time.monotonic() - start, jobs(spark) - before


def created(spark: SparkSession, folder: Path, kind: str, table: DataFrame, name: str, *by: str) -> str:
    """The table in a format, and how statements name it."""
    if kind == "iceberg":
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        writer = table.writeTo(f"ice.db.{name}").option("fanout-enabled", "true")
        (writer.partitionedBy(*(col(c) for c in by)) if by else writer).create()
        return f"ice.db.{name}"
    path = folder / f"{kind}-{name}"
    table.write.format(kind).partitionBy(*by).save(str(path))
    return f"'{path}'"


def unchanged(spark: SparkSession, folder: Path, kind: str, files: int) -> str:
    """The second run on a table of many files."""
    table = created(spark, folder, kind, rows(spark, files * ROWS_PER_FILE), "files")
    run = f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = {files}, force = true)"
    first, took, many = statement(spark, run)
    print(f"{kind}: {first['metrics']['numFilesAdded']} files in {took:.0f} s, {many} jobs", flush=True)
    if first["status"] != "DONE":
        raise SystemExit(f"{kind}: {first['status']}: {first['reason']}")
    times = []
    for _ in range(3):
        again, took, many = statement(spark, run)
        if again["status"] != "NOTHING_TO_DO":
            raise SystemExit(f"{kind}: {again['status']}: {again['reason']}")
        times.append(took)
    print(f"{kind}: again {', '.join(f'{t:.2f}' for t in times)} s, {many} jobs", flush=True)
    each = " / ".join(f"{t:.2f}" for t in times)
    return f"| {kind} | {first['metrics']['numFilesAdded']:,} | 0 | {each} | {many} |"


def partitioned(spark: SparkSession, folder: Path, kind: str, partitions: int) -> str:
    """A run on a table of many partitions."""
    table = rows(spark, partitions * ROWS_PER_FILE).selectExpr("*", f"cast(id % {partitions} as int) p")
    name = created(spark, folder, kind, table.repartition("p"), "partitions", "p")
    row, took, many = statement(
        spark, f"ZORDER TABLE {name} BY (a, b) WITH (fileCount = 2, force = true, maxDuration = 1d)"
    )
    if row["status"] != "DONE":
        raise SystemExit(f"{kind}: {row['status']}: {row['reason']}")
    metrics = row["metrics"]
    print(f"{kind}: {metrics['partitionsOptimized']} partitions in {took:.0f} s, {many} jobs", flush=True)
    return (
        f"| {kind} | {metrics['partitionsOptimized']:,} | {metrics['numFilesAdded']:,} "
        f"| {metrics['numBatches']} | {many} | {took:.0f} |"
    )


def planned(spark: SparkSession, what: str, run: str) -> str:
    """The seconds of a dry run by its steps; what is left is the driver's between them."""
    row, took, _ = statement(spark, f"{run} DRY RUN")
    if row["status"] != "DRY_RUN":
        raise SystemExit(f"{what}: {row['status']}: {row['reason']}")
    steps = {name: ms / 1000 for name, ms in row["metrics"]["stepMs"].items()}
    print(f"{what}: {took:.1f} s, {steps}", flush=True)
    seconds = [f"{steps.get(name, 0.0):.2f}" for name in STEPS]
    return f"| {what} | {' | '.join(seconds)} | {took - sum(steps.values()):.2f} | {took:.2f} |"


def plans_section(spark: SparkSession, folder: Path, arguments: argparse.Namespace) -> list[str]:
    files, partitions = arguments.plans
    each = max(1, files // partitions)
    table = rows(spark, files * ROWS_PER_FILE)
    in_parts = table.selectExpr("*", f"cast(id % {partitions} as int) p").repartition(each)
    many = created(spark, folder, "parquet", in_parts, "plans", "p")
    options = f"BY (a, b) WITH (fileCount = {each}, force = true)"
    what = f"a first run on {files:,} files in {partitions:,} partitions"
    lines = [planned(spark, what, f"ZORDER TABLE {many} {options}")]
    one = created(spark, folder, "parquet", table, "cells")
    run = f"ZORDER TABLE {one} BY (a, b) WITH (fileCount = {files}, force = true, writeBudget = 1000)"
    first, took, _ = statement(spark, run)
    print(f"{first['metrics']['numFilesAdded']} files in {took:.0f} s", flush=True)
    more = table.selectExpr(f"id + {files * ROWS_PER_FILE} id", "a", "b")
    more.coalesce(1).write.mode("append").parquet(one.strip("'"))
    lines.append(planned(spark, f"an append that is merged into {files:,} cells", run))
    return [
        "",
        "Plans (dry runs), seconds by step; `between` is what the driver does outside of these:",
        "",
        f"| plan | {' | '.join(STEPS)} | between | all |",
        f"| --- | {' | '.join('---' for _ in STEPS)} | --- | --- |",
        *lines,
    ]


def files_section(spark: SparkSession, folder: Path, arguments: argparse.Namespace) -> list[str]:
    again = [unchanged(spark, folder, kind, arguments.files) for kind in arguments.formats]
    return [
        "",
        "The same statement again, three times:",
        "",
        "| format | files | files written | seconds | jobs |",
        "| --- | --- | --- | --- | --- |",
        *again,
    ]


def partitions_section(spark: SparkSession, folder: Path, arguments: argparse.Namespace) -> list[str]:
    many = [partitioned(spark, folder, kind, arguments.partitions) for kind in arguments.formats[:1]]
    return [
        "",
        "A first run:",
        "",
        "| format | partitions | files written | commits | jobs | seconds |",
        "| --- | --- | --- | --- | --- | --- |",
        *many,
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=FILES, help="0: leave that part out")
    parser.add_argument("--partitions", type=int, default=PARTITIONS, help="0: leave that part out")
    parser.add_argument(
        "--plans", type=int, nargs=2, metavar=("FILES", "PARTITIONS"), help="plans of so many"
    )
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=FORMATS)
    arguments = parser.parse_args()
    plans = " --plans {} {}".format(*arguments.plans) if arguments.plans else ""
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-scale-"))
    try:
        spark = session.session(folder, memory="4g")
        text = "\n".join(
            [
                "# Many files, many partitions",
                "",
                f"`python benchmarks/peers/scale.py --files {arguments.files} "
                f"--partitions {arguments.partitions}{plans}`, "
                f"{time.strftime('%Y-%m-%d')}, Spark {spark.version},",
                f"Delta {peers.DELTA}, Iceberg {peers.ICEBERG}; {ROWS_PER_FILE} rows in a file or partition.",
                *(files_section(spark, folder, arguments) if arguments.files else ()),
                *(partitions_section(spark, folder, arguments) if arguments.partitions else ()),
                *(plans_section(spark, folder, arguments) if arguments.plans else ()),
                "",
                machine.line(spark._jvm.System.getProperty("java.version")) + ".",
                "",
            ]
        )
        name = "scale" if arguments.files else "scale-partitions" if arguments.partitions else "scale-plans"
        size, least = {
            "scale": (arguments.files, FILES),
            "scale-partitions": (arguments.partitions, PARTITIONS),
            "scale-plans": (arguments.plans[0] if arguments.plans else 0, FILES),
        }[name]
        whole = size >= least
        result_file.show(text, name, keep=whole)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
