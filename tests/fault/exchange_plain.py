"""An application without our jar that appends to a table of a shared catalog and counts it: FOLDER METASTORE.

A line with a table and a number lets it append rows from that number, and count; an empty line ends that. It
answers with one line of JSON: its counts (begin, end, what it saw) and its appends (first row, what failed).
"""

from __future__ import annotations

import json
import random
import sys
import threading
import time
from pathlib import Path

import shared

# seconds between two appends: a run must find a moment without one
PAUSES = (0.2, 1.5)


def read(spark, table, stop, counts):
    while not stop.is_set():
        begin = time.time()
        try:
            seen = shared.counted(spark, table)
        except Exception as error:
            seen = str(error)[:2000]
        counts.append((begin, time.time(), seen))


def insert(table, first, chance):
    """Into all partitions, or into one, whose scratch directory is then that of the partition."""
    last = first + shared.BATCH
    if shared.TABLES[table][1] and chance.random() < 0.5:
        part = f"PARTITION (p = {chance.randrange(shared.PARTS)})"
        return f"INSERT INTO db.{table} {part} {shared.rows(first, last, partitioned=False)}"
    return f"INSERT INTO db.{table} {shared.rows(first, last, shared.TABLES[table][1])}"


def write(spark, table, first, stop, appends):
    chance = random.Random(first)
    while not stop.wait(chance.uniform(*PAUSES)):
        failure = ""
        try:
            spark.sql(insert(table, first, chance)).collect()
        except Exception as error:
            failure = str(error)[:2000] or type(error).__name__
        appends.append((first, failure))
        first += shared.BATCH


def main() -> None:
    spark = shared.session(Path(sys.argv[1]), sys.argv[2], ours=False)
    print("ready", flush=True)
    while line := sys.stdin.readline().split():
        stop, counts, appends = threading.Event(), [], []
        table, first = line[0], int(line[1])
        threads = [
            threading.Thread(target=read, args=(spark, table, stop, counts)),
            threading.Thread(target=write, args=(spark.newSession(), table, first, stop, appends)),
        ]
        for thread in threads:
            thread.start()
        sys.stdin.readline()
        stop.set()
        for thread in threads:
            thread.join()
        print(json.dumps({"counts": counts, "appends": appends}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
