"""Appends to the table `crowd` of a shared catalog, ten rows from each number that it reads: FOLDER PORT."""

from __future__ import annotations

import sys
from pathlib import Path

import applications
import tables

folder, port = Path(sys.argv[1]), int(sys.argv[2])
spark = tables.start(folder, **applications.settings(folder, port))
spark.table("crowd").count()  # from now on its files and their directory are in this session's cache
print("ready", flush=True)
for line in sys.stdin:
    tables.batch(spark, int(line)).write.insertInto("crowd")
    print("appended", flush=True)
spark.stop()
