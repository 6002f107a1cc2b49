"""A large table on a small cluster: one executor of two cores and 1 GiB, a driver of 2 GiB.

    python benchmarks/peers/large.py                        1, 10 and 100 million rows
    python benchmarks/peers/large.py --rows 100000          to see that it works

Each table is written in random order and clustered by two columns, on plain Parquet and on Iceberg. Memory
must not decide: a row takes as long in a large table, no task fails, and the driver's heap does not grow with
the rows. Ends with 1 where a run is not DONE, a task fails, a row is lost, or a row takes more than 1.5 times
as long as in the table before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine
import peers
import pyspark
import result_file
import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = [1_000_000, 10_000_000, 100_000_000]
ROWS_OF_A_FILE = 2_000_000
SLOWER = 1.5
MEMORY_MB = 1024
FORMATS = ("parquet", "iceberg")


@dataclass(frozen=True)
class Run:
    """One run: what it took and what it used."""

    kind: str
    rows: int
    files: int
    seconds: float
    heap: int
    failed: int
    status: str
    kept: bool

    @property
    def rate(self) -> float:
        """Rows in a second."""
        return self.rows / self.seconds


def rows(spark: SparkSession, count: int) -> DataFrame:
    """Two columns to cluster by, in no order, and two more."""
    parts = max(2, count // ROWS_OF_A_FILE)
    return spark.range(0, count, 1, parts).selectExpr(
        "id",
        "cast(pmod(xxhash64(id, 1), 100000) as int) a",
        "pmod(xxhash64(id, 2), 1000000) b",
        "date_add(date'2020-01-01', cast(pmod(xxhash64(id, 3), 2000) as int)) d",
    )


def created(spark: SparkSession, folder: Path, kind: str, count: int) -> tuple[str, Any]:
    """The table as our statements name it, and how it is read."""
    if kind == "iceberg":
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        name = f"ice.db.t{count}"
        rows(spark, count).writeTo(name).option("distribution-mode", "none").create()
        return name, lambda: spark.table(name)
    path = folder / f"t{count}"
    rows(spark, count).write.parquet(str(path))
    return f"'{path}'", lambda: spark.read.parquet(str(path))


def sums(table: DataFrame) -> tuple[Any, ...]:
    """Of all rows, in any order."""
    return tuple(
        table.selectExpr("count(*)", "sum(id)", "sum(a)", "sum(b)", "sum(xxhash64(*) % 1000003)").head()
    )


def heap(spark: SparkSession) -> int:
    """The most bytes that the driver's heap has held since the last call."""
    pools = list(spark._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans())
    used = sum(int(p.getPeakUsage().getUsed()) for p in pools if str(p.getType()) == "Heap memory")
    for pool in pools:
        pool.resetPeakUsage()
    return used


def failures(spark: SparkSession) -> int:
    """Tasks that have failed since the application began."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    return sum(int(executors.apply(i).failedTasks()) for i in range(executors.size()))


def run(spark: SparkSession, folder: Path, kind: str, count: int) -> Run:
    """Makes a table and clusters it."""
    table, read = created(spark, folder, kind, count)
    expected = sums(read())
    files = max(2, count // ROWS_OF_A_FILE)
    heap(spark)
    failed = failures(spark)
    start = time.monotonic()
    row = spark.sql(f"ZORDER TABLE {table} FULL BY (a, b) WITH (fileCount = {files})").head()
    seconds = time.monotonic() - start
    made = Run(
        kind,
        count,
        files,
        seconds,
        heap(spark),
        failures(spark) - failed,
        row["status"],
        sums(read()) == expected,
    )
    if kind == "iceberg":
        spark.sql(f"DROP TABLE {table} PURGE")
    else:
        shutil.rmtree(folder / f"t{count}")
    return made


def wrong(runs: list[Run]) -> list[str]:
    """What must not be."""
    said = [
        f"{r.kind}, {r.rows:,} rows: {r.status}, {r.failed} failed tasks, rows kept: {r.kept}"
        for r in runs
        if r.status != "DONE" or r.failed or not r.kept
    ]
    for kind in FORMATS:
        own = [r for r in runs if r.kind == kind]
        said += [
            f"{kind}: {later.rate:,.0f} rows a second of {later.rows:,}, {before.rate:,.0f} before"
            for before, later in zip(own, own[1:])
            if later.rate * SLOWER < before.rate
        ]
    return said


def text(spark: SparkSession, runs: list[Run], failed: list[str]) -> str:
    """The result file."""
    table = [
        f"| {r.kind} | {r.rows:,} | {r.files} | {r.seconds:.0f} | {r.rate:,.0f} "
        f"| {r.heap / 2**20:,.0f} | {r.failed} |"
        for r in runs
    ]
    return (
        "\n".join(
            [
                "# A large table on a small cluster",
                "",
                f"`make bench-large`, {time.strftime('%Y-%m-%d')}. Four columns, clustered by two; one",
                f"executor with two cores and {MEMORY_MB} MiB, a driver with 2 GiB. Heap: the most that the",
                "driver's held during the run, garbage included.",
                "",
                "| format | rows | files | seconds | rows a second | driver's heap, MiB | failed tasks |",
                "| --- " * 7 + "|",
                *table,
                "",
                "Rows are the same before and after, by sums."
                if not failed
                else f"FAILED: {'; '.join(failed)}",
                "",
                f"Spark {spark.version}, Iceberg {peers.ICEBERG}, spark-zorder {session.VERSION}. "
                f"{machine.line(spark._jvm.System.getProperty('java.version'))}",
            ]
        )
        + "\n"
    )


def main() -> int:
    """All sizes of all formats."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="*", default=ROWS)
    given = parser.parse_args()
    # the workers of a small cluster start from there
    home = Path(pyspark.__file__).parent
    os.environ["SPARK_HOME"] = str(home)
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-large-"))
    try:
        classes = ":".join(str(jar) for jar in [session.JAR, *peers.jars()])
        spark = session.session(
            folder,
            memory="2g",
            spark__master=f"local-cluster[1,2,{MEMORY_MB}]",
            spark__executor__memory=f"{MEMORY_MB}m",
            spark__executor__extraClassPath=classes,
            spark__local__dir=str(folder / "local"),
        )
        runs = []
        for kind in FORMATS:
            for count in given.rows:
                runs.append(run(spark, folder, kind, count))
                print(runs[-1], flush=True)
        failed = wrong(runs)
        result_file.show(text(spark, runs, failed), "large", keep=given == parser.parse_args([]))
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(home / "work", ignore_errors=True)
    for sentence in failed:
        print(f"FAILED: {sentence}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
