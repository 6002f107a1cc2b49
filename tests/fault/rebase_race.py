"""One application clusters a table again and again, another never stops to delete, update and merge its rows.

    python tests/fault/rebase_race.py --runs 10          # some minutes a table; on Spark 4.1 by its python

At the end the table has exactly the rows that the writer knows, as a multiset: none is lost, doubled, or
there again. The same race is run with what Delta and Iceberg have of their own. Runs that end as a conflict
are counted, and so are the writer's statements that fail.

Two applications that write a Delta table on the local disk are safe from each other but for the moment in
which a commit looks whether its number is taken: a rename that never overwrites is what HDFS has, and no
local disk.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import races
import tables
from drivers import Driver
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "benchmarks"))
import machine

# where delta-rs and pyiceberg are, if `make venv-readers` has been run
READERS = Path(__file__).resolve().parent.parent.parent / "target/venv/readers/bin/python"

SYSTEMS = ("ours", "theirs")
# seconds between two runs
BETWEEN = 1.5
# bytes of a file of the peers, so that they make about as many files
PEER_BYTES = 14_000
CONFLICTS = ("ZORDER_CONFLICT", "Concurrent", "ValidationException", "CommitFailedException")
COLUMNS = (
    *("table", "by", "writer rests", "runs", "seconds a run", "re-basing", "writer's commits"),
    *("and failures", "in whose time a run committed", "seconds a commit", "seconds a failure"),
    *("lost", "doubled", "there again", "another reader"),
)


def ours(table: str) -> str:
    """The table as our statements name it."""
    return table.replace("delta.`", "'").replace("`", "'")


def statement(table: str, system: str) -> str:
    """A run over the whole table."""
    if system == "ours":
        return f"ZORDER TABLE {ours(table)} FULL BY (a, b) WITH (fileCount = {races.FILES}, force = true)"
    if table.startswith("delta"):
        return f"OPTIMIZE {table} ZORDER BY (a, b)"
    options = f"map('rewrite-all', 'true', 'target-file-size-bytes', '{PEER_BYTES}')"
    return (
        f"CALL ice.system.rewrite_data_files(table => '{table.removeprefix('ice.')}', strategy => 'sort', "
        f"sort_order => 'zorder(a,b)', options => {options})"
    )


def peer(system: str, kind: str) -> str:
    own = "OPTIMIZE ZORDER BY" if kind.startswith("delta") else "rewrite_data_files"
    return "ZORDER TABLE" if system == "ours" else own


def by_another_reader(folder: Path, table: str, expected: Counter[tuple[int, ...]]) -> str:
    """What delta-rs or pyiceberg make of the table: `same`, or how many rows it has too few and too many."""
    if not READERS.is_file():
        return "-"
    place = Path(table.split("`")[1]) if table.startswith("delta") else folder / table.replace(".", "/")
    name, program = ("delta-rs" if table.startswith("delta") else "pyiceberg"), "read_by_others.py"
    command = [str(READERS), str(Path(__file__).with_name(program)), str(place), "id", "a", "b"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{name} cannot: {done.stderr.strip().splitlines()[-1]}"
    found = Counter(tuple(json.loads(line)) for line in done.stdout.splitlines())
    less, more = (sum(rows.values()) for rows in (expected - found, found - expected))
    return f"{name}: {'same' if less == more == 0 else f'{less} too few, {more} too many'}"


def commits(spark: SparkSession, table: str) -> list[float]:
    """When runs have committed, by the table's own history."""
    if table.startswith("delta"):
        history = spark.sql(f"DESCRIBE HISTORY {table}").where("operation = 'OPTIMIZE'").select("timestamp")
    else:
        history = spark.sql(f"SELECT committed_at FROM {table}.snapshots WHERE operation = 'replace'")
    return sorted(row[0].timestamp() for row in history.collect())


class Statements:
    """How the writer's statements ended, and what was committed in the time of those that failed."""

    def __init__(self, name: str, statements: list[tuple[str, float, float, str]], runs: list[float]) -> None:
        self.done = [end - begin for _, begin, end, how in statements if how == "committed"]
        failed = [s for s in statements if s[-1] != "committed"]
        self.failed = [end - begin for _, begin, end, _ in failed]
        self.why = Counter(how for *_, how in failed)
        self.met = 0
        for what, begin, end, how in failed:
            before = [f"{end - run:.1f} s" for run in runs if begin <= run <= end]
            self.met += bool(before)
            said = f"a run committed {' and '.join(before)} before its end" if before else "beside no commit"
            print(f"{name}: a {what} of {end - begin:.1f} s failed, {how}: {said}", flush=True)

    def cells(self) -> list[str]:
        why = ", ".join(f"{n} {how}" for how, n in sorted(self.why.items()))
        failures = f"{len(self.failed)} ({why})" if self.failed else "0"
        return [str(len(self.done)), failures, str(self.met), *map(mean, (self.done, self.failed))]


def mean(seconds: list[float]) -> str:
    return f"{sum(seconds) / len(seconds):.1f}" if seconds else "-"


class Outcomes:
    """How the runs ended."""

    def __init__(self) -> None:
        self.ended: Counter[str] = Counter()
        self.seconds = self.inside = self.rebasing = 0.0

    def run(self, spark: SparkSession, text: str) -> str:
        begin = time.monotonic()
        try:
            row: Any = spark.sql(text).head()
        except Exception as error:
            said = races.words(error)
            if not any(c in said for c in CONFLICTS):
                raise
            how = "CONFLICT"
        else:
            how = self.done(row.asDict(recursive=True) if row else {})
        self.ended[how] += 1
        self.seconds += time.monotonic() - begin
        return f"{how} ({time.monotonic() - begin:.1f} s)"

    def done(self, row: dict[str, Any]) -> str:
        steps = (row.get("metrics") or {}).get("stepMs") or {}
        self.rebasing += steps.get("rebase", 0)
        self.inside += sum(steps.values())
        return "re-based" if "Others removed or rewrote" in str(row.get("reason")) else "DONE"


def race(
    spark: SparkSession, writer: Driver, folder: Path, kind: str, system: str, arguments: argparse.Namespace
) -> tuple[list[str], list[str]]:
    """One race: the cells of its row in the result, and faults."""
    name = f"{kind.replace('-', '_')}_{system}_{arguments.seed}"
    table = races.create(spark, folder, name, kind)
    outcomes = Outcomes()
    writer.tell(f"{table} {arguments.seed}")
    time.sleep(BETWEEN)
    for i in range(arguments.runs):
        how = outcomes.run(spark, statement(table, system))
        print(f"{name}: run {i + 1} of {arguments.runs}: {how}", flush=True)
        time.sleep(BETWEEN)
    writer.tell("stop")
    assert writer.process.stdout is not None
    written = json.loads(Path(writer.process.stdout.readline().strip()).read_text())
    if written["broken"]:
        raise SystemExit(f"{name}: the writer broke: {written['broken'][0]}")
    statements = Statements(name, written["statements"], commits(spark, table))
    expected, found = Counter(map(tuple, written["rows"])), Counter(races.rows(spark, table))
    vacuumed = spark.sql(f"ZORDER VACUUM {ours(table)} RETAIN 0 HOURS").collect()
    if any(row["status"] == "SHARED_LOCATION" for row in vacuumed):
        raise SystemExit(f"{name}: the vacuum takes the table for another one's; it is in {folder}")
    if Counter(races.rows(spark, table)) != found:
        raise SystemExit(f"{name}: after a vacuum the table has other rows; it is in {folder}")
    lost, more = expected - found, found - expected
    again = {row for row in more if row in set(map(tuple, written["once"])) and row not in expected}
    doubled = sum(more.values()) - sum(more[row] for row in again)
    faults = [f"{name}: {what} {row}" for what, rows in (("lost", lost), ("more", more)) for row in rows]
    cells = [
        kind,
        peer(system, kind),
        f"{arguments.pause:g} s",
        ", ".join(f"{n} {how}" for how, n in sorted(outcomes.ended.items())),
        f"{outcomes.seconds / arguments.runs:.1f}",
        f"{outcomes.rebasing / outcomes.inside:.0%}" if outcomes.rebasing else "-",
        *statements.cells(),
        str(sum(lost.values())),
        str(doubled),
        str(sum(more[row] for row in again)),
        by_another_reader(folder, table, expected),
    ]
    return cells, faults + ([f"{name}: {cells[-1]}"] if "too" in cells[-1] else [])


def head(spark: SparkSession) -> str:
    java = spark._jvm.System.getProperty("java.version")
    return f"""# Races between runs and a writer that never stops

`make fault-test`, or `python tests/fault/rebase_race.py`: spark-zorder {tables.session.VERSION}, Spark
{spark.version}, Delta {tables.session.peers.DELTA}, Iceberg {tables.session.peers.ICEBERG}.
{machine.line(java)}.

One application rewrites a table of {2 * races.IDS:,} rows, two of each, into about {races.FILES} files by
(a, b), {BETWEEN:g} s apart: `ZORDER TABLE ... FULL`, Delta's `OPTIMIZE ... ZORDER BY`, or Iceberg's
`rewrite_data_files` by `zorder(a,b)` with `rewrite-all`. Another application, without our extension, deletes,
updates or merges 20 ids, rests, and goes on. Both share the cores. At the end the table is compared with the
rows that the writer knows, as a multiset. "Re-basing" is its share of the time of the runs that ended as DONE
or re-based.

Why the writer fails: a run that commits replaces files that a statement at work has read, so that Delta and
Iceberg refuse the statement. In how many failures a run committed between the statement's beginning and end
is counted by the table's history. A run of ours whose commit is refused is put on the table as it is and
commits; `OPTIMIZE` and `rewrite_data_files` give up then, and cost the writer nothing. So a writer fails at
most once for each run that commits. If its statements last longer than a run and the rest after it, hardly
one gets through; runs that are hours apart cost it one statement each.

| {" | ".join(COLUMNS)} |
|{" --- |" * len(COLUMNS)}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10, help="of each system on each table")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds that the writer rests")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", nargs="+", default=list(races.TABLES), choices=races.TABLES)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=SYSTEMS)
    parser.add_argument(
        "--result", type=Path, help="a file for the table of results; its rows are added to those there"
    )
    arguments = parser.parse_args()
    # whoever ends this program ends all that it has started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-races-"))
    faults: list[str] = []
    writer = Driver(("rebase_writer.py", str(folder), str(arguments.pause)), folder / "writer.log")
    try:
        spark = races.start(folder, ours=True)
        spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(PEER_BYTES))
        writer.await_ready()
        for kind in arguments.tables:
            for system in arguments.systems:
                cells, found = race(spark, writer, folder, kind, system, arguments)
                faults += found
                row = f"| {' | '.join(cells)} |\n"
                print(row, flush=True)
                if arguments.result:
                    there = arguments.result.is_file()
                    before = arguments.result.read_text() if there else head(spark)
                    arguments.result.write_text(before + row)
        spark.stop()
    finally:
        writer.kill()
    if faults:
        print("\n".join(faults[:40]))
        raise SystemExit(f"{len(faults)} rows are wrong; the tables are in {folder}.")
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
