"""What the audit says that look-ups read of a table, beside what DuckDB counts from the same files.

    python benchmarks/audit/shares.py                 TPC-DS store_sales at scale 1 in 64 files: some minutes
    python benchmarks/audit/shares.py --values 2      a trial; its result is not kept

The table unclustered, sorted, clustered by us, by Delta and by Iceberg. For values of both columns,
`clustering_where` must count exactly the files, row groups and rows that DuckDB counts, which is in the
virtual environment of Spark 4.3. Ends with 1 where a count differs.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
import clustered
import data
import machine
import peers
import queries
import result_file
import session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

HERE = Path(__file__).resolve().parent
FILES = 64
DUCK = session.TOP / "target/venv/4.3/bin/python"
LEVELS = ("file", "row group")


def layouts(spark: SparkSession, source: DataFrame, folder: Path) -> Iterator[tuple[str, str, list[Path]]]:
    """Name, the table as our functions name it, its files."""
    plain = folder / "plain"
    source.write.parquet(str(plain))
    yield "unclustered", str(plain), session.files(spark.read.parquet(str(plain)))
    for name, more in (("plain sort", "USING CURVE lexical"), ("spark-zorder", "")):
        path = folder / name.replace(" ", "-")
        spark.sql(
            f"ZORDER TABLE '{plain}' BY ({clustered.NAMES}) {more} "
            f"WITH (fileCount = {FILES}, force = true) INTO '{path}'"
        ).collect()
        yield name, str(path), session.files(spark.read.parquet(str(path)))
    table = clustered.delta_own(spark, source, folder / "delta", FILES)
    yield f"Delta {peers.DELTA} ZORDER BY", str(folder / "delta"), session.files(table)
    table = clustered.iceberg_own(spark, source, "own", FILES)
    yield f"Iceberg {peers.ICEBERG} zorder", "ice.db.own", session.files(table)


def by_us(
    spark: SparkSession, table: str, values: dict[str, list[int]]
) -> dict[str, dict[str, list[list[int]]]]:
    """By column and level, of each value: blocks and rows that the audit says a query reads."""
    found: dict[str, dict[str, list[list[int]]]] = {c: {level: [] for level in LEVELS} for c in values}
    for column, of in values.items():
        for value in of:
            rows = spark.sql(f"SELECT * FROM clustering_where('{table}', '{column} = {value}')").collect()
            for row in rows:
                if row["level"] in LEVELS:
                    found[column][row["level"]].append([row["read_count"], row["read_rows"]])
    return found


def main() -> int:
    """Makes the layouts, asks both, writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--values", type=int, default=20, help="of each column")
    arguments = parser.parse_args()
    whole = arguments == parser.parse_args([])
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-shares-"))
    try:
        spark = session.session(folder, memory="3g")
        if not data.parquet_path(1).is_dir():
            data.fetch_generator()
            data.write_parquet(spark, 1)
        source = queries.in_files(spark, data.parquet_path(1), FILES)
        values = {
            c: [
                r[0]
                for r in source.where(f"{c} IS NOT NULL").select(c).sample(0.01, 7).head(arguments.values)
            ]
            for c in clustered.BY
        }
        ours, files = {}, {}
        for name, table, of in layouts(spark, source, folder):
            print(name, flush=True)
            ours[name], files[name] = by_us(spark, table, values), [str(f) for f in of]
        asked = folder / "asked.json"
        asked.write_text(json.dumps({"files": files, "values": values}))
        done = subprocess.run(
            [str(DUCK), str(HERE / "duck_counts.py"), str(asked)], check=True, capture_output=True, text=True
        )
        duck = json.loads(done.stdout)
        total = source.count()
        rows, differ = [], 0
        for name in ours:
            for column in values:
                for level in LEVELS:
                    mine, theirs = ours[name][column][level], duck[name][column][level]
                    differ += sum(a != b for a, b in zip(mine, theirs, strict=True))
                    share, count = (statistics.mean(n[i] for n in theirs) for i in (1, 0))
                    rows.append(
                        f"| {name} | {column} | {level} | {count:.1f} | {share / total:.4f} "
                        f"| {sum(a == b for a, b in zip(mine, theirs, strict=True))} of {len(mine)} |"
                    )
        text = [
            "# What a look-up reads: the audit beside DuckDB",
            "",
            f"`make bench-shares`, {time.strftime('%Y-%m-%d')}. store_sales at scale 1, {total:,} rows,",
            f"asked for {FILES} files; {arguments.values} values of each column. Blocks whose range holds",
            "the value, and the share of the rows in them, by DuckDB from the footers; how often",
            "`clustering_where` counts exactly the same blocks and rows.",
            "",
            "| layout | column | level | blocks read | share of the rows | the same |",
            "| --- | --- | --- | --- | --- | --- |",
            *rows,
            "",
            f"- Spark {spark.version}",
            f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
        ]
        result_file.show("\n".join(text) + "\n", "shares", keep=whole)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
