"""The main job on real data: look-ups on two columns of TPC-DS store_sales, before and after ZORDER TABLE.

    make demo                              scale 1, 2.9 million rows, 64 files
    python demo.py --results FILE.json     also writes the figures down

Ends with 1 when an answer differs or a look-up reads more than it should.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import audits
import data
import figures
import lookups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

COLUMNS = ("ss_customer_sk", "ss_cdemo_sk")
FILES = 64
MOST = {"files": 0.135, "pages": 0.095}


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Says what is done, and when it is done how long it took."""
    print(f"\n== {text}", flush=True)
    start = time.monotonic()
    yield
    print(f"   {time.monotonic() - start:.1f} s", flush=True)


def session() -> SparkSession:
    """A local session on two cores with spark-zorder, quiet but for the steps of a run."""
    import spark_zorder
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.zorder.progress.show": "true",
        "spark.log.level": "ERROR",
    }
    # a local session needs no address of the network, and no warning about it
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").appName("spark-zorder demo")
    for key, value in settings.items():
        builder.config(key, value)
    return spark_zorder.configure(builder).getOrCreate()


def prepare(spark: SparkSession, scale: int) -> None:
    """Generator, data and Parquet table, each only where it is missing."""
    if data.parquet_path(scale).is_dir():
        print(f"\n== store_sales is there from an earlier run: {data.parquet_path(scale)}")
        return
    if not data.GENERATOR.is_file():
        with stage("fetching the TPC-DS generator with Maven"):
            data.fetch_generator()
    with stage(f"generating TPC-DS store_sales at scale {scale}"):
        data.generate(scale)
    with stage("writing it as an ordinary Parquet table, rows as they come"):
        data.write_parquet(spark, scale)


def run(spark: SparkSession, scale: int) -> tuple[list[figures.Figure], audits.Audits, list[str]]:
    """All figures, the audits of our table, and what is wrong with the figures."""
    from spark_zorder import ZOrderTable

    source = data.parquet_path(scale)
    table = data.copy_of(scale, "spark-zorder")
    with stage(f"{lookups.LOOKUPS} look-ups on each of {' and '.join(COLUMNS)}, table as it is"):
        values = lookups.draw(spark, source, COLUMNS)
        expected = lookups.answers(spark, table, values)
        rows = sum(count for found in expected.values() for count, _ in found.values())
        print(f"   {rows:,} rows match")
        reads = lookups.reads(spark, table, values)
    with stage("is it clustered? an audit, from metadata alone"):
        before = audits.of(spark, table, COLUMNS)
        print(audits.text(before, table))
    with stage("what would it gain? ZORDER TABLE ... DRY RUN (writes nothing)"):
        asked = ZOrderTable.forPath(spark, str(table)).optimize().option("fileCount", FILES).dryRun()
        row = asked.executeZOrderBy(*COLUMNS).collect()[0]
        now = figures.figures("as it came", row, "now", reads)

    def clustered(name: str, where: Path, run: Any) -> list[figures.Figure]:
        row = run.executeZOrderBy(*COLUMNS).collect()[0]
        if row["status"] != "DONE":
            raise SystemExit(f"{row['status']}: {row['reason']}")
        spark.catalog.refreshByPath(str(where))
        return figures.figures(name, row, "measured", lookups.reads(spark, where, values))

    with stage(f"ZORDER TABLE ... BY ({', '.join(COLUMNS)}) into {FILES} files"):
        one = ZOrderTable.forPath(spark, str(table)).optimize().option("fileCount", FILES)
        ours = clustered("spark-zorder", table, one)
    with stage("the same look-ups again"):
        same = lookups.answers(spark, table, values) == expected
        print("   the same answers" if same else "   THE ANSWERS DIFFER")
    with stage("the audit again"):
        after = audits.of(spark, table, COLUMNS)
        print(audits.text(after, table).partition("\n\n")[0])
    copy = data.fresh("lexical")
    with stage("for comparison: a plain sort by the same columns, into a copy"):
        other = ZOrderTable.forPath(spark, str(source)).optimize().usingCurve("lexical")
        sort = clustered("lexical sort", copy, other.option("fileCount", FILES).into(str(copy)))
    made = figures.with_bound_of(now, ours) + ours + sort
    both = audits.Audits(before, after, ZOrderTable.forPath(spark, str(table)).history().collect())
    return made, both, ([] if same else ["the answers differ"]) + too_much(ours)


def too_much(rows: list[figures.Figure]) -> list[str]:
    """The shares above what this layout is expected to read."""
    return [
        f"look-ups on {r.column} read {r.share:.3f} of the {r.level}, more than {MOST[r.level]}"
        for r in rows
        if r.level in MOST and r.share > MOST[r.level]
    ]


def facts(spark: SparkSession, scale: int) -> dict[str, Any]:
    """What the figures depend on."""
    import spark_zorder

    rows = spark.read.parquet(str(data.parquet_path(scale))).count()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "versions": {
            "spark-zorder": spark_zorder.__version__,
            "spark": spark.version,
            "python": platform.python_version(),
        },
        "data": {"table": "TPC-DS store_sales", "scale": scale, "rows": rows, "by": COLUMNS, "files": FILES},
        "lookups": lookups.LOOKUPS,
    }


def main() -> int:
    """The whole demonstration."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--scale", type=int, default=1, help="TPC-DS scale factor, default 1")
    parser.add_argument("--results", type=Path, metavar="FILE", help="also write the figures there, as JSON")
    arguments = parser.parse_args()
    start = time.monotonic()
    with stage("starting Spark"):
        spark = session()
    prepare(spark, arguments.scale)
    rows, both, wrong = run(spark, arguments.scale)
    print("\nWhat a look-up of one value reads (mean of 200, by Parquet's own statistics), the share of the")
    print("table that this is, and how many times the least that any layout of so many blocks could read:\n")
    print(figures.closing_table(rows))
    if arguments.results:
        body = {
            **facts(spark, arguments.scale),
            "figures": figures.as_json(rows),
            "boxes": both.boxes(COLUMNS),
        }
        arguments.results.write_text(figures.as_text(body))
        print(f"\nwritten: {arguments.results}")
    page = both.report(data.folder() / "report.html")
    print(f"\nBefore and after in pictures, open it in a browser: {page}")
    spark.stop()
    print(f"\n{time.monotonic() - start:.0f} s in all. The tables stay in {data.folder()}.")
    print("Next, a forecast for a table of your own; it writes nothing:")
    print("   target/venv/4.3/bin/python -m spark_zorder optimize /path/of/table/ --by a,b --dry-run")
    for sentence in wrong:
        print(f"FAILED: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
