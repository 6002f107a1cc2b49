"""Kills the driver of a run at random moments and looks at the table: no row is lost or doubled.

    python tests/fault/run.py --kills 300          # what `make fault-test` does; about an hour

After every kill the table is read as it lies there: it has all its rows, or says clearly that it cannot be
read (plain Parquet, between two renames). Then the next statement recovers it, and it has all its rows.
At the end a vacuum leaves no file that the table does not know.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import tables

HERE = Path(__file__).resolve().parent


def killed(folder: Path, kind: str, delay: float) -> int:
    """Starts a victim, kills it so long after its first run began, and says how many runs it had begun."""
    command = [sys.executable, str(HERE / "victim.py"), str(folder), kind]
    with (folder / "victim.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=HERE, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
        )
        assert process.stdout is not None
        if not process.stdout.readline().startswith("run"):
            raise SystemExit(f"The victim did not start: {(folder / 'victim.log').read_text()[-2000:]}")
        time.sleep(delay)
        # Python and its JVM are one process group
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return 1 + process.stdout.read().count("run")


def looked_at(spark: tables.SparkSession, folder: Path, kind: str, whole: tuple[int, int]) -> str:
    """What a reader sees right after the kill."""
    try:
        seen = tables.fingerprint(tables.read(spark, folder, kind))
    except Exception as error:
        if kind != "parquet":
            raise
        return f"error: {type(error).__name__}"
    if seen != whole:
        raise SystemExit(f"{kind}: a reader saw {seen} and not {whole}, without an error")
    return "all rows"


def leftovers(spark: tables.SparkSession, folder: Path, kind: str) -> list[str]:
    """Data files under and beside the table that no reader reads, after a vacuum."""
    spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)} RETAIN 0 HOURS").collect()
    live = {f.name for f in tables.session.files(tables.read(spark, folder, kind))}
    # a staging directory of plain Parquet lies beside the table, and has its name in its own
    roots = [folder / "ice"] if kind == "iceberg" else [p for p in folder.iterdir() if kind in p.name]
    logs = {"_delta_log", ".hoodie"}
    found = [p for root in roots for p in root.rglob("*.parquet") if not logs.intersection(p.parts)]
    return sorted(str(p.relative_to(folder)) for p in found if p.name not in live)


def campaign(spark: tables.SparkSession, folder: Path, kind: str, kills: int, seed: int) -> list[str]:
    """The kills of one format; lines for the result."""
    tables.create(spark, folder, kind)
    whole = tables.fingerprint(tables.read(spark, folder, kind))
    random_delay = random.Random(seed)
    seen: Counter[str] = Counter()
    runs = 0
    for i in range(kills):
        runs += killed(folder, kind, random_delay.uniform(0.0, 8.0))
        seen[looked_at(spark, folder, kind, whole)] += 1
        spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)}").collect()
        after = tables.fingerprint(tables.read(spark, folder, kind))
        if after != whole:
            raise SystemExit(f"{kind}: after recovery {i + 1} there are {after} and not {whole}")
        print(f"{kind}: {i + 1} of {kills} kills, {runs} runs begun, {dict(seen)}", flush=True)
    left = leftovers(spark, folder, kind)
    if left:
        raise SystemExit(f"{kind}: a vacuum left {len(left)} files that nobody reads, such as {left[0]}")
    readers = "; ".join(f"{what}: {n}" for what, n in sorted(seen.items()))
    return [f"| {kind} | {kills} | {runs} | {readers} | {kills} of {kills} | none |"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=300, help="over all formats together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", nargs="+", default=list(tables.FORMATS), choices=tables.FORMATS)
    parser.add_argument("--result", type=Path, help="a file for the table of results")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-faults-"))
    try:
        spark = tables.start(folder)
        each = -(-arguments.kills // len(arguments.formats))
        lines = [
            line
            for n, kind in enumerate(arguments.formats)
            for line in campaign(spark, folder, kind, each, arguments.seed + n)
        ]
        peers = tables.session.peers
        head = [
            "# A driver that is killed",
            "",
            f"`python tests/fault/run.py --kills {arguments.kills} --seed {arguments.seed}`, "
            f"{time.strftime('%Y-%m-%d')}, Spark {spark.version},",
            f"Delta {peers.DELTA}, Iceberg {peers.ICEBERG}, Hudi {peers.HUDI}: kill -9 of a driver that",
            f"rewrites {tables.ROWS:,} rows again and again,",
            "up to 8 seconds after its first run began. A reader looks at once; then a vacuum recovers.",
            "",
            "| format | kills | runs begun | a reader at once | all rows afterwards | left by vacuum |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        text = "\n".join([*head, *lines]) + "\n"
        print(text)
        if arguments.result:
            arguments.result.write_text(text)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
