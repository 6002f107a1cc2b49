"""Somebody appends and somebody counts while a table is clustered again and again.

    python tests/fault/crowd.py --runs 20          # some minutes

At the end no row is lost or doubled, also after a vacuum. A reader of Delta or Iceberg never fails and never
sees fewer rows than were committed before it began; nor does one of Hudi see fewer. Of plain Parquet rows
may be seen late.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import tables
from applications import Application, Catalog, settings
from pyspark.sql import DataFrame, SparkSession

# in `applications`, the table of the catalog is appended to by a second application, whose cache is warm
FORMATS = ("catalog", "applications", "delta", "iceberg", "hudi")
# of plain Parquet rows may be seen late, and a file may vanish under a reader
LATE = ("catalog", "applications")
# a run stops where another writer is at work
BUSY = ("JOB_AT_WORK", "HUDI_WRITE_UNDER_WAY")
# several writers of Hudi need a lock
HUDI = {
    "hoodie.write.concurrency.mode": "optimistic_concurrency_control",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.InProcessLockProvider",
    "hoodie.clean.failed.writes.policy": "LAZY",
}


class Crowd:
    """A table in one format, and everybody who works on it."""

    def __init__(self, spark: SparkSession, folder: Path, kind: str, port: int) -> None:
        self.spark, self.folder, self.kind, self.port = spark, folder, kind, port
        self.other: Application | None = None
        self.committed = self.begun = tables.ROWS
        self.failures: list[str] = []
        self.counts = self.rejected = 0
        self.stop = threading.Event()

    @property
    def target(self) -> str:
        return "crowd" if self.kind in LATE else tables.target(self.folder, self.kind)

    def create(self) -> None:
        if self.kind in LATE:
            self.spark.sql("DROP TABLE IF EXISTS crowd")
            tables.rows(self.spark).write.format("parquet").saveAsTable("crowd")
        else:
            for key, value in HUDI.items() if self.kind == "hudi" else ():
                self.spark.conf.set(key, value)
            tables.create(self.spark, self.folder, self.kind)

    def read(self) -> DataFrame:
        if self.kind in LATE:
            return self.spark.table("crowd")
        return tables.read(self.spark, self.folder, self.kind)

    def append(self) -> None:
        """Ten rows every 200 ms."""
        while not self.stop.wait(0.2):
            first = self.begun
            self.begun += tables.BATCH
            try:
                if self.other:
                    self.other.append(first)
                else:
                    self.append_here(tables.batch(self.spark, first))
            except Exception:
                # a writer of Hudi may lose against a run, and says so; the same rows come again
                if self.kind != "hudi":
                    raise
                self.begun = first
                self.rejected += 1
            self.committed = self.begun

    def append_here(self, rows: DataFrame) -> None:
        if self.kind == "catalog":
            rows.write.insertInto("crowd")
        elif self.kind == "iceberg":
            rows.writeTo("ice.db.t").append()
        elif self.kind == "hudi":
            settings = {**tables.HUDI, **HUDI, "hoodie.datasource.write.operation": "bulk_insert"}
            rows.write.format("hudi").options(**settings).mode("append").save(str(self.folder / "hudi"))
        else:
            rows.write.format(self.kind).mode("append").save(str(self.folder / self.kind))

    def count(self) -> None:
        """Counts, and knows between which numbers the count must be."""
        while not self.stop.is_set():
            least = self.committed
            try:
                seen = self.read().count()
            except Exception as error:
                self.failures.append(str(error).splitlines()[0])
                continue
            self.counts += 1
            if seen > self.begun or (seen < least and self.kind not in LATE):
                self.failures.append(f"{seen} rows, and not {least} to {self.begun}")

    def run(self, runs: int) -> str:
        """The runs, and a line for the result."""
        self.create()
        self.other = Application(self.folder, self.port) if self.kind == "applications" else None
        others = [threading.Thread(target=self.append), threading.Thread(target=self.count)]
        for thread in others:
            thread.start()
        ended: dict[str, int] = {}
        for i in range(runs):
            columns = "a, b" if i % 2 else "b, a"
            options = "WITH (fileCount = 8, force = true)"
            try:
                statement = f"ZORDER TABLE {self.target} FULL BY ({columns}) {options}"
                row: Any = self.spark.sql(statement).head()
                status = row["status"]
            except Exception as error:
                said = str(error).splitlines()[0]
                busy = any(f"[ZORDER_CONFLICT.{name}]" in said for name in BUSY)
                status = "CONFLICT (a writer at work)" if busy else said
            ended[status] = ended.get(status, 0) + 1
            print(f"{self.kind}: run {i + 1}: {status}", flush=True)
        self.stop.set()
        for thread in others:
            thread.join()
        if self.other:
            self.other.close()
        self.spark.sql(f"ZORDER VACUUM {self.target} RETAIN 0 HOURS").collect()
        final = self.read().selectExpr("count(*)", "count(distinct id)").head()
        assert final is not None
        if tuple(final) != (self.begun, self.begun):
            raise SystemExit(f"{self.kind}: {tuple(final)} rows at the end, and not {self.begun}")
        if self.failures and self.kind not in LATE:
            raise SystemExit(f"{self.kind}: {len(self.failures)} failures of the reader: {self.failures[0]}")
        appended = (self.begun - tables.ROWS) // tables.BATCH
        runs_said = ", ".join(f"{n} {s}" for s, n in ended.items())
        if self.rejected:
            appended = f"{appended}, {self.rejected} rejected and said again"
        failed = f"{len(self.failures)} of {self.counts + len(self.failures)}"
        return f"| {self.kind} | {runs_said} | {appended} | {failed} | 0 | 0 |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--formats", nargs="+", default=list(FORMATS), choices=FORMATS)
    parser.add_argument("--result", type=Path, help="a file for the table of results")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-crowd-"))
    try:
        catalog = Catalog(folder)
        spark = tables.start(folder, **settings(folder, catalog.port))
        lines = [Crowd(spark, folder, k, catalog.port).run(arguments.runs) for k in arguments.formats]
        text = [
            "# Appends and counts during runs",
            "",
            f"`python tests/fault/crowd.py --runs {arguments.runs} --formats {' '.join(arguments.formats)}`,",
            f"{time.strftime('%Y-%m-%d')}, Spark {spark.version}: {tables.BATCH} rows",
            "are appended every 200 ms (on Hudi as fast as it can) and all are counted all the time, in the",
            "session that runs `ZORDER TABLE ... FULL`; in the row `applications`, in a second application",
            "that has cached where the table was before the first run.",
            "",
            "| table | runs | appends | failed counts | rows lost | rows doubled |",
            "| --- | --- | --- | --- | --- | --- |",
            *lines,
        ]
        print("\n".join(text))
        if arguments.result:
            arguments.result.write_text("\n".join(text) + "\n")
        spark.stop()
        catalog.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
