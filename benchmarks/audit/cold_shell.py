"""Time of the audit without Spark, from the start of the process to its end, for 1,000 local files.

    python benchmarks/audit/cold_shell.py               9 runs of each command
    python benchmarks/audit/cold_shell.py --runs 1      to see that it works

Files have 23 columns, as those of store_sales, and two row groups. Each run is a process of its own; the
files are in the page cache. Ends with 1 where the median is above three seconds.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import machine
import result_file

FILES, ROWS, LIMIT = 1_000, 400, 3.0


def main() -> int:
    """Writes the files, runs the commands and keeps the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="zorder-audit-") as folder:
        write(Path(folder))
        commands = {
            "audit PATH --columns n1,s1": [folder, "--columns", "n1,s1"],
            "audit PATH --columns n1,n2,n3,s1 --json": [folder, "--columns", "n1,n2,n3,s1", "--json"],
        }
        times = {name: [seconds(words) for _ in range(runs)] for name, words in commands.items()}
    result_file.show(text(times), "audit-shell", keep=runs > 1)
    return int(max(statistics.median(wall for wall, _ in t) for t in times.values()) > LIMIT)


def write(folder: Path) -> None:
    """12 columns of numbers, 5 of texts and 6 of prices, in no order."""
    rng = random.Random(1)
    for n in range(FILES):
        columns = {f"n{i}": [rng.randint(0, 10**6) for _ in range(ROWS)] for i in range(12)}
        columns |= {f"s{i}": [f"v{rng.randint(0, 10**6):07d}" for _ in range(ROWS)] for i in range(5)}
        columns |= {f"x{i}": [rng.random() for _ in range(ROWS)] for i in range(6)}
        path = folder / f"part-{n:05d}.parquet"
        parquet.write_table(pa.table(columns), path, row_group_size=ROWS // 2)


def seconds(words: list[str]) -> tuple[float, float]:
    """From the start of a new Python to its end, by the clock and of CPU."""
    before = cpu()
    command = [sys.executable, "-m", "spark_zorder", "audit", *words]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, env=os.environ, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return time.perf_counter() - start, cpu() - before


def cpu() -> float:
    """Of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def text(times: dict[str, list[tuple[float, float]]]) -> str:
    """The result as Markdown."""
    lines = [
        "# The audit without Spark, from a cold shell",
        "",
        f"`benchmarks/audit/cold_shell.py`, pyarrow {pa.__version__}: {FILES:,} local files of 23 columns",
        "and two row groups, from the start of the process to its end. " + machine.line("none"),
        "",
        "| command | median s | least s | greatest s | median CPU s |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for name, found in times.items():
        walls, cpus = zip(*found)
        figures = [statistics.median(walls), min(walls), max(walls), statistics.median(cpus)]
        lines.append(f"| `{name}` | {' | '.join(f'{x:.2f}' for x in figures)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
