"""A driver that clusters one table again and again, until somebody kills it: victim.py FOLDER.

It starts its session, says `ready` and waits for a line with the format of the table. Each run says `run N`
on standard output, and its steps on standard error. Beside a writer it rests between two runs, or its commits
would leave no statement of the writer the time to end.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import tables

REST_SECONDS = 2.0

folder = Path(sys.argv[1])
spark = tables.start(folder, spark__zorder__progress__show="true", **tables.QUICK_START)
print("ready", flush=True)
kind = sys.stdin.readline().strip()
for i in range(1000 if kind else 0):
    columns = "a, b" if i % 2 else "b, a"
    print(f"run {i}", flush=True)
    try:
        spark.sql(tables.statement(folder, kind, columns)).collect()
    except Exception as error:
        if kind not in tables.BESIDE_WRITER or "ZORDER_CONFLICT" not in str(error):
            raise
    time.sleep(REST_SECONDS if kind in tables.BESIDE_WRITER else 0.0)
