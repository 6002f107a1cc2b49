"""A session of Spark 3.5 or 4.1 with its peers and ours; an Iceberg catalog `ice` lies in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

import peers
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import input_file_name

if TYPE_CHECKING:
    from collections.abc import Sequence

TOP = Path(__file__).resolve().parent.parent.parent
VERSION = (TOP / "VERSION").read_text().strip()
LINE = "4.1_2.13" if peers.ON_NEWEST else "3.5_2.12"
JAR = TOP / f"target/jars/spark-zorder-spark{LINE}-{VERSION}.jar"
EXTENSIONS = (
    peers.DELTA_EXTENSION,
    # Hudi's parser takes every CALL: Iceberg's must see it first
    *(["org.apache.spark.sql.hudi.HoodieSparkSessionExtension"] if peers.HUDI else []),
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "org.apache.spark.sql.zorder.ZOrderExtensions",
)
OF_HUDI = {"spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar"} if peers.HUDI else {}


def session(
    folder: Path, memory: str = "2g", cores: int = 2, classes: Sequence[Path] = (), **more: str
) -> SparkSession:
    """Local, no UI, nothing written outside the folder; `more` are settings with `__` for dots."""
    if not JAR.is_file():
        raise SystemExit(f"{JAR.relative_to(TOP)} is missing: run `make jars` first.")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.memory": memory,
        "spark.driver.extraClassPath": ":".join(str(jar) for jar in [JAR, *peers.jars(), *classes]),
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        **OF_HUDI,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("spark-zorder and its peers")
    for key, value in settings.items():
        builder.config(key, value)
    return builder.getOrCreate()


def files(table: DataFrame) -> list[Path]:
    """The files that hold the rows of a table, whatever its format."""
    paths = [row[0] for row in table.select(input_file_name()).distinct().collect()]
    return [Path(unquote(urlparse(path).path)) for path in sorted(paths)]
