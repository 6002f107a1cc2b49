"""Milliseconds to plan a query of a table of many files: plain Spark, with our index, Delta, Iceberg.

    python benchmarks/peers/planning.py                      100,000 files of 10 columns; twenty minutes
    python benchmarks/peers/planning.py --files 1000         a trial; its result is not kept

The files are hard links to a thousand that differ, so that all formats have the same ones. Listings and logs
are warm, as in a session that has queried the table before. What our index adds is the median of the
differences of pairs.

Delta and Iceberg are measured with our skipping, too: by the first query of a snapshot, which reads the
bounds of its files, and by a later one, which finds them in memory.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine
import peers
import result_file
import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = 100_000
DIFFERENT = 1000
COLUMNS = 10
ROUNDS = 15
SKIPPING = "spark.zorder.skipping.enabled"
MEMORY = "spark.zorder.skipping.maxMemory"
LAYOUTS = {"plain": "plain Spark", "index": "plain Spark with our index"}
# of issue and design: what skipping adds to a plan, in milliseconds
WANTED = {"warm": 150, "cold": 2000}
QUERIES = {
    "one value": "WHERE c0 = 500500",
    "a range, and values of another column": (
        "WHERE c1 BETWEEN 200000 AND 201000 AND c2 IN (1, 17000, 900000)"
    ),
    "1,000 values": f"WHERE c0 IN ({', '.join(str(v * 997) for v in range(1000))})",
}
# of these Delta looks up no list, Iceberg none of more than 200 values, and both read all files for an order
OF_FORMATS = {
    "the first 100 of an order": "ORDER BY c0 DESC LIMIT 100",
    "five values": "WHERE c0 IN (1000, 250000, 500000, 750000, 999000)",
    "1,000 values": QUERIES["1,000 values"],
}


def files(spark: SparkSession, folder: Path, count: int) -> Path:
    """So many Parquet files in one directory: numbers below a million, the first column in order."""
    seed = folder / "seed"
    different = min(count, DIFFERENT)
    rows = spark.range(0, different * 100, 1, different)
    columns = [f"cast(id * 10000 / {different} as bigint) c0"]
    columns += [f"pmod(xxhash64(id div 50, {c}), 1000000) c{c}" for c in range(1, COLUMNS)]
    rows.selectExpr(*columns).write.option("compression", "none").parquet(str(seed))
    made = sorted(seed.glob("*.parquet"))
    table = folder / "table"
    table.mkdir()
    for i in range(count):
        os.link(made[i % len(made)], table / f"part-{i:06}.parquet")
    return table


def linked(table: Path, name: str) -> Path:
    """The same files in another directory."""
    copy = table.with_name(name)
    copy.mkdir()
    for file in table.iterdir():
        if file.suffix == ".parquet":
            os.link(file, copy / file.name)
    return copy


def planned(spark: SparkSession, view: str, rest: str, skipping: bool = False) -> tuple[float, int]:
    """Milliseconds from the text to the physical plan with the files chosen, and how many tasks it has."""
    spark.conf.set(SKIPPING, str(skipping).lower())
    start = time.monotonic()
    query = spark.sql(f"SELECT c0 FROM {view} {rest}")
    tasks = query._jdf.queryExecution().toRdd().getNumPartitions()
    return (time.monotonic() - start) * 1000, tasks


def in_turn(spark: SparkSession, views: dict[str, str], rest: str) -> dict[str, list[float]]:
    """Every layout in turn, after two rounds to warm up."""
    times: dict[str, list[float]] = {name: [] for name in views}
    names = list(views)
    for i in range(ROUNDS + 2):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            took, _ = planned(spark, views[name], rest, skipping=name == LAYOUTS["index"])
            if i >= 2:
                times[name].append(took)
    return times


def cold(spark: SparkSession, view: str, table: Path) -> float:
    """Milliseconds more than plain Spark where the index is not in memory."""
    rest = QUERIES["one value"]
    differences = []
    for _ in range(5):
        plain, _ = planned(spark, view, rest)
        root = spark._jvm.org.apache.hadoop.fs.Path(f"file:{table}")
        spark._jvm.org.apache.spark.sql.zorder.skipping.index.LoadedIndexes.forget(root)
        with_index, _ = planned(spark, view, rest, skipping=True)
        differences.append(with_index - plain)
    return statistics.median(differences)


def table_of(spark: SparkSession, views: dict[str, str]) -> list[str]:
    """A row a query: medians, and what our index adds."""
    rows = []
    for what, rest in QUERIES.items():
        times = in_turn(spark, views, rest)
        added = statistics.median(
            b - a for a, b in zip(times[LAYOUTS["plain"]], times[LAYOUTS["index"]], strict=True)
        )
        rows.append(
            f"| {what} | {' | '.join(f'{statistics.median(times[n]):.0f}' for n in views)} | {added:.0f} |"
        )
        print(rows[-1], flush=True)
    return rows


def forget(spark: SparkSession, spare: str) -> None:
    """Leaves no bounds of any snapshot in memory: a query of a spare table finds no room for them."""
    spark.conf.set(MEMORY, "1")
    planned(spark, spare, "WHERE c0 IN (1, 5)", skipping=True)
    spark.conf.unset(MEMORY)


def kept(spark: SparkSession, view: str, rest: str) -> int:
    """The files that a scan opens with our skipping, by EXPLAIN."""
    spark.conf.set(SKIPPING, "true")
    whole = spark.sql(f"ZORDER EXPLAIN SELECT c0 FROM {view} {rest}").head()
    assert whole is not None
    return int(whole["kept"])


def added(spark: SparkSession, view: str, rest: str, spare: str) -> tuple[float, float, float]:
    """Medians: milliseconds without our skipping, and those that a snapshot's first and second query add."""
    off, first, second = [], [], []
    for i in range(ROUNDS + 2):
        without, _ = planned(spark, view, rest)
        forget(spark, spare)
        unread, _ = planned(spark, view, rest, skipping=True)
        read, _ = planned(spark, view, rest, skipping=True)
        if i >= 2:
            off.append(without)
            first.append(unread - without)
            second.append(read - without)
    return statistics.median(off), statistics.median(first), statistics.median(second)


def table_of_formats(spark: SparkSession, views: dict[str, str], spare: str) -> list[str]:
    """A row a query and format: what our skipping leaves of the files, and what it adds."""
    rows = []
    for what, rest in OF_FORMATS.items():
        for name, view in views.items():
            off, first, second = added(spark, view, rest, spare)
            left = kept(spark, view, rest)
            rows.append(f"| {what} | {name} | {left:,} | {off:.0f} | {first:.0f} | {second:.0f} |")
            print(rows[-1], flush=True)
    return rows


def main() -> int:
    """Makes the table in every format, measures, writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=FILES)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-planning-"))
    try:
        spark = session.session(folder, memory="6g", spark__sql__shuffle__partitions="4")
        table = files(spark, folder, arguments.files)
        views, of_formats = {}, {}
        for name in LAYOUTS.values():
            spark.read.parquet(str(table)).createOrReplaceTempView("plain_files")
            views[name] = "plain_files"
        start = time.monotonic()
        made = spark.sql(f"ZORDER INDEX '{table}'").head()
        assert made is not None
        index_line = (
            f"The index: made in {time.monotonic() - start:.0f} s, {made['bytes'] / 2**20:.1f} MiB, "
            f"{made['bytes'] / arguments.files / COLUMNS:.1f} bytes per file and column."
        )
        print(index_line, flush=True)
        copy = linked(table, "delta")
        spark.sql(f"CONVERT TO DELTA parquet.`{copy}`").collect()
        spark.read.format("delta").load(str(copy)).createOrReplaceTempView("delta_files")
        of_formats[f"Delta {peers.DELTA}"] = "delta_files"
        copy = linked(table, "iceberg")
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        columns = ", ".join(f"c{c} BIGINT" for c in range(COLUMNS))
        spark.sql(f"CREATE TABLE ice.db.many ({columns}) USING iceberg")
        spark.sql(
            f"CALL ice.system.add_files(table => 'db.many', source_table => '`parquet`.`{copy}`')"
        ).collect()
        spark.table("ice.db.many").createOrReplaceTempView("iceberg_files")
        of_formats[f"Iceberg {peers.ICEBERG}"] = "iceberg_files"
        views.update(of_formats)
        rows = table_of(spark, views)
        spare = folder / "spare"
        spark.range(10).selectExpr("id c0").write.format("delta").save(str(spare))
        rows_of_formats = table_of_formats(spark, of_formats, f"delta.`{spare}`")
        text = [
            f"# Planning over {arguments.files:,} files",
            "",
            f"`make bench-planning`, {time.strftime('%Y-%m-%d')}. {COLUMNS} columns; medians of {ROUNDS}",
            "plans, in turn: milliseconds from a query's text to its tasks. Listings and logs are warm.",
            "",
            f"| filter | {' | '.join(views)} | added by our index |",
            "| --- " * (len(views) + 2) + "|",
            *rows,
            "",
            f"Wanted: at most {WANTED['warm']} ms added. With an index that must be read first "
            f"{cold(spark, 'plain_files', table):.0f} ms are added (wanted: {WANTED['cold']}).",
            index_line,
            "",
            "## Delta and Iceberg with our skipping",
            "",
            f"Medians of {ROUNDS}: milliseconds without it, and what it adds. A snapshot's first query reads",
            "the bounds of its files from the log or the manifests; later ones find them in memory.",
            "",
            "| query | format | files opened | without | added by the first query | by a later one |",
            "| --- " * 6 + "|",
            *rows_of_formats,
            "",
            f"Wanted: at most {WANTED['warm']} ms added by a later one.",
            "",
            f"- spark-zorder {session.VERSION}, Spark {spark.version}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        ]
        result_file.show("\n".join(text) + "\n", "planning", keep=arguments.files >= FILES)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
