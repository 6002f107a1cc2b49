"""A driver that clusters a table of a metastore again and again, until it is dead: FOLDER METASTORE.

It waits for a line with the table and the crash point at which its JVM halts, `-` for none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import shared
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

spark = shared.session(Path(sys.argv[1]), sys.argv[2], ours=True)
print("ready", flush=True)
table, point = (sys.stdin.readline().split() or ["", ""])[:2]
if point != "-" and table:
    spark._jvm.System.setProperty("spark.zorder.test.crash", point)
for i in range(1000 if table else 0):
    columns = "a, b" if i % 2 else "b, a"
    print(f"run {i}", flush=True)
    try:
        spark.sql(f"ZORDER TABLE db.{table} FULL BY ({columns}) WITH (fileCount = 2, force = true)").collect()
    except (PySparkException, Py4JJavaError) as error:
        # such as CONFLICT, when the writer was always at work; an error of the connection ends this process
        print(f"failed {str(error).splitlines()[0]}", flush=True)
