"""Queries on Spark 4.1 with DataFusion Comet: the same answers as without it, from the same files.

    python tests/comet/run.py        by an environment that has pyspark 4.1; `make comet-test` runs it

Comet is a plugin that a JVM has from its start, so this is a process of its own. Each query runs three
times: with Comet and our skipping, without Comet, and without either. Ends with 1 where rows or files differ.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import spark_zorder
from pyspark.sql import DataFrame, SparkSession

TOP = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "benchmarks/demo"))
import data  # noqa: E402  (benchmarks are no package)

VERSION = (TOP / "VERSION").read_text().strip()
JAR = TOP / f"target/jars/spark-zorder-spark4.1_2.13-{VERSION}.jar"
DELTA, ICEBERG = "4.4.0", "1.12.0"
ARTIFACTS = (
    "org.apache.datafusion:comet-spark-spark4.1_2.13:1.2.0",
    f"io.delta:delta-spark_4.1_2.13:{DELTA}",
    f"io.delta:delta-storage:{DELTA}",
    f"io.delta:delta-kernel-api:{DELTA}",
    f"io.delta:delta-kernel-defaults:{DELTA}",
    f"org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:{ICEBERG}",
)
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "org.apache.spark.sql.zorder.ZOrderExtensions",
    "org.apache.comet.CometSparkSessionExtensions",
)
SKIPPING, COMET = "spark.zorder.skipping.enabled", "spark.comet.enabled"
# its broadcasts hold no relation of Spark's, so that a join tells no keys
BROADCAST = "spark.comet.exec.broadcastExchange.enabled"
FILES = 64
COLUMNS = ("id", "id % 97 AS b", "lpad(string(id), 8, '0') AS s")
LIST = ", ".join(str(i * 200) for i in range(300))
QUERIES = {
    "first rows": "SELECT id, s FROM {t} ORDER BY id DESC LIMIT 10",
    "first rows of a filter": "SELECT id FROM {t} WHERE id > 30000 ORDER BY id LIMIT 7",
    "three ids": "SELECT sum(b) x FROM {t} WHERE id IN (5, 30005, 60001)",
    "a long list": "SELECT count(*) c, sum(b) x FROM {t} WHERE id IN (" + LIST + ") AND id < 9000",
    "a text": "SELECT id FROM {t} WHERE s = '00030005'",
    "a range of two columns": "SELECT sum(id) x FROM {t} WHERE id BETWEEN 2000 AND 5000 AND b > 90",
    "an aggregate": "SELECT b, max(s) m FROM {t} WHERE id < 3000 GROUP BY b",
}
JOIN = "SELECT t.s FROM {t} t JOIN dim ON t.id = dim.k"


def main() -> int:
    """All queries of all tables."""
    with tempfile.TemporaryDirectory(prefix="spark-zorder-comet-") as folder:
        spark = session(Path(folder))
        wrong = []
        for kind, table in tables(spark, Path(folder)).items():
            for name, query in QUERIES.items():
                wrong += compared(spark, f"{kind}, {name}", query.format(t=table))
            wrong += joined(spark, kind, JOIN.format(t=table))
        wrong += [] if BROADCAST in doctor(spark) else ["the doctor does not tell what Comet's broadcasts do"]
        spark.stop()
    for sentence in wrong:
        print(f"FAILED: {sentence}", file=sys.stderr)
    print("comet-test: " + ("failed" if wrong else "passed"))
    return 1 if wrong else 0


def session(folder: Path) -> SparkSession:
    """Local, with Comet's scans of Parquet and Iceberg, and nothing written outside the folder."""
    if not JAR.is_file():
        raise SystemExit(f"{JAR.relative_to(TOP)} is missing: run `make jars` first.")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.memory": "2g",
        "spark.driver.extraClassPath": ":".join(str(jar) for jar in [JAR, *data.jars(ARTIFACTS)]),
        "spark.plugins": "org.apache.spark.CometPlugin",
        "spark.comet.scan.icebergNative.enabled": "true",
        "spark.shuffle.manager": "org.apache.spark.sql.comet.execution.shuffle.CometShuffleManager",
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": "2g",
        "spark.sql.extensions": ",".join(EXTENSIONS),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "4",
        "spark.databricks.delta.snapshotPartitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("spark-zorder with Comet")
    for key, value in settings.items():
        builder.config(key, value)
    return builder.getOrCreate()


def tables(spark: SparkSession, folder: Path) -> dict[str, str]:
    """The same rows in each format, in 64 files with a range of ids each; and a few keys to join with."""
    rows = spark.range(0, 1000 * FILES, 1, FILES).selectExpr(*COLUMNS)
    rows.write.parquet(str(folder / "plain"))
    spark.sql(f"ZORDER INDEX '{folder / 'plain'}' COLUMNS (id, b, s)").collect()
    rows.write.format("delta").save(str(folder / "delta"))
    spark.sql("CREATE TABLE ice.db.t (id BIGINT, b BIGINT, s STRING) USING iceberg")
    rows.writeTo("ice.db.t").option("distribution-mode", "none").append()
    spark.range(0, 5).selectExpr("id * 7000 AS k").write.parquet(str(folder / "dim"))
    spark.read.parquet(str(folder / "dim")).createOrReplaceTempView("dim")
    return {
        "plain Parquet": f"parquet.`{folder / 'plain'}`",
        "Delta": f"delta.`{folder / 'delta'}`",
        "Iceberg": "ice.db.t",
    }


def compared(spark: SparkSession, what: str, query: str) -> list[str]:
    """What is wrong with a query."""
    with_comet, files, native = answer(spark, query, comet=True, skipping=True)
    without_comet, same_files, _ = answer(spark, query, comet=False, skipping=True)
    expected, all_files, _ = answer(spark, query, comet=False, skipping=False)
    explained = kept(spark, query)
    print(f"{what}: {files} of {all_files} files by {native}", flush=True)
    wrong = []
    if with_comet != expected or without_comet != expected:
        wrong.append(f"{what}: the rows differ")
    if files != same_files or files >= FILES:
        wrong.append(f"{what}: {files} files with Comet, {same_files} without it, {all_files} without us")
    if explained != files:
        wrong.append(f"{what}: ZORDER EXPLAIN says {explained} files, Comet reads {files}")
    return wrong


def joined(spark: SparkSession, kind: str, query: str) -> list[str]:
    """Keys leave out files where Spark broadcasts them; answers are the same where Comet does."""
    expected, _, _ = answer(spark, query, comet=False, skipping=False)
    by_comet, all_files, _ = answer(spark, query, comet=True, skipping=True)
    told = reasons(spark, query)
    spark.conf.set(BROADCAST, "false")
    by_spark, files, native = answer(spark, query, comet=True, skipping=True)
    told_of_spark = reasons(spark, query)
    spark.conf.unset(BROADCAST)
    print(f"{kind}, a join: {files} files by {native}, {all_files} where Comet broadcasts", flush=True)
    wrong = [] if by_comet == expected and by_spark == expected else [f"{kind}, a join: the rows differ"]
    # of Delta Comet reads nothing, so that Spark broadcasts
    if (BROADCAST in told) != (all_files > files) or BROADCAST in told_of_spark:
        wrong.append(
            f"{kind}, a join: ZORDER EXPLAIN says {told}, and where Spark broadcasts {told_of_spark}"
        )
    return wrong + ([] if files <= 5 else [f"{kind}, a join: {files} files where Spark broadcasts five keys"])


def answer(spark: SparkSession, query: str, *, comet: bool, skipping: bool) -> tuple[list[str], int, str]:
    """The rows, the files of the large table that were read, and the name of the node that read them."""
    spark.conf.set(COMET, str(comet).lower())
    spark.conf.set(SKIPPING, str(skipping).lower())
    try:
        frame = spark.sql(query)
        rows = sorted(map(str, frame.collect()))
        return (rows, *most(scans(frame)))
    finally:
        spark.conf.unset(COMET)
        spark.conf.unset(SKIPPING)


def most(found: list[tuple[int, str]]) -> tuple[int, str]:
    """The scan of more rows: the other is that of the keys."""
    return max(found, default=(0, "no scan"))


def scans(frame: DataFrame) -> list[tuple[int, str]]:
    """Files and name of each scan that has run: all splits of one file each, since files are small."""
    found: list[tuple[int, str]] = []

    def walk(node: Any) -> None:
        name = str(node.nodeName())
        if hasattr(node, "executedPlan") and "AdaptiveSparkPlan" in name:
            return walk(node.executedPlan())
        if "QueryStage" in name:
            return walk(node.plan())
        if "Scan" in name:
            metrics = node.metrics()
            for metric in ("numFiles", "num_splits", "numSplits", "resultDataFiles"):
                if metrics.contains(metric):
                    found.append((int(metrics.apply(metric).value()), name.split()[0]))
                    break
        children = node.children()
        for i in range(children.size()):
            walk(children.apply(i))
        return None

    walk(frame._jdf.queryExecution().executedPlan())
    return found


def doctor(spark: SparkSession) -> str:
    """What it finds of Comet."""
    facts = spark_zorder.doctor(spark, show=None).facts
    return " ".join(fact.value for fact in facts if "Comet" in fact.name)


def kept(spark: SparkSession, query: str) -> int:
    """The files that ZORDER EXPLAIN says a query with Comet reads."""
    rows = spark.sql(f"ZORDER EXPLAIN {query}").collect()
    return max((row["kept"] for row in rows if row["filter"] is None), default=0)


def reasons(spark: SparkSession, query: str) -> str:
    """What ZORDER EXPLAIN says of the scans of a query with Comet."""
    rows = spark.sql(f"ZORDER EXPLAIN {query}").collect()
    return " ".join(row["reason"] for row in rows if row["filter"] is None)


if __name__ == "__main__":
    sys.exit(main())
