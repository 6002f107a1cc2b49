"""One table in the formats of Delta, Iceberg and Hudi: as it came, as each of them clusters it, as we do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import session

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

BY = ("ss_customer_sk", "ss_cdemo_sk")
NAMES = ", ".join(BY)
# Hudi's Bloom filter fills much of a file so small, and it cuts more of them than it is asked for: 390 by the
# size that the others get, 18 by six times as much
HUDI_LARGER = 2


def delta(
    spark: SparkSession, source: DataFrame, path: Path, clustered: bool = False, by: Sequence[str] = BY
) -> DataFrame:
    """The table as Delta, in the order it came in."""
    if clustered:
        columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in source.schema)
        spark.sql(f"CREATE TABLE delta.`{path}` ({columns}) USING delta CLUSTER BY ({', '.join(by)})")
    source.write.format("delta").mode("append").save(str(path))
    return spark.read.format("delta").load(str(path))


def delta_own(
    spark: SparkSession,
    source: DataFrame,
    path: Path,
    files: int,
    clustered: bool = False,
    by: Sequence[str] = BY,
    **settings: str,
) -> DataFrame:
    """Delta's OPTIMIZE, its target size so that it makes so many files."""
    table = delta(spark, source, path, clustered, by)
    size = sum(f.stat().st_size for f in session.files(table))
    settings = {"spark.databricks.delta.optimize.maxFileSize": str(size // files), **settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        order = "" if clustered else f" ZORDER BY ({', '.join(by)})"
        spark.sql(f"OPTIMIZE delta.`{path}`{order}").collect()
    finally:
        for key in settings:
            spark.conf.unset(key)
    return spark.read.format("delta").load(str(path))


def iceberg(spark: SparkSession, source: DataFrame, name: str) -> DataFrame:
    """The table as Iceberg, in the order it came in."""
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    source.writeTo(f"ice.db.{name}").create()
    return spark.table(f"ice.db.{name}")


def iceberg_own(
    spark: SparkSession,
    source: DataFrame,
    name: str,
    files: int,
    by: Sequence[str] = BY,
    curve: str = "zorder",
) -> DataFrame:
    """Iceberg's rewrite_data_files by a curve; `hilbert` is in the newest jars alone."""
    size = sum(f.stat().st_size for f in session.files(iceberg(spark, source, name)))
    options = f"map('rewrite-all', 'true', 'target-file-size-bytes', '{size // files}')"
    spark.sql(
        f"CALL ice.system.rewrite_data_files(table => 'db.{name}', strategy => 'sort', "
        f"sort_order => '{curve}({','.join(by)})', options => {options})"
    ).collect()
    spark.sql(f"REFRESH TABLE ice.db.{name}")
    return spark.table(f"ice.db.{name}")


def hudi(spark: SparkSession, source: DataFrame, path: Path) -> DataFrame:
    """The table as Hudi, in the order it came in; Hudi makes up the record keys."""
    settings = {"hoodie.table.name": path.name, "hoodie.datasource.write.operation": "bulk_insert"}
    source.write.format("hudi").options(**settings).mode("append").save(str(path))
    return spark.read.format("hudi").load(str(path))


def hudi_own(
    spark: SparkSession, source: DataFrame, path: Path, files: int, curve: str, build: str
) -> DataFrame:
    """Hudi's run_clustering, without its limits of a group, so that one curve spans the table."""
    table = hudi(spark, source, path)
    size = sum(f.stat().st_size for f in session.files(table))
    plan = "hoodie.clustering.plan.strategy"
    settings = {
        "hoodie.layout.optimize.curve.build.method": build,
        f"{plan}.small.file.limit": size * 4,
        f"{plan}.max.bytes.per.group": size * 4,
        f"{plan}.target.file.max.bytes": size // files * HUDI_LARGER,
    }
    options = ",".join(f"{key}={value}" for key, value in settings.items())
    spark.sql(
        f"CALL run_clustering(path => '{path}', order => '{','.join(BY)}', "
        f"order_strategy => '{curve}', options => '{options}')"
    ).collect()
    return spark.read.format("hudi").load(str(path))


def ours(spark: SparkSession, target: str, files: int, by: Sequence[str] = BY) -> None:
    """ZORDER TABLE by the same columns into as many files."""
    columns = ", ".join(by)
    done = spark.sql(f"ZORDER TABLE {target} BY ({columns}) WITH (fileCount = {files}, force = true)").head()
    assert done is not None
    assert done["status"] == "DONE", done["reason"]
