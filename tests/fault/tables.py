"""Sessions with Delta, Iceberg, Hudi and ours, and the table that is rewritten, in each format.

The Spark is that of the environment: 3.5, or 4.1 with the newest Delta and Iceberg and without Hudi.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "benchmarks/peers"))
import session

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWS = 20_000
BATCH = 10
HUDI = {"hoodie.table.name": "t", "hoodie.datasource.write.recordkey.field": "id"}
# tables of `races` where others remove rows during a run: its files are written again without them, or these
# rows are marked there
BESIDE_WRITER = {"rebased": "delta-vectors", "marked": "iceberg-v3"}
# `steps` is a Delta table that is larger than a batch, and clustered commit by commit; `liquid` is one with
# liquid clustering
FORMATS = ("parquet", "delta", "iceberg", "hudi", "steps", "liquid", *BESIDE_WRITER)
STEP_BYTES = 400_000
# for a JVM that lives some seconds
QUICK_START = {"spark__driver__extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def start(folder: Path, more_jars: Sequence[Path] = (), **more: str) -> SparkSession:
    """A small session that waits for nobody; `more` are settings with `__` for dots."""
    return session.session(
        folder,
        memory="1g",
        classes=more_jars,
        spark__sql__shuffle__partitions="2",
        spark__databricks__delta__retentionDurationCheck__enabled="false",
        spark__sql__sources__parallelPartitionDiscovery__parallelism="2",
        spark__zorder__commit__waitSeconds="0.3",
        # each application sees at once what the other has committed
        **{"spark__sql__catalog__ice__cache-enabled": "false"},
        **more,
    )


def target(folder: Path, kind: str) -> str:
    """The table as our statements name it."""
    return of_iceberg(kind) or f"'{folder / kind}'"


def of_iceberg(kind: str) -> str | None:
    """The name of an Iceberg table."""
    return {"iceberg": "ice.db.t", "marked": "ice.db.marked"}.get(kind)


def storage(kind: str) -> str:
    """The format that Spark reads and writes."""
    return "delta" if kind in ("steps", "liquid", "rebased") else kind


def statement(folder: Path, kind: str, columns: str) -> str:
    """A run by these columns. One in steps goes on where another has died."""
    table, options = target(folder, kind), "fileCount = 8, force = true"
    if kind == "steps":
        return f"ZORDER TABLE {table} BY ({columns}) WITH ({options}, maxBytesInFlight = {STEP_BYTES})"
    return f"ZORDER TABLE {table} FULL BY ({columns}) WITH ({options})"


def rows(spark: SparkSession) -> DataFrame:
    """Rows in no order of a and b."""
    return spark.range(0, ROWS, 1, 4).selectExpr(
        "id", "cast(pmod(xxhash64(id, 1), 1000) as int) a", "pmod(xxhash64(id, 2), 100000) b", "uuid() s"
    )


def batch(spark: SparkSession, first: int) -> DataFrame:
    """Some rows to append."""
    return spark.range(first, first + BATCH, 1, 1).selectExpr(
        "id", "cast(id % 1000 as int) a", "id % 99991 b", "'new' s"
    )


def create(spark: SparkSession, folder: Path, kind: str) -> None:
    """The table, clustered once."""
    if kind == "iceberg":
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        rows(spark).writeTo("ice.db.t").create()
    else:
        if kind == "liquid":
            columns = "id BIGINT, a INT, b BIGINT, s STRING"
            spark.sql(f"CREATE TABLE delta.`{folder / kind}` ({columns}) USING delta CLUSTER BY (a, b)")
        options = HUDI if kind == "hudi" else {}
        mode = "append" if kind == "liquid" else "error"
        rows(spark).write.format(storage(kind)).options(**options).mode(mode).save(str(folder / kind))


def read(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    """The table as everybody reads it, nothing cached."""
    if name := of_iceberg(kind):
        spark.sql(f"REFRESH TABLE {name}")
        return spark.table(name)
    spark.catalog.refreshByPath(str(folder / kind))
    return spark.read.format(storage(kind)).load(str(folder / kind))


def fingerprint(df: DataFrame) -> tuple[int, int]:
    """Number of rows and a sum over all values that does not depend on their order."""
    found = df.selectExpr("count(*) n", "sum(cast(xxhash64(id, a, b, s) as decimal(38,0))) s").head()
    assert found is not None
    return found["n"], int(found["s"])
