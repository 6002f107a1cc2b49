"""The 22 queries of TPC-H in every layout: unclustered, ours, and those of Delta and Iceberg.

    python benchmarks/tpch/run.py                  scale 3, 64 files of lineitem; hours
    python benchmarks/tpch/run.py --scale 0.05 --files 8 --pairs 1 --queries q3,q6       a trial
    python benchmarks/tpch/run.py --lines hand,delta-zorder      a part; a part is kept with --keep alone
    python benchmarks/tpch/run.py --parts parts.jsonl       keeps each query; the same command goes on there

All layouts have the same columns, chosen by hand before anything was measured, and as many files. One more
has the columns that `clustering_advice` proposes for the 22 queries. Ends with 1 where answers differ or a
target is missed: on the slow store 8 queries or more 1.5 times as fast as unclustered, and on no store a
slower one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tpc"))
import bench
import tables
from workload import Wanted, Workload

NOTE = "lineitem and orders come in the order of their keys, as the generator writes them."


def queries() -> dict[str, str]:
    """Name to text."""
    text = (Path(__file__).resolve().parent / "queries.sql").read_text()
    parts = re.split(r"^-- (q\d+)$", text, flags=re.MULTILINE)[1:]
    return {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}


def main() -> int:
    """Measures, writes the result file."""
    given, whole = bench.arguments(__doc__, scale=3)
    wanted = Wanted(queries=8, times=1.5)
    workload = Workload("tpch", "TPC-H", tables.source, tables.CLUSTERED, queries(), wanted, NOTE)
    return bench.run(workload, given, keep=whole)


if __name__ == "__main__":
    sys.exit(main())
