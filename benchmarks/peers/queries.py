"""Queries of one table in every layout: time, files, requests and bytes, on a quick and on a slow store.

    python benchmarks/peers/queries.py                 TPC-DS store_sales at scale 5 in 256 files; an hour
    python benchmarks/peers/queries.py --scale 1 --files 64 --repeats 2      a trial; its result is not kept

Every format skips by its own means, and our layouts with and without our index and rules. All lines answer
the same queries in turn, in one session; answers must be equal. The slow store adds 20 ms to each request.
Ends with 1 where a layout of ours opens more files than a target allows.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import asked
import clustered
import counting
import data
import machine
import peers
import query_set
import result_file
import session
from asked import SLOW_MS, Measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

SKIPPING = "spark.zorder.skipping.enabled"
UNCLUSTERED = "unclustered, plain Parquet"
OURS = "spark-zorder, plain Parquet, with index"
# how the names of all our layouts begin
OUR_LINES = "spark-zorder"
# of the eight kinds of queries on the slow store: plain Parquet with our index ahead of every peer
KINDS_AHEAD = 6
# judged by the time of the scan, as planning waits for the broadcast: what the whole query takes is shown
LEAST = {"quick": 3.0, "slow": 8.0}
# the lists of these formats are narrowed by the bounds that they keep: no index is needed
NARROWED = ", with our skipping"
# files of 256 that our layouts may open with our skipping, in the mean; a join reads 4 of customers beside
MOST_FILES = {"ORDER BY": 16, "a star join": 90, "IN: five values": 80}


@dataclass(frozen=True)
class Line:
    """A layout: the view that queries name, and whether they may use our index and rules."""

    name: str
    view: str
    index: bool = False


def view(table: DataFrame, name: str) -> str:
    """The same for all: a view of a table that is resolved already."""
    table.createOrReplaceTempView(name)
    return name


def lines(spark: SparkSession, source: DataFrame, folder: Path, files: int) -> Iterator[Line]:
    """Every layout, made one after the other."""
    plain = folder / "plain"
    source.write.parquet(str(plain))
    yield Line(UNCLUSTERED, view(spark.read.parquet(str(plain)), "plain"))
    ours = folder / "ours"
    source.write.parquet(str(ours))
    clustered.ours(spark, f"'{ours}'", files)
    spark.sql(f"ZORDER INDEX '{ours}'").collect()
    yield Line("spark-zorder, plain Parquet, no index", view(spark.read.parquet(str(ours)), "ours"))
    yield Line(OURS, "ours", index=True)
    clustered.delta(spark, source, folder / "delta")
    clustered.ours(spark, f"'{folder / 'delta'}'", files)
    table = spark.read.format("delta").load(str(folder / "delta"))
    yield Line("spark-zorder, Delta, its own skipping", view(table, "ours_delta"))
    yield Line(f"spark-zorder, Delta{NARROWED}", "ours_delta", index=True)
    clustered.iceberg(spark, source, "ours")
    clustered.ours(spark, "ice.db.ours", files)
    spark.sql("REFRESH TABLE ice.db.ours")
    yield Line("spark-zorder, Iceberg, its own skipping", view(spark.table("ice.db.ours"), "ours_iceberg"))
    yield Line(f"spark-zorder, Iceberg{NARROWED}", "ours_iceberg", index=True)
    table = clustered.delta_own(spark, source, folder / "delta-own", files)
    yield Line(f"Delta {peers.DELTA} ZORDER BY", view(table, "delta_own"))
    table = clustered.iceberg_own(spark, source, "own", files)
    yield Line(f"Iceberg {peers.ICEBERG} zorder", view(table, "iceberg_own"))
    if not peers.HUDI:
        return
    clustered.hudi_own(spark, source, folder / "hudi", files, "z-order", "direct")
    skipping = {"hoodie.metadata.enable": "true", "hoodie.enable.data.skipping": "true"}
    table = spark.read.format("hudi").options(**skipping).load(str(folder / "hudi"))
    yield Line(f"Hudi {peers.HUDI} z-order", view(table, "hudi_own"))


def measured(spark: SparkSession, line: Line, text: str) -> tuple[Measured, Any]:
    """One query: planned, then run."""
    spark.conf.set(SKIPPING, str(line.index).lower())
    took, rows = asked.ask(spark, text.format(table=line.view))
    return took, query_set.answer(rows)


def measure(
    spark: SparkSession, made: list[Line], queries: dict[str, list[str]], repeats: int, slow: bool
) -> dict[str, dict[str, list[Measured]]]:
    """All lines answer each query in turn; who begins changes. The first query of each kind warms up."""
    found: dict[str, dict[str, list[Measured]]] = {}
    counting.slow(spark, SLOW_MS if slow else 0)
    for kind, texts in queries.items():
        found[kind] = {line.name: [] for line in made}
        for i, text in enumerate(texts[: repeats + 1]):
            answers = {}
            for line in made[i % len(made) :] + made[: i % len(made)]:
                took, answers[line.name] = measured(spark, line, text)
                if i:
                    found[kind][line.name].append(took)
            if len(set(answers.values())) > 1:
                raise SystemExit(f"{text}: the answers differ: {answers}")
        print(f"{kind}, {'slow' if slow else 'quick'}: {verdict(found[kind], slow)}", flush=True)
    counting.slow(spark, 0)
    return found


def too_many(kind: str, of: dict[str, list[Measured]]) -> list[str]:
    """The layouts of ours that open more files than the target of this kind of query."""
    most = next((files for start, files in MOST_FILES.items() if kind.startswith(start)), None)
    opened = {
        name: statistics.mean(m.files for m in of[name])
        for name in of
        if name == OURS or name.endswith(NARROWED)
    }
    if most is None:
        return []
    return [f"{kind}: {name} opens {n:.1f} files, wanted {most}" for name, n in opened.items() if n > most]


def median(of: list[Measured], what: str) -> float:
    return statistics.median(getattr(m, what) for m in of)


def walls(of: dict[str, list[Measured]]) -> dict[str, float]:
    """Seconds of each line, quickest first."""
    found = {name: median(m, "wall") for name, m in of.items()}
    return dict(sorted(found.items(), key=lambda line: line[1]))


def peers_ahead(of: dict[str, list[Measured]]) -> list[str]:
    """The lines of peers that are quicker than ours on plain Parquet with the index."""
    found = walls(of)
    return [name for name in found if not name.startswith(OUR_LINES) and found[name] < found[OURS]]


def verdict(of: dict[str, list[Measured]], slow: bool) -> str:
    """How our index stands: times the unclustered table, beside the peers, and beside our other layouts."""
    found = walls(of)
    least = LEAST["slow" if slow else "quick"]
    ahead = peers_ahead(of)
    first = f"{ahead[0]} is quicker" if ahead else "quicker than every peer"
    best = next(iter(found))
    still = f", {best} is quicker still" if best.startswith(OUR_LINES) and best != OURS else ""
    return f"{found[UNCLUSTERED] / found[OURS]:.1f} x unclustered (wanted: {least:g}), {first}{still}"


def kinds_ahead(found: dict[str, dict[str, list[Measured]]]) -> int:
    """In how many kinds of queries no peer is quicker."""
    return sum(1 for of in found.values() if not peers_ahead(of))


def section(kind: str, quick: dict[str, list[Measured]], slow: dict[str, list[Measured]]) -> list[str]:
    """The table of one kind of query."""
    head = "| layout | plan, ms | run, ms | all, ms | all, slow store, ms | files | requests | MiB |"
    rows = [
        f"| {name} | {median(of, 'plan') * 1000:.0f} | {median(of, 'run') * 1000:.0f} "
        f"| {median(of, 'wall') * 1000:.0f} | {median(slow[name], 'wall') * 1000:.0f} "
        f"| {statistics.mean(m.files for m in of):.1f} | {statistics.mean(m.requests for m in of):.0f} "
        f"| {statistics.mean(m.bytes for m in of) / 2**20:.2f} |"
        for name, of in quick.items()
    ]
    return [
        "",
        f"## {kind}",
        "",
        head,
        "| --- " * 8 + "|",
        *rows,
        "",
        f"With index: {verdict(quick, slow=False)}; on the slow store {verdict(slow, slow=True)}.",
    ]


def main() -> int:
    """Makes the layouts, measures, writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=5)
    parser.add_argument("--files", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5, help="queries of a kind that count")
    parser.add_argument("--slow-repeats", type=int, default=1, help="the same on the slow store")
    arguments = parser.parse_args()
    whole = arguments == parser.parse_args([])
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-queries-"))
    try:
        spark = session.session(
            folder,
            memory="4g",
            classes=[counting.compiled()],
            spark__sql__shuffle__partitions="8",
            **counting.SETTINGS,
        )
        if not data.parquet_path(arguments.scale).is_dir():
            data.fetch_generator()
            data.write_parquet(spark, arguments.scale)
        source = in_files(spark, data.parquet_path(arguments.scale), arguments.files)
        rows = source.count()
        made = []
        for line in lines(spark, source, folder, arguments.files):
            print(line.name, flush=True)
            made.append(line)
        queries = query_set.queries(spark, made[0].view, folder, arguments.repeats + 1)
        quick = measure(spark, made, queries, arguments.repeats, slow=False)
        slow = measure(spark, made, queries, min(arguments.slow_repeats, arguments.repeats), slow=True)
        text = [
            "# Queries of one table in every layout",
            "",
            f"`make bench-queries`, {time.strftime('%Y-%m-%d')}. store_sales, {rows:,} rows, "
            f"{arguments.files} files, clustered by {clustered.NAMES}.",
            f"Medians of {arguments.repeats} queries of each kind, after one to warm up. The slow store",
            f"adds {SLOW_MS} ms to each request; queries that count there: {arguments.slow_repeats}.",
            "Files opened, requests (the HEADs, LISTs and GETs of Hadoop's S3A) and MiB are means.",
            f"Plain Parquet with index: ahead of all peers in {kinds_ahead(quick)} of {len(queries)} kinds,",
            f"on the slow store {kinds_ahead(slow)} (wanted: {KINDS_AHEAD}).",
            *(part for kind in queries for part in section(kind, quick[kind], slow[kind])),
            "",
            f"- spark-zorder {session.VERSION}, Spark {spark.version}, {peers.versions()}; all in one "
            "session, answers equal",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        ]
        result_file.show("\n".join(text) + "\n", "queries-4.1" if peers.ON_NEWEST else "queries", keep=whole)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failures = [sentence for kind, of in quick.items() for sentence in too_many(kind, of)]
    if kinds_ahead(slow) < KINDS_AHEAD:
        failures.append(f"slow store: ahead of all peers in {kinds_ahead(slow)} kinds, wanted {KINDS_AHEAD}")
    for sentence in failures if whole else []:
        print(f"FAILED: {sentence}", file=sys.stderr)
    return 1 if whole and failures else 0


def in_files(spark: SparkSession, path: Path, files: int) -> DataFrame:
    """The table in so many parts, in no order of the columns that are asked for, as it came, either."""
    return spark.read.parquet(str(path)).repartition(files)


if __name__ == "__main__":
    sys.exit(main())
