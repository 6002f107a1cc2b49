"""Tables that grow: what rounds of writing and clustering cost, and what look-ups read after each of them.

    python benchmarks/peers/growing.py                200 rounds, all systems: hours; goes on where it ended
    python benchmarks/peers/growing.py --rounds 32 --only full     a part; a result is kept from 32 rounds on
    python benchmarks/peers/growing.py --times              writes and clusters only: nothing is counted

A table of five columns is clustered by two of them, `day` and `category`. Each round writes 50,000 rows,
clusters the table as its system does, and looks three values up. `time` appends in the order of days, with
a new category every five rounds. `merge` is the same by MERGE, in which every tenth row updates one of the
round before, and every 30th round brings rows of another year. `full` appends rows of all days and
categories. Files have 1 MB.

Counted by Spark's own reader, without our rules: each file's rows and its least and greatest day and
category. Bytes written are those of the files that clustering adds, by the log of the format.

The systems take turns, round by round, so that whatever else the machine does meets all of them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine
import peers
import result_file
import session
from read_shares import FileBox, read_shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

ROWS = 50_000
FILE_BYTES = 1_000_000
DAYS = 730
CATEGORIES = 40
FRESH_EVERY = 8
BY = "day, category"
SIZE = f"targetFileSize = '{FILE_BYTES}'"
COLUMNS = "id BIGINT, category INT, x DOUBLE, y DOUBLE, day DATE"
WAYS = ("time", "merge", "full")
# name of the system, and the ways of writing that it is measured with
SYSTEMS = {
    "ours, Delta": WAYS,
    "ours, liquid Delta": WAYS,
    "ours, Iceberg": WAYS,
    "ours, Iceberg, writeBudget 8": ("time", "full"),
    "ours, Iceberg, writeBudget 10": ("full",),
    "Delta liquid": WAYS,
    "Delta ZORDER BY": ("full",),
    "Iceberg zorder": ("full",),
}


@dataclass(frozen=True)
class Table:
    """A table of one system, written in one way."""

    spark: SparkSession
    system: str
    way: str
    folder: Path

    @property
    def iceberg(self) -> bool:
        return "Iceberg" in self.system

    @property
    def ident(self) -> str:
        return f"{self.system} {self.way}".replace(",", "").replace(" ", "_")

    @property
    def sql(self) -> str:
        return f"ice.db.{self.ident}" if self.iceberg else f"delta.`{self.folder / self.ident}`"

    def create(self) -> None:
        if self.iceberg:
            self.spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
            self.spark.sql(f"CREATE TABLE {self.sql} ({COLUMNS}) USING iceberg")
        else:
            liquid = f"CLUSTER BY ({BY})" if "liquid" in self.system else ""
            self.spark.sql(f"CREATE TABLE {self.sql} ({COLUMNS}) USING delta {liquid}")

    def write(self, number: int) -> None:
        rows = rows_of(self.spark, self.way, number)
        if self.way == "merge" and number > 1:
            rows.createOrReplaceTempView("rows_of_round")
            self.spark.sql(
                f"MERGE INTO {self.sql} t USING rows_of_round s ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
            )
        else:
            rows.createOrReplaceTempView("rows_of_round")
            self.spark.sql(f"INSERT INTO {self.sql} SELECT * FROM rows_of_round")

    def cluster(self) -> None:
        if self.system.startswith("ours"):
            budget = self.system.partition("writeBudget ")[2]
            more = f", writeBudget = {budget}" if budget else ""
            self.spark.sql(f"ZORDER TABLE {self.sql} BY ({BY}) WITH ({SIZE}{more})").collect()
        elif self.iceberg:
            options = f"map('rewrite-all', 'true', 'target-file-size-bytes', '{FILE_BYTES}')"
            self.spark.sql(
                f"CALL ice.system.rewrite_data_files(table => 'db.{self.ident}', strategy => 'sort', "
                f"sort_order => 'zorder({BY})', options => {options})"
            ).collect()
        else:
            order = "" if "liquid" in self.system else f" ZORDER BY ({BY})"
            self.spark.sql(f"OPTIMIZE {self.sql}{order}").collect()

    def commits(self) -> int:
        if self.iceberg:
            return self.spark.table(f"{self.sql}.snapshots").count()
        return len(list((self.folder / self.ident / "_delta_log").glob("*.json")))

    def bytes_added(self, since: int) -> int:
        """Bytes of the files that were added after so many commits."""
        if self.iceberg:
            found = self.spark.sql(
                f"SELECT summary['added-files-size'] FROM {self.sql}.snapshots ORDER BY committed_at"
            ).collect()
            return sum(int(row[0] or 0) for row in found[since:])
        added = 0
        for log in sorted((self.folder / self.ident / "_delta_log").glob("*.json"))[since:]:
            actions = map(json.loads, log.read_text().splitlines())
            added += sum(action["add"]["size"] for action in actions if "add" in action)
        return added


def rows_of(spark: SparkSession, way: str, number: int) -> DataFrame:
    """The rows of a round; the same in every run."""
    first = (number - 1) * ROWS
    ids = spark.range(first, first + ROWS, 1, 2)
    year = -365 if way == "merge" and number % 30 == 0 else 0
    if way == "full":
        day, category = f"pmod(xxhash64(id, 1), {DAYS})", f"pmod(xxhash64(id, 2), {CATEGORIES})"
    else:
        # a round brings the days of one week, and the categories that are there by now
        day = f"{365 + year} + {number} * 2 + pmod(xxhash64(id, 1), 7)"
        category = f"pmod(xxhash64(id, 2), {8 + number // 5})"
    # updates of rows from all rounds would make MERGE itself write each file again, every time
    late = way == "merge" and number > 1
    known = f"IF(id % 10 = 0, {first} - 1 - pmod(xxhash64(id, 5), {ROWS}), id)" if late else "id"
    return ids.selectExpr(
        f"CAST({known} AS BIGINT) id",
        f"CAST({category} AS INT) category",
        "xxhash64(id, 3) / 1e18 x",
        "xxhash64(id, 4) / 1e18 y",
        f"date_add(date'2024-01-01', CAST({day} AS INT)) day",
    ).dropDuplicates(["id"])


def shares(table: Table) -> dict[str, float]:
    """Rows, files, and the shares of rows in files that may have a row's day, category, both."""
    sql = table.spark.sql
    # Spark answers from footers where it can: the rows are to be read
    table.spark.conf.set("spark.zorder.skipping.enabled", "false")
    rows = "datediff(day, date'2022-01-01') d, category c, input_file_name() f"
    sql(f"SELECT {rows} FROM {table.sql}").createOrReplaceTempView("rows_of_table")
    files = sql("SELECT min(d), max(d), min(c), max(c), count(*) FROM rows_of_table GROUP BY f").collect()
    cells = sql("SELECT d, c, count(*) FROM rows_of_table GROUP BY d, c").collect()
    table.spark.conf.unset("spark.zorder.skipping.enabled")
    boxes = [FileBox(*r) for r in files]
    read = read_shares(boxes, [tuple(r) for r in cells])
    return {"rows": sum(box.rows for box in boxes), "files": len(boxes)} | read


def seconds(work: Any) -> float:
    start = time.monotonic()
    work()
    return time.monotonic() - start


def looked_up(table: Table, number: int) -> float:
    """Milliseconds of three look-ups: a day, a category, and both."""
    row = rows_of(table.spark, table.way, number).select("day", "category").head()
    assert row is not None
    filters = (f"day = '{row[0]}'", f"category = {row[1]}", f"day = '{row[0]}' AND category = {row[1]}")
    ask = [f"SELECT count(*), sum(x) FROM {table.sql} WHERE {condition}" for condition in filters]
    return 1000 * seconds(lambda: [table.spark.sql(query).collect() for query in ask])


def one_round(table: Table, number: int) -> dict[str, Any]:
    """Writes and clusters."""
    before = table.commits()
    table.write(number)
    written = table.commits()
    came = table.bytes_added(before)
    took = seconds(table.cluster)
    return {"round": number, "came": came, "moved": table.bytes_added(written), "s": took}


def counted(table: Table, number: int, rounds: int) -> dict[str, Any]:
    """Looks up, and counts; beside a fresh copy in some rounds."""
    figures: dict[str, Any] = {"ms": looked_up(table, number), **shares(table)}
    if number % FRESH_EVERY == 0 or number == rounds:
        figures["fresh"] = fresh(table)
    return figures


def fresh(table: Table) -> dict[str, float]:
    """What look-ups read of a copy of the table as it is now, in its format, clustered by us at once."""
    system = f"fresh {'Iceberg' if table.iceberg else 'Delta'}"
    copy = replace(table, system=system, way=f"{table.way} {time.time_ns()}")
    copy.create()
    table.spark.sql(f"INSERT INTO {copy.sql} SELECT * FROM {table.sql}")
    table.spark.sql(f"ZORDER TABLE {copy.sql} BY ({BY}) WITH ({SIZE})").collect()
    found = shares(copy)
    if copy.iceberg:
        table.spark.sql(f"DROP TABLE {copy.sql} PURGE")
    else:
        shutil.rmtree(copy.folder / copy.ident)
    return found


def measured(tables: list[Table], rounds: int, times: bool) -> list[list[dict[str, Any]]]:
    """The figures of each table's rounds; those of an earlier run are read, and the next ones are added."""
    kept = [table.folder / f"{table.ident}.jsonl" for table in tables]
    found = [
        [json.loads(text) for text in file.read_text().splitlines()] if file.is_file() else []
        for file in kept
    ]
    for table, figures in zip(tables, found, strict=True):
        if not figures:
            table.create()
    for number in range(1, rounds + 1):
        for table, file, figures in zip(tables, kept, found, strict=True):
            if number <= len(figures):
                continue
            figures.append(one_round(table, number) | ({} if times else counted(table, number, rounds)))
            with file.open("a") as out:
                out.write(json.dumps(figures[-1]) + "\n")
            if number % FRESH_EVERY == 0:
                print(f"{table.system}, {table.way}: round {number}, {figures[-1]['s']:.1f} s", flush=True)
    return [figures[:rounds] for figures in found]


def times_of(found: list[dict[str, Any]]) -> list[str]:
    """Bytes that clustering writes for each byte that came; seconds in all, of round 20, of the last."""
    # a MERGE writes files of older rows again: what came are the bytes of a round's rows
    written = sum(f["moved"] for f in found) / (found[0]["came"] * len(found))

    def at(number: int) -> float:
        """The median of the five rounds up to one."""
        upto = min(number, len(found))
        return statistics.median(f["s"] for f in found[max(0, upto - 5) : upto])

    return [f"{written:.1f}", f"{sum(f['s'] for f in found):.0f}", f"{at(20):.1f}", f"{at(len(found)):.1f}"]


def counts_of(found: list[dict[str, Any]]) -> list[str]:
    """Shares as means over the rounds after the eighth, beside fresh copies, files, and look-ups."""
    settled = found[FRESH_EVERY:] or found
    worse = [f["both"] / f["fresh"]["both"] for f in found if "fresh" in f]
    cells = [f"{statistics.mean(f[key] for f in settled):.3f}" for key in ("day", "category", "both")]
    cells += [f"{statistics.mean(worse):.2f}, {max(worse):.2f}"]
    return [*cells, str(found[-1]["files"]), f"{statistics.median(f['ms'] for f in settled):.0f}"]


def page(
    results: dict[str, list[tuple[str, list[dict[str, Any]]]]],
    command: str,
    rounds: int,
    times: bool,
    foot: str,
) -> Iterator[str]:
    """The result file."""
    yield "# Tables that grow: rounds of writing and clustering"
    yield ""
    yield f"`{command}`, {time.strftime('%Y-%m-%d')}. {rounds} rounds of"
    yield f"{ROWS:,} rows, files of {FILE_BYTES // 1_000_000} MB, clustered by {BY}. The systems take turns."
    yield "Bytes: written by clustering for each byte that came. Times: of clustering alone; of a round, the"
    yield "median of the five up to it."
    head = f"| system | bytes a byte | clustering, s | round 20, s | round {rounds}, s |"
    if not times:
        yield "Shares of rows in files whose range has the value, means over the rows and over the rounds"
        yield "after the eighth. *Beside fresh*: by both columns, beside a copy in the same format that we"
        yield f"cluster at once, every {FRESH_EVERY}th round: mean, worst. Look-ups: three, as a user asks"
        yield "them, medians."
        head += " day | category | both | beside fresh | files | look-ups, ms |"
    for way, lines in results.items():
        yield ""
        yield f"## {way}"
        yield ""
        yield head
        yield "| --- " * (head.count("|") - 1) + "|"
        for system, found in lines:
            cells = times_of(found) + ([] if times else counts_of(found))
            yield f"| {system} | " + " | ".join(cells) + " |"
    yield ""
    yield foot


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", choices=WAYS, action="append", help="a way of writing")
    parser.add_argument("--system", choices=SYSTEMS, action="append")
    parser.add_argument("--times", action="store_true", help="neither look-ups nor counts between rounds")
    parser.add_argument("--folder", type=Path, default=session.TOP / "target/rounds")
    arguments = parser.parse_args()
    # tables whose rounds are not counted are tables of their own
    folder = arguments.folder / "times" if arguments.times else arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    spark = session.session(
        folder,
        memory="3g",
        spark__databricks__delta__optimize__maxFileSize=str(FILE_BYTES),
        spark__databricks__delta__optimize__minFileSize=str(FILE_BYTES),
        spark__sql__shuffle__partitions="4",
        spark__zorder__progress__show="false",
    )
    tables = [
        Table(spark, system, way, folder)
        for way in arguments.only or WAYS
        for system, ways in SYSTEMS.items()
        if way in ways and system in (arguments.system or SYSTEMS)
    ]
    results: dict[str, list[tuple[str, list[dict[str, Any]]]]] = defaultdict(list)
    for table, found in zip(tables, measured(tables, arguments.rounds, arguments.times), strict=True):
        results[table.way].append((table.system, found))
    java = spark.sparkContext._jvm.System.getProperty("java.version")
    versions = f"Spark {spark.version}, Delta {peers.DELTA}, Iceberg {peers.ICEBERG}, "
    versions += f"spark-zorder {session.VERSION}. "
    asked = ["--rounds", str(arguments.rounds)] + (["--times"] if arguments.times else [])
    for option, chosen in (("--only", arguments.only), ("--system", arguments.system)):
        asked += [word for value in chosen or () for word in (option, value)]
    command = shlex.join(["benchmarks/peers/growing.py", *asked])
    foot = versions + machine.line(java)
    text = "\n".join(page(results, command, arguments.rounds, arguments.times, foot)) + "\n"
    name = f"rounds-{arguments.rounds}" + ("-times" if arguments.times else "")
    result_file.show(text, name, keep=arguments.rounds >= 32)
    return 0


if __name__ == "__main__":
    sys.exit(main())
