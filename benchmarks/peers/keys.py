"""CPU time per row of a query over a key: zorder(a, b) beside the keys of Iceberg and Delta, in one session.

    python benchmarks/peers/keys.py                 3 million rows, 7 rounds
    python benchmarks/peers/keys.py --trial         the same, its result is printed and not kept

Each key is asked for in two queries: its maximum, for which Spark leaves generated code (no maximum of
BINARY is in it), and the maximum of its hash, all of which is one stage of generated code. The same query
over `a ^ b` says what all but the key costs: as BINARY with the maximum of arrays, as BIGINT the rows
alone. Rounds take the queries in turn. CPU time is that of the task's thread, from Spark's own task
metrics. Use a quiet machine.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Column, SparkSession, functions

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import machine
import peers
import result_file
import session
from cpu import cpu_ns
from key_report import BIGINT, BINARY, DELTA, HASHED, HILBERT, ICEBERG, PLAIN, ZORDER, report

if TYPE_CHECKING:
    from key_report import Figures
    from pyspark.sql import DataFrame

WARM_UP = 2
QUERIES = {PLAIN: functions.max, HASHED: lambda key: functions.max(functions.xxhash64(key))}


def table(spark: SparkSession, rows: int) -> DataFrame:
    """Columns `a INT` (700 values) and `b BIGINT` (3 million), spread by multiplications."""
    return spark.range(0, rows, 1, 1).selectExpr(
        "cast((id * 48271) % 700 as int) as a", "(id * 1103515245 + 12345) % 3000000 as b"
    )


def keys(df: DataFrame) -> dict[str, Column]:
    """What is measured."""
    mixed = functions.col("a").cast("bigint").bitwiseXOR(functions.col("b"))
    return {
        BIGINT: mixed,
        BINARY: mixed.cast("binary"),
        ZORDER: functions.call_function("zorder", "a", "b"),
        HILBERT: functions.call_function("hilbert", "a", "b"),
        ICEBERG: peers.iceberg_key(df, "a", "b"),
        DELTA: peers.delta_key(df, "a", "b"),
    }


def measure(df: DataFrame, rounds: int, rows: int) -> Figures:
    """Nanoseconds of CPU per row by query and key, one figure a round; every other round goes backwards."""
    queries = {(q, k): df.select(make(key)) for q, make in QUERIES.items() for k, key in keys(df).items()}
    found: Figures = {name: [] for name in queries}
    for i in range(-WARM_UP, rounds):
        for name in queries if i % 2 else reversed(queries):
            took = cpu_ns(queries[name]) / rows
            if i >= 0:
                found[name].append(took)
        print(f"round {i + 1}" if i >= 0 else "warm-up", flush=True)
    return found


def setting(spark: SparkSession, rows: int, rounds: int) -> list[str]:
    """What was measured with what, and where."""
    return [
        f"- {time.strftime('%Y-%m-%d')}; {rows:,} rows made by `range`, median of {rounds} rounds after "
        f"{WARM_UP} of warm-up",
        f"- spark-zorder {session.VERSION}, Spark {spark.version}, Iceberg {peers.ICEBERG}, "
        f"Delta {peers.DELTA}, master {spark.sparkContext.master}",
        f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
    ]


def main() -> int:
    """Measures and writes the result file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--trial", action="store_true", help="prints the result and keeps nothing")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-keys-"))
    # one core, so that a task's thread has all the time that its work takes
    spark = session.session(folder, cores=1)
    found = measure(table(spark, arguments.rows), arguments.rounds, arguments.rows)
    text = report(found, setting(spark, arguments.rows, arguments.rounds))
    result_file.show(text, "keys-peers", keep=not arguments.trial)
    spark.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
