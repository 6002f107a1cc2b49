"""A driver that clusters one table again and again, until somebody kills it: victim.py FOLDER FORMAT."""

from __future__ import annotations

import sys
from pathlib import Path

import tables

folder, kind = Path(sys.argv[1]), sys.argv[2]
spark = tables.start(folder)
target = tables.target(folder, kind)
for i in range(1000):
    columns = "a, b" if i % 2 else "b, a"
    print(f"run {i}", flush=True)
    spark.sql(f"ZORDER TABLE {target} FULL BY ({columns}) WITH (fileCount = 8, force = true)").collect()
