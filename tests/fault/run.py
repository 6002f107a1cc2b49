"""Kills the driver of a run at random moments and looks at the table: no row is lost or doubled.

    python tests/fault/run.py --kills 500          # what `make fault-test` does; hours

After every kill the table is read as it lies there: it has all its rows, or says clearly that it cannot be
read (plain Parquet, between two renames). Then a vacuum recovers plain Parquet, and it has all its rows; on
the others, which have nothing to recover, it comes after every tenth kill. One of the tables is larger than a
batch, so that a run of it is many commits. Beside two of them, the session of this program never stops to
delete, update and merge rows while a driver lives, so that runs are put on what others removed.
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
import watched
from drivers import AFTER, STEPS, Driver, Drivers, under_way

# a run is killed in one of its steps, each as often as any other, the commit four times as often
DANGER = ("commit",) * 3
RUNS = 2
# of a run in steps: about as many commits as two runs have, and the lines on the last of them
STEP_COMMITS = 12
LAST_STEPS = 7
# beside a writer: of the first so many refused commits one, if there is one in so many seconds, and about as
# long as the round after it takes
REFUSALS = 3
REFUSAL_SECONDS = 40.0
ROUND_SECONDS = 1.5
WHERE = (*STEPS, AFTER)
# of rows, and of Iceberg's deletion vectors
DATA = (".parquet", ".puffin")


def killed(drivers: Drivers, kind: str, chance: random.Random) -> tuple[int, str]:
    """Kills a driver in a step of one of its first runs; the runs that it had begun, and the step."""
    driver = drivers.next(kind)
    if kind in tables.BESIDE_WRITER:
        return killed_when_refused(driver, chance)
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


def killed_when_refused(driver: Driver, chance: random.Random) -> tuple[int, str]:
    """Kills a driver soon after one of its first refused commits, if there are any."""
    driver.await_refused(chance.randint(1, REFUSALS), REFUSAL_SECONDS)
    time.sleep(chance.uniform(0.0, ROUND_SECONDS))
    runs = driver.kill()
    steps = driver.ended()
    begun = max((n for n, (name, _) in enumerate(steps) if name == STEPS[0]), default=0)
    refused = driver.refused()[begun:]
    if not any(refused):
        return runs, "before a refusal"
    if refused[-1]:
        return runs, "while re-basing"
    return runs, AFTER if steps[-1][0] == "commit" else "between re-basing and the next commit"


def looked_at(table: watched.Alone) -> str:
    """What a reader sees right after the kill."""
    try:
        wrong = table.wrong()
    except Exception as error:
        if table.kind != "parquet":
            raise
        return f"error: {type(error).__name__}"
    if wrong:
        raise SystemExit(f"{table.kind}: a reader saw {wrong}, without an error")
    return "all rows"


def age(folder: Path) -> None:
    """Makes files two days old: a vacuum keeps younger ones that no snapshot has."""
    old = time.time() - 2 * 24 * 3600
    for path in folder.rglob("*"):
        if path.suffix in DATA:
            os.utime(path, (old, old))


def vacuum_all(spark: tables.SparkSession, folder: Path, kind: str) -> None:
    """Ends this program if a vacuum leaves data files under or beside the table that no reader reads."""
    name = tables.of_iceberg(kind)
    if name:
        age(folder / "ice")
    said = spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)} RETAIN 0 HOURS").collect()
    live = {f.name for f in tables.session.files(tables.read(spark, folder, kind))}
    if name:
        vectors = spark.sql(f"SELECT file_path FROM {name}.delete_files").collect()
        live |= {Path(row[0]).name for row in vectors}
    # a staging directory of plain Parquet lies beside the table, and has its name in its own
    roots = [folder / name.replace(".", "/")] if name else [p for p in folder.iterdir() if kind in p.name]
    logs = {"_delta_log", ".hoodie"}
    found = [p for root in roots for p in root.rglob("*") if p.suffix in DATA and p.name not in live]
    left = sorted(str(p.relative_to(folder)) for p in found if not logs.intersection(p.parts))
    if left:
        what = f"{len(left)} files that nobody reads, such as {left[0]}"
        raise SystemExit(f"{kind}: a vacuum left {what}; it said {said}")


def campaign(
    spark: tables.SparkSession, drivers: Drivers, folder: Path, kind: str, kills: int, seed: int
) -> tuple[str, str]:
    """The kills of one format; a line for each table of the result."""
    table = watched.table(spark, folder, kind, seed)
    chance = random.Random(seed)
    seen: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    runs = 0
    for i in range(kills):
        start = time.monotonic()
        table.begin()
        try:
            begun, step = killed(drivers, kind, chance)
        finally:
            table.end()
        runs += begun
        steps[step] += 1
        at_once = looked_at(table)
        seen[at_once] += 1
        # formats with transactions have nothing to recover: the next driver's runs find the table as it is
        if kind == "parquet" or i % 10 == 9:
            spark.sql(f"ZORDER VACUUM {tables.target(folder, kind)}").collect()
            if wrong := table.wrong():
                raise SystemExit(f"{kind}: after recovery {i + 1} there are {wrong}")
        took = time.monotonic() - start
        print(
            f"{kind}: kill {i + 1} of {kills} in run {begun}: {step}; then {at_once} ({took:.1f} s)",
            flush=True,
        )
    vacuum_all(spark, folder, kind)
    if wrong := table.wrong():
        raise SystemExit(f"{kind}: after the last vacuum there are {wrong}")
    readers = "; ".join(f"{what}: {n}" for what, n in sorted(seen.items()))
    line = f"| {kind} | {kills} | {runs} | {readers} | {kills} of {kills} | none |"
    if kind == "steps" or kind in tables.BESIDE_WRITER:
        moments = ", ".join(f"{n} {moment}" for moment, n in sorted(steps.items()))
        return line, f"\nThe kills of `{kind}` by moment: {moments}.{table.note()}"
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
        head = [
            "# A driver that is killed",
            "",
            f"`python tests/fault/run.py --kills {arguments.kills} --seed {arguments.seed} "
            f"--formats {' '.join(arguments.formats)}`, {time.strftime('%Y-%m-%d')}, Spark {spark.version},",
            f"{tables.session.peers.versions()}: kill -9 of a driver that",
            f"rewrites {tables.ROWS:,} rows again and again, in a step",
            f"and a moment of its first {RUNS} runs that chance takes. A reader looks at once; then a vacuum",
            "recovers (after every tenth kill, but on Parquet after each). `steps` is a Delta table that is",
            "clustered in many commits, and the next run goes on where one died; `liquid` is one with liquid",
            "clustering. Beside `rebased` (Delta with deletion vectors) and `marked` (Iceberg, version 3) a",
            "writer never stops to delete, update and merge rows while a driver lives; they are killed soon",
            "after a refused commit, and a reader must find the rows that the writer knows.",
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
    except BaseException:
        print(f"The tables are in {folder}.")
        raise
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
