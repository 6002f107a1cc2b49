"""A driver that clusters one table again and again, until somebody kills it: victim.py FOLDER.

It starts its session, says `ready` and waits for a line with the format of the table. Each run says `run N`
on standard output, and its steps on standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path

import tables

folder = Path(sys.argv[1])
spark = tables.start(folder, spark__zorder__progress__show="true", **tables.QUICK_START)
print("ready", flush=True)
kind = sys.stdin.readline().strip()
for i in range(1000 if kind else 0):
    columns = "a, b" if i % 2 else "b, a"
    print(f"run {i}", flush=True)
    spark.sql(tables.statement(folder, kind, columns)).collect()
