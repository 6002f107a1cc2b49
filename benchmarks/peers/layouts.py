"""What look-ups read of one table in the layouts of Delta, Iceberg, Hudi and ours, made in one session.

    python benchmarks/peers/layouts.py        TPC-DS store_sales at scale 1, 64 files; some minutes

Counts and not times: blocks whose min and max hold a value, by Parquet's own reader, for 200 values of each
column. Every format is asked for 64 files, by default and as it does best.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import data
import lookups
import machine
import newest
import peers
import result_file
import session
from clustered import BY, delta, hudi, hudi_own, iceberg, ours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    Reads = dict[str, dict[str, tuple[float, int]]]

FILES = 64


def layouts(spark: SparkSession, source: DataFrame, folder: Path) -> Iterator[tuple[str, DataFrame]]:
    """Every layout with the name that the result gives it, one after the other."""
    for curve in ("z-order", "hilbert"):
        for build in ("direct", "sample"):
            name = f"Hudi {peers.HUDI} {curve}" + (" by a sample" if build == "sample" else "")
            yield name, hudi_own(spark, source, folder / f"h-{curve}-{build}", FILES, curve, build)
    source.write.parquet(str(folder / "p"))
    ours(spark, f"'{folder / 'p'}'", FILES)
    yield "spark-zorder on Parquet", spark.read.parquet(str(folder / "p"))
    delta(spark, source, folder / "d")
    ours(spark, f"'{folder / 'd'}'", FILES)
    yield "spark-zorder on Delta", spark.read.format("delta").load(str(folder / "d"))
    iceberg(spark, source, "ours")
    ours(spark, "ice.db.ours", FILES)
    spark.sql("REFRESH TABLE ice.db.ours")
    yield "spark-zorder on Iceberg", spark.table("ice.db.ours")
    hudi(spark, source, folder / "h")
    ours(spark, f"'{folder / 'h'}'", FILES)
    yield "spark-zorder on Hudi", spark.read.format("hudi").load(str(folder / "h"))


def shares(reads: Reads, level: str) -> list[float]:
    """The share of the blocks that a look-up reads, by the first and by the second column."""
    return [round(reads[column][level][0] / reads[column][level][1], 4) for column in BY]


def line(name: str, reads: Reads) -> str:
    """The number of files, and the shares of each level."""
    levels = [" / ".join(f"{s:.3f}" for s in shares(reads, level)) for level in lookups.LEVELS]
    return f"| {name} | {reads[BY[0]]['files'][1]} | {' | '.join(levels)} |"


def for_readme(spark: str, found: dict[str, Reads]) -> None:
    """What README's table shows of others, beside our own figures."""
    rows = [
        {
            "layout": name,
            "count": reads[BY[0]]["files"][1],
            "files": shares(reads, "files"),
            "pages": shares(reads, "pages"),
        }
        for name, reads in found.items()
        if not name.startswith("spark-zorder")
    ]
    body = {"date": time.strftime("%Y-%m-%d"), "spark": spark, "rows": rows}
    (session.TOP / "benchmarks/results/layouts-peers.json").write_text(json.dumps(body, indent=1) + "\n")


def main() -> int:
    """Makes the layouts, counts, writes the result file."""
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-layouts-"))
    try:
        spark = session.session(folder, memory="3g", spark__sql__shuffle__partitions=str(FILES))
        if not data.parquet_path(1).is_dir():
            data.fetch_generator()
            data.write_parquet(spark, 1)
        source = spark.read.parquet(str(data.parquet_path(1)))
        rows = source.count()
        made_by_newest = newest.asked(data.parquet_path(1), folder, FILES)
        values = lookups.draw(spark, data.parquet_path(1), BY)
        found: dict[str, Reads] = {}

        def of_name(name: str, files: list[Path]) -> None:
            found[name] = lookups.reads_of(spark, files, values)
            print(line(name, found[name]), flush=True)

        for name, paths in made_by_newest["layouts"].items():
            of_name(name, [Path(path) for path in paths])
        for name, table in layouts(spark, source, folder):
            assert table.count() == rows, name
            of_name(name, session.files(table))
        text = [
            "# Layouts side by side",
            "",
            "`make bench-peers`. Share of the files, row groups and pages that a look-up of one value reads,",
            f"by `{BY[0]}` / by `{BY[1]}`: blocks whose min and max hold the value, by Parquet's",
            f"own reader, mean of {lookups.LOOKUPS} values drawn from the rows. store_sales, {rows:,} rows;",
            f"every format was asked for {FILES} files. Counts, not times.",
            f"Delta's and Iceberg's own layouts are made on Spark {made_by_newest['spark']}.",
            "",
            "| layout | files | files read | row groups read | pages read |",
            "| --- | --- | --- | --- | --- |",
            *(line(name, reads) for name, reads in found.items()),
            "",
            f"- {time.strftime('%Y-%m-%d')}; spark-zorder {session.VERSION}, Spark {spark.version}, "
            f"{peers.versions()}",
            f"- Spark {made_by_newest['spark']}, {made_by_newest['peers']}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        ]
        result_file.show("\n".join(text) + "\n", "layouts-peers", keep=True)
        for_readme(f"{spark.version} and {made_by_newest['spark']}", found)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
