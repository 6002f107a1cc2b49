"""Kills the driver of a run at random moments and looks at the table: no row is lost or doubled.

    python tests/fault/run.py --kills 500          # what `make fault-test` does; hours

After every kill the table is read as it lies there: it has all its rows, or says clearly that it cannot be
read (plain Parquet, between two renames). Then a vacuum recovers plain Parquet, and it has all its rows; on
the others, which have nothing to recover, it comes after every tenth kill. One of the tables is larger than a
batch, so that a run of it is many commits.
At the end a vacuum leaves no file that the table does not know.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import tables
from drivers import AFTER, STEPS, Drivers, under_way

# a run is killed in one of its steps, each as often as any other, the commit four times as often
DANGER = ("commit",) * 3
RUNS = 2
# of a run in steps: about as many commits as two runs have, and the lines on the last of them
STEP_COMMITS = 12
LAST_STEPS = 7
WHERE = (*STEPS, AFTER)


def killed(drivers: Drivers, kind: str, chance: random.Random) -> tuple[int, str]:
    """Kills a driver in a step of one of its first runs; the runs that it had begun, and the step."""
    driver = drivers.next(kind)
    if kind == "steps":
        driver.await_ended("commit", chance.randrange(STEP_COMMITS))
        seconds = driver.ended()[-LAST_STEPS:]
        time.sleep(chance.uniform(0.0, sum(s for _, s in seconds) + 0.1))
        runs = driver.kill()
        return runs, f"after {sum(name == 'commit' for name, _ in driver.ended()):2} commits"
    step = chance.choice((*STEPS, *DANGER))
    driver.await_step(step, chance.randrange(RUNS))
    # a step lasts about as long as in the run before; the first one is taken for slow
    seconds = [s for name, s in driver.ended() if name == step][-1:] or [0.5]
    time.sleep(chance.uniform(0.0, seconds[0] + 0.1))
    runs = driver.kill()
    return runs, under_way(driver.ended())


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


def age(folder: Path) -> None:
    """Makes files two days old: a vacuum keeps younger ones that no snapshot has."""
    old = time.time() - 2 * 24 * 3600
    for path in folder.rglob("*.parquet"):
        os.utime(path, (old, old))


def leftovers(spark: tables.SparkSession, folder: Path, kind: str) -> list[str]:
    """Data files under and beside the table that no reader reads, after a vacuum."""
    if kind == "iceberg":
        age(folder / "ice")
    spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)} RETAIN 0 HOURS").collect()
    live = {f.name for f in tables.session.files(tables.read(spark, folder, kind))}
    # a staging directory of plain Parquet lies beside the table, and has its name in its own
    roots = [folder / "ice"] if kind == "iceberg" else [p for p in folder.iterdir() if kind in p.name]
    logs = {"_delta_log", ".hoodie"}
    found = [p for root in roots for p in root.rglob("*.parquet") if not logs.intersection(p.parts)]
    return sorted(str(p.relative_to(folder)) for p in found if p.name not in live)


def campaign(
    spark: tables.SparkSession, drivers: Drivers, folder: Path, kind: str, kills: int, seed: int
) -> tuple[str, str]:
    """The kills of one format; a line for each table of the result."""
    tables.create(spark, folder, kind)
    whole = tables.fingerprint(tables.read(spark, folder, kind))
    chance = random.Random(seed)
    seen: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    runs = 0
    for i in range(kills):
        start = time.monotonic()
        begun, step = killed(drivers, kind, chance)
        runs += begun
        steps[step] += 1
        at_once = looked_at(spark, folder, kind, whole)
        seen[at_once] += 1
        # formats with transactions have nothing to recover: the next driver's runs find the table as it is
        if kind == "parquet" or i % 10 == 9:
            spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)}").collect()
            after = tables.fingerprint(tables.read(spark, folder, kind))
            if after != whole:
                raise SystemExit(f"{kind}: after recovery {i + 1} there are {after} and not {whole}")
        took = time.monotonic() - start
        print(
            f"{kind}: kill {i + 1} of {kills} in run {begun}: {step}; then {at_once} ({took:.1f} s)",
            flush=True,
        )
    left = leftovers(spark, folder, kind)
    if left:
        raise SystemExit(f"{kind}: a vacuum left {len(left)} files that nobody reads, such as {left[0]}")
    readers = "; ".join(f"{what}: {n}" for what, n in sorted(seen.items()))
    line = f"| {kind} | {kills} | {runs} | {readers} | {kills} of {kills} | none |"
    if kind == "steps":
        moments = ", ".join(f"{n} {moment}" for moment, n in sorted(steps.items()))
        return line, f"\nThe kills of `steps` by moment: {moments}."
    return line, f"| {kind} | " + " | ".join(str(steps[step]) for step in WHERE) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=500, help="over all formats together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", nargs="+", default=list(tables.FORMATS), choices=tables.FORMATS)
    parser.add_argument("--result", type=Path, help="a file for the table of results")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-faults-"))
    try:
        spark = tables.start(folder)
        drivers = Drivers(folder)
        each = -(-arguments.kills // len(arguments.formats))
        try:
            lines = [
                campaign(spark, drivers, folder, kind, each, arguments.seed + n)
                for n, kind in enumerate(arguments.formats)
            ]
        finally:
            drivers.close()
        peers = tables.session.peers
        head = [
            "# A driver that is killed",
            "",
            f"`python tests/fault/run.py --kills {arguments.kills} --seed {arguments.seed} "
            f"--formats {' '.join(arguments.formats)}`, {time.strftime('%Y-%m-%d')}, Spark {spark.version},",
            f"Delta {peers.DELTA}, Iceberg {peers.ICEBERG}, Hudi {peers.HUDI}: kill -9 of a driver that",
            f"rewrites {tables.ROWS:,} rows again and again, in a step",
            f"and a moment of its first {RUNS} runs that chance takes. A reader looks at once; then a vacuum",
            "recovers (after every tenth kill, but on Parquet after each). `steps` is a Delta table that is",
            "clustered in many commits, and the next run goes on where one died.",
            "",
            "| format | kills | runs begun | a reader at once | all rows afterwards | left by vacuum |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        where = [
            "",
            "In which step the runs were:",
            "",
            "| format | " + " | ".join(WHERE) + " |",
            "| --- |" + " --- |" * len(WHERE),
        ]
        # what is no row of the table comes behind it
        moments = sorted((steps for _, steps in lines), key=lambda text: not text.startswith("|"))
        text = "\n".join([*head, *(line for line, _ in lines), *where, *moments]) + "\n"
        print(text)
        if arguments.result:
            arguments.result.write_text(text)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
