"""Sessions with Delta, Iceberg and ours, and the table that is rewritten, in each format."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "benchmarks"))
sys.path.insert(0, str(TOP / "benchmarks" / "peers"))
import peers

VERSION = (TOP / "VERSION").read_text().strip()
JAR = TOP / f"target/jars/spark-zorder-spark3.5_2.12-{VERSION}.jar"
EXTENSIONS = (
    peers.DELTA_EXTENSION,
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "org.apache.spark.sql.zorder.ZOrderExtensions",
)
ROWS = 20_000
FORMATS = ("parquet", "delta", "iceberg")


def session(folder: Path) -> SparkSession:
    """A local session whose catalog `ice` lies in the folder."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.extraClassPath": ":".join(str(jar) for jar in [JAR, *peers.jars()]),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.zorder.commit.waitSeconds": "0.3",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("spark-zorder faults")
    for key, value in settings.items():
        builder.config(key, value)
    return builder.getOrCreate()


def target(folder: Path, kind: str) -> str:
    """The table as our statements name it."""
    return "ice.db.t" if kind == "iceberg" else f"'{folder / kind}'"


def rows(spark: SparkSession) -> DataFrame:
    """Rows in no order of a and b."""
    return spark.range(0, ROWS, 1, 4).selectExpr(
        "id", "cast(pmod(xxhash64(id, 1), 1000) as int) a", "pmod(xxhash64(id, 2), 100000) b", "uuid() s"
    )


def create(spark: SparkSession, folder: Path, kind: str) -> None:
    """The table, clustered once."""
    if kind == "iceberg":
        spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        rows(spark).writeTo("ice.db.t").create()
    else:
        rows(spark).write.format(kind).save(str(folder / kind))


def read(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    """The table as everybody reads it, nothing cached."""
    if kind == "iceberg":
        spark.sql("REFRESH TABLE ice.db.t")
        return spark.table("ice.db.t")
    spark.catalog.refreshByPath(str(folder / kind))
    return spark.read.format(kind).load(str(folder / kind))


def fingerprint(df: DataFrame) -> tuple[int, int]:
    """Number of rows and a sum over all values that does not depend on their order."""
    found = df.selectExpr("count(*) n", "sum(cast(xxhash64(id, a, b, s) as decimal(38,0))) s").head()
    assert found is not None
    return found["n"], int(found["s"])
