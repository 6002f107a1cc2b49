"""A liquid table that we, delta-rs and Delta's OPTIMIZE work on in turn: each finds all rows, ours stay ours.

    python tests/fault/liquid_by_others.py          # `make readers-test`; a minute

delta-rs 1.6.6 reads such a table and refuses to write it; if a later one writes, its rows count. After our
runs, `OPTIMIZE` takes the files that others have added and none of ours.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import races
import rebase_race

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROVIDER = "spark-zorder"
# rows that are appended and ids that are deleted, by delta-rs and then by Spark, both twice
SOME = 200

Rows = Counter[tuple[int, ...]]


def providers(folder: Path) -> dict[str, str | None]:
    """The table's files by its log, and who has clustered each."""
    found: dict[str, str | None] = {}
    for commit in sorted((folder / "_delta_log").glob("*.json")):
        actions = [json.loads(line) for line in commit.read_text().splitlines()]
        for action in actions:
            if "remove" in action:
                found.pop(action["remove"]["path"], None)
        found |= {a["add"]["path"]: a["add"].get("clusteringProvider") for a in actions if "add" in a}
    return found


def new_rows(first: int) -> list[tuple[int, int, int]]:
    return [(i, i * 7 % 1000, i % 97) for i in range(first, first + SOME)]


def without(rows: Rows, first: int) -> Rows:
    return Counter({row: n for row, n in rows.items() if not first <= row[0] < first + SOME})


class Check:
    """The table, and the rows that it must have."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.place = spark, folder / "shared"
        self.table = races.create(spark, folder, self.place.name, "delta-vectors", "CLUSTER BY (a, b)")
        self.rows: Rows = Counter(races.rows(spark, self.table))

    def look(self, when: str) -> None:
        found = Counter(races.rows(self.spark, self.table))
        other = rebase_race.by_another_reader(self.place.parent, self.table, self.rows)
        if found != self.rows or other != "delta-rs: same":
            raise SystemExit(f"{when}: Spark has {found.total()} rows of {self.rows.total()}; {other}")
        by = Counter(str(provider) for provider in providers(self.place).values())
        files = ", ".join(f"{n} of {name}" for name, n in sorted(by.items()))
        print(f"{when}: Spark and delta-rs read the same {found.total():,} rows; files: {files}", flush=True)

    def by_delta_rs(self, first: int, gone: int) -> None:
        """What it does counts, if it does it."""
        asked = {"append": new_rows(first), "delete": f"id >= {gone} AND id < {gone + SOME}"}
        self.place.with_suffix(".json").write_text(json.dumps(asked))
        program = Path(__file__).with_name("write_by_others.py")
        command = [str(rebase_race.READERS), str(program), str(self.place)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        ended = dict(json.loads(line) for line in done.stdout.splitlines())
        for what, how in ended.items():
            print(f"delta-rs, {what}: {how}", flush=True)
        if ended["append"] == "committed":
            self.rows.update(new_rows(first))
        if ended["delete"] == "committed":
            self.rows = without(self.rows, gone)

    def by_spark(self, first: int, gone: int) -> None:
        """As a writer that does not know us."""
        rows = self.spark.createDataFrame(new_rows(first), races.COLUMNS)
        rows.write.format("delta").mode("append").save(str(self.place))
        self.spark.sql(f"DELETE FROM {self.table} WHERE id >= {gone} AND id < {gone + SOME}").collect()
        self.rows.update(new_rows(first))
        self.rows = without(self.rows, gone)

    def cluster(self) -> None:
        options = f"WITH (fileCount = {races.FILES}, force = true)"
        self.spark.sql(f"ZORDER TABLE {rebase_race.ours(self.table)} {options}").collect()

    def optimize(self) -> None:
        """Delta's own: it may take all files but ours."""
        before = {path for path, provider in providers(self.place).items() if provider == PROVIDER}
        self.spark.sql(f"OPTIMIZE {self.table}").collect()
        after = {path for path, provider in providers(self.place).items() if provider == PROVIDER}
        if not before or before != after:
            raise SystemExit(f"OPTIMIZE has left {len(before & after)} of our {len(before)} files alone.")


def main() -> int:
    if not rebase_race.READERS.is_file():
        raise SystemExit("delta-rs is missing: run `make venv-readers` first.")
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-liquid-"))
    try:
        spark = races.start(folder, ours=True)
        check = Check(spark, folder)
        check.cluster()
        check.look("after our first run")
        check.by_delta_rs(20_000, 100)
        check.by_spark(30_000, 1_000)
        check.look("after the writers")
        check.cluster()
        check.look("after our second run")
        check.by_delta_rs(40_000, 5_000)
        check.by_spark(50_000, 7_000)
        check.optimize()
        check.look("after OPTIMIZE")
        check.optimize()
        check.look("after OPTIMIZE once more")
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
