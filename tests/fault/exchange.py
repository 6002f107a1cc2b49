"""Kills runs while they exchange directories, beside an application that appends and two that count.

    python tests/fault/exchange.py --kills 100 --storage local     # and hdfs; half an hour each

The session here has our jar and counts all the time: it never sees fewer rows than were there at the start,
nor a row twice, though it may say that a query must be run again. The other application has no jar of ours:
it may see gaps while directories are away, and these are measured. At the end every row is there once, by
name and by path, and a vacuum leaves no file that the table does not know.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

import pyspark
import shared
import thrift_metastore
from drivers import Driver, Drivers, under_way

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame, SparkSession

# where a run halts, and how often it may come there in a table of four partitions
POINTS = ("prepared", "marked", "swapping", "state-moved", "done", "unmarked")
PART_POINTS = ("moved-old", "checked-old", "moved-new")
HALT_SECONDS = 120.0
RUNS = 2
COLUMNS = (
    "storage",
    "seed",
    "table",
    "kills",
    "runs committed",
    "appends",
    "counts with our jar",
    "counts without it",
    "gaps without a kill",
    "gaps with a kill",
    "where runs died",
)
# what the reader with our jar may say instead of a number
AGAIN = ("run the query again", "run it again")
GONE = ("FileNotFoundException", "File does not exist", "FILE_NOT_EXIST", "does not exist")


def crash_point(chance: random.Random, partitioned: bool) -> str:
    point = chance.choice((*POINTS, *PART_POINTS, *PART_POINTS))
    times = chance.randint(1, shared.PARTS) if partitioned and point in PART_POINTS else 1
    return f"{point}:halt:{times}"


def killed(drivers: Drivers, table: str, halts: bool, chance: random.Random) -> str:
    """Lets a driver die; where."""
    if halts:
        point = crash_point(chance, shared.TABLES[table][1])
        driver = drivers.next(f"{table} {point}")
        halted = driver.has_halted(HALT_SECONDS)
        driver.kill()
        return point.replace(":halt:1", "").replace(":halt:", " ") if halted else f"killed before {point}"
    driver = drivers.next(f"{table} -")
    driver.await_ended("measure", 1 + chance.randrange(RUNS))
    time.sleep(chance.uniform(0.0, last_commit(driver) + 0.1))
    driver.kill()
    return f"kill -9 in {under_way(driver.ended())}"


def last_commit(driver: Driver) -> float:
    """Its seconds; the first one is taken for slow."""
    return next((s for name, s in reversed(driver.ended()) if name == "commit"), 1.0)


class Plain(Driver):
    """exchange_plain.py, which writes and reads without our jar."""

    def end(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.tell("")
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


class Reader(threading.Thread):
    """Counts in a session with our jar, now with REFRESH TABLE and now without."""

    def __init__(self, spark: SparkSession, table: str) -> None:
        super().__init__(daemon=True)
        self.spark, self.table = spark, table
        self.stopped = threading.Event()
        self.wanted = shared.counted(spark, table)[2:]
        self.said: Counter[str] = Counter()
        self.wrong: list[str] = []

    def run(self) -> None:
        refresh = False
        while not self.stopped.is_set():
            refresh = not refresh
            begin = time.time()
            try:
                seen = shared.counted(self.spark, self.table, refresh)
                what = "right" if seen[2:] == self.wanted and seen[0] == seen[1] else f"saw {seen}"
            except Exception as error:
                what = kind(str(error))
            self.said[what if what in ("right", "run again", "gone") else "wrong"] += 1
            if what not in ("right", "run again", "gone"):
                self.wrong.append(f"{clock(begin)} to {clock(time.time())}, refresh {refresh}: {what}")
                print(f"WRONG: {self.wrong[-1]}", flush=True)


def clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at)) + f"{at % 1:.3f}"[1:]


def kind(error: str) -> str:
    if any(text in error for text in AGAIN):
        return "run again"
    return "gone" if any(text in error for text in GONE) else error


def reason(error: str) -> str:
    """The first line that names an exception, else the first one."""
    lines = error.splitlines()
    return next((line for line in lines if "Exception" in line), lines[0])[:150].replace("|", "/")


def gaps(counts: list[Any], wanted: list[int]) -> tuple[list[tuple[float, float]], Counter[str]]:
    """Spans in which the reader without our jar had too few rows or an error, and what it saw."""
    said: Counter[str] = Counter()
    spans: list[tuple[float, float]] = []
    began: float | None = None
    for begin, end, seen in counts:
        if isinstance(seen, str):
            what = "gone" if kind(seen) == "gone" else f"error ({reason(seen)})"
        elif seen[0] != seen[1] or seen[2] > wanted[0]:
            what = "rows twice"
        else:
            what = "right" if seen[2:] == wanted else "too few"
        said[what] += 1
        if what == "right":
            spans += [(began, begin)] if began is not None else []
            began = None
        elif began is None:
            began = begin
        last = end
    return spans + ([(began, last)] if began is not None else []), said


def span_text(spans: list[float]) -> str:
    if not spans:
        return "none"
    ms = sorted(1000 * s for s in spans)
    return f"{len(ms)}, median {statistics.median(ms):.0f} ms, longest {ms[-1]:.0f} ms"


def files_of(spark: SparkSession, folder: str) -> set[str]:
    """All files below a folder, hidden ones too."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    found = path.getFileSystem(spark._jsc.hadoopConfiguration()).listFiles(path, True)
    paths = set()
    while found.hasNext():
        paths.add(found.next().getPath().toUri().getPath())
    return paths


def ids(frame: DataFrame) -> list[int]:
    return [row[0] for row in frame.select("id").collect()]


def by_name(spark: SparkSession, table: str) -> list[int]:
    spark.sql(f"REFRESH TABLE db.{table}")
    return ids(spark.table(f"db.{table}"))


def numbered(firsts: Iterable[int]) -> set[int]:
    """The rows of appends."""
    return {i for first in firsts for i in range(first, first + shared.BATCH)}


def left(spark: SparkSession, table: str, where: str, apart: bool) -> list[str]:
    """Files at the table that it does not know. The claim of another machine holds for a minute."""
    known_ends = (".crc", "/_SUCCESS", *((".claim-zorder",) if apart else ()))
    parent = where.rsplit("/", 1)[0]
    top = parent.split(":", 1)[1] if parent.startswith("file:") else urlparse(parent).path
    known = {urlparse(f).path for f in spark.table(f"db.{table}").inputFiles()}
    ours = (f"{top}/{table}/", f"{top}/.{table}.", f"{top}/..{table}.")
    others = (f for f in files_of(spark, parent) if f.startswith(ours) and f not in known)
    return sorted(f for f in others if "/_zorder/" not in f and not f.endswith(known_ends))


def judged(
    spark: SparkSession, table: str, where: str, appends: list[Any], apart: bool
) -> tuple[list[str], int]:
    """When all is quiet: faults of rows and files, and how many rows of appends the vacuum brought."""
    start = set(range(shared.ROWS))
    sure = start | numbered(first for first, bad in appends if not bad)
    maybe = numbered(first for first, bad in appends if bad)
    found = {"by name": by_name(spark, table)}
    spark.sql(f"ZORDER VACUUM db.{table} RETAIN 0 HOURS").collect()
    found["by name after a vacuum"] = by_name(spark, table)
    spark.catalog.refreshByPath(where)
    found["by path"] = ids(spark.read.parquet(where))
    faults = []
    for how, rows in found.items():
        twice = sorted(i for i, n in Counter(rows).items() if n > 1)
        lost = sorted((start if how == "by name" else sure) - set(rows))
        strange = sorted(set(rows) - sure - maybe)
        if twice or lost or strange:
            faults.append(f"{how}: {twice[:20]} twice, {lost[:20]} lost, {strange[:20]} from nowhere")
    if others := left(spark, table, where, apart):
        faults.append(f"a vacuum left {len(others)} files that the table does not know: {others[:8]}")
    return faults, len(sure - set(found["by name"]))


def campaign(
    spark: SparkSession, drivers: Drivers, plain: Plain, base: str, table: str, kills: int, seed: int
) -> tuple[list[str], list[str]]:
    """The kills of one table: the end of its row in the result, and faults."""
    where = shared.create(spark, base, table)
    chance = random.Random(seed)
    reader = Reader(spark, table)
    plain.tell(f"{table} {shared.ROWS}")
    reader.start()
    died: list[tuple[float, str]] = []
    for i in range(kills):
        begin = time.monotonic()
        point = killed(drivers, table, halts=i % 2 == 0, chance=chance)
        died.append((time.time(), point))
        took = f"{time.monotonic() - begin:.1f} s"
        print(f"{table}: kill {i + 1} of {kills}, {clock(time.time())}: {point} ({took})", flush=True)
        time.sleep(chance.uniform(0.0, 2.0))
    time.sleep(2)
    reader.stopped.set()
    reader.join()
    seen = plain.end()
    faults, late = judged(spark, table, where, seen["appends"], drivers.apart)
    spans, said = gaps(seen["counts"], list(reader.wanted))
    failed = Counter(reason(bad) for _, bad in seen["appends"] if bad)

    # a JVM that halts is noticed a little later
    def is_of_kill(span: tuple[float, float]) -> bool:
        return any(span[0] - 0.5 <= at <= span[1] + 0.5 for at, _ in died)

    print(f"{table}: appends that failed: {dict(failed)}", flush=True)
    cells = [
        table,
        str(kills),
        str(spark.sql(f"SELECT * FROM zorder_history('db.{table}')").count()),
        f"{len(seen['appends'])}, {sum(failed.values())} failed, {late} rows late",
        listed(reader.said),
        listed(said),
        span_text([e - b for b, e in spans if not is_of_kill((b, e))]),
        span_text([e - b for b, e in spans if is_of_kill((b, e))]),
        listed(Counter(point for _, point in died)),
    ]
    return cells, [f"{table}: {fault}" for fault in reader.wrong + faults]


def listed(counter: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(counter.items()))


HEAD = f"""# Runs that die while directories are exchanged

`python tests/fault/exchange.py`, storage, kills and seed as below; Spark {pyspark.__version__}, HDFS
{shared.HADOOP}, a Hive metastore. Runs of {shared.ROWS} rows die at a crash point, or by kill -9 in their
commit; those that are `apart` as on another machine (`--apart`), where they count as dead when they have been
silent for ten seconds. An application without our jar appends {shared.BATCH} rows at a time and counts; a
session with our jar counts. A gap is the time from the begin of the first count that had too few rows, or an
error, to the begin of the first one that was right again. `gone` is a query that did not find a file.

| {" | ".join(COLUMNS)} |
|{" --- |" * len(COLUMNS)}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="over all tables together")
    parser.add_argument("--storage", choices=("local", "hdfs"), default="local")
    parser.add_argument("--apart", action="store_true", help="runs as if on another machine; needs unshare")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", nargs="+", default=list(shared.TABLES), choices=shared.TABLES)
    parser.add_argument(
        "--result", type=Path, help="a file for the table of results; its rows are added to those there"
    )
    arguments = parser.parse_args()
    # whoever ends this program ends all that it has started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-exchange-"))
    rows, faults = [], []
    with shared.storage(arguments.storage, folder) as base, thrift_metastore.running(folder) as metastore:
        drivers = Drivers(folder, "exchange_victim.py", str(folder), metastore, apart=arguments.apart)
        plain = Plain(("exchange_plain.py", str(folder), metastore), folder / "plain.log")
        try:
            spark = shared.session(folder, metastore, ours=True)
            plain.await_ready()
            each = -(-arguments.kills // len(arguments.tables))
            for n, table in enumerate(arguments.tables):
                cells, found = campaign(spark, drivers, plain, base, table, each, arguments.seed + n)
                where = f"{arguments.storage}{', apart' if arguments.apart else ''}"
                rows.append(f"| {where} | {arguments.seed + n} | {' | '.join(cells)} |\n")
                faults += found
                print(rows[-1] + "".join(f"FAULT {fault}\n" for fault in found), flush=True)
            spark.stop()
        finally:
            drivers.close()
            plain.kill()
    if arguments.result:
        before = arguments.result.read_text() if arguments.result.is_file() else HEAD
        arguments.result.write_text(before + "".join(rows))
    if faults:
        raise SystemExit(f"{len(faults)} faults; logs and the tables of the local disk are in {folder}.")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
