"""36 queries of TPC-DS in every layout: unclustered, ours, and those of Delta and Iceberg.

    python benchmarks/tpcds/run.py                 scale 1, 64 files of store_sales; hours
    python benchmarks/tpcds/run.py --scale 0.05 --files 8 --pairs 1 --queries q3,q6       a trial
    python benchmarks/tpcds/run.py --lines hand,delta-zorder      a part; a part is kept with --keep alone
    python benchmarks/tpcds/run.py --parts parts.jsonl       keeps each query; the same command goes on there

Every table of sales, returns and inventory is clustered by its date and its item, in all layouts alike,
chosen before anything was measured. One more layout has the columns that `clustering_advice` proposes for the
queries. Ends with 1 where answers differ or a target is missed: on the slow store 20 queries or more twice as
fast as unclustered, and on no store a slower one.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "demo"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tpc"))
import bench
import tables
import texts
from workload import Wanted, Workload

NOTE = (
    "They join their largest table by date or item under a narrow filter (the rule stands in "
    "`benchmarks/tpcds/texts.py`).\nWithout spark-zorder, no layout leaves out files by the keys of a join. "
    "Sales come in the\norder of their tickets and orders, as the generator writes them."
)


def main() -> int:
    """Measures, writes the result file."""
    given, whole = bench.arguments(__doc__, scale=1)
    wanted = Wanted(queries=20, times=2)
    workload = Workload("tpcds", "TPC-DS", tables.source, tables.CLUSTERED, texts.queries(), wanted, NOTE)
    return bench.run(workload, given, keep=whole)


if __name__ == "__main__":
    sys.exit(main())
