"""The newest Delta and Iceberg on Spark 4.1: layouts of one table, made in a process of their own.

    python benchmarks/peers/newest.py SOURCE FOLDER FILES       by an environment that has pyspark 4.1

A JVM has one Spark, and Hudi has none for 4.1. Prints one line of JSON: the versions, and the files of each
layout by its name. `layouts.py` counts what look-ups read of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import clustered
import peers
import session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
PYTHON = TOP / "target/venv/4.1/bin/python"
ZONES = "spark.databricks.io.skipping.mdc"
# of Delta's ZORDER BY, as good as it can be: see the page of results
BEST = {f"{ZONES}.rangeId.max": "65536", f"{ZONES}.addNoise": "false", f"{ZONES}.sortWithinFiles": "true"}


def asked(source: Path, folder: Path, files: int) -> dict[str, Any]:
    """What this file prints, run by Spark 4.1."""
    command = [str(PYTHON), __file__, str(source), str(folder), str(files)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    # Spark's launcher may print, too
    found: dict[str, Any] = json.loads(next(s for s in done.stdout.splitlines() if s.startswith("{")))
    return found


def layouts(
    spark: SparkSession, source: DataFrame, folder: Path, files: int
) -> Iterator[tuple[str, DataFrame]]:
    """Every layout with the name that the result gives it."""
    delta = f"Delta {peers.DELTA}"
    yield f"{delta} ZORDER BY", clustered.delta_own(spark, source, folder / "n-dz", files)
    yield (
        f"{delta} ZORDER BY, 65,536 range ids, no noise, sorted within files",
        clustered.delta_own(spark, source, folder / "n-db", files, **BEST),
    )
    yield (
        f"{delta} liquid clustering",
        clustered.delta_own(spark, source, folder / "n-dl", files, clustered=True),
    )
    for curve in ("zorder", "hilbert"):
        table = clustered.iceberg_own(spark, source, f"n_{curve}", files, curve=curve)
        yield f"Iceberg {peers.ICEBERG} {curve}", table


def main() -> int:
    """Makes the layouts and prints where they are."""
    source, folder, files = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    spark = session.session(folder, memory="3g", spark__sql__shuffle__partitions="64")
    rows = spark.read.parquet(str(source))
    count = rows.count()
    found: dict[str, list[str]] = {}
    for name, table in layouts(spark, rows, folder, files):
        assert table.count() == count, name
        found[name] = [str(path) for path in session.files(table)]
    made = {"spark": spark.version, "peers": peers.versions(), "layouts": found}
    spark.stop()
    print(json.dumps(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
