"""Tables of a Hive metastore, on the local disk or on HDFS; sessions with our jar and without it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import tables
from pyspark.sql import SparkSession

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))
import thrift_metastore

if TYPE_CHECKING:
    from collections.abc import Iterator

ROWS = 4000
BATCH = 10
PARTS = 4
# (is external, is partitioned)
TABLES = {"parts": (True, True), "managed": (False, True), "flat": (True, False)}
HADOOP = "3.3.4"
CLUSTER = (
    f"org.apache.hadoop:hadoop-client-minicluster:{HADOOP}",
    "junit:junit:4.13.2",
    "org.hamcrest:hamcrest-core:1.3",
)
START_SECONDS = 120.0


def session(folder: Path, metastore: str, ours: bool) -> SparkSession:
    """A small session of the metastore. One without our jar is Spark as everybody has it."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.hive.metastore.uris": metastore,
        "spark.hadoop.dfs.replication": "1",
        # how long a file that is closed waits for the one node: 400 ms if nobody says so
        "spark.hadoop.dfs.client.block.write.locateFollowingBlock.initial.delay.ms": "20",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    if ours:
        settings |= {
            "spark.driver.extraClassPath": str(tables.session.JAR),
            "spark.sql.extensions": "org.apache.spark.sql.zorder.ZOrderExtensions",
            "spark.zorder.progress.show": "true",
            "spark.zorder.commit.waitSeconds": "20",
        }
    builder = SparkSession.builder.master("local[2]").appName("spark-zorder and others")
    for key, value in settings.items():
        builder.config(key, value)
    return builder.getOrCreate()


def rows(first: int, last: int, partitioned: bool) -> str:
    """Rows as a query."""
    part = f", id % {PARTS} p" if partitioned else ""
    columns = "id, cast(pmod(hash(id, 1), 1000) AS int) a, pmod(hash(id, 2), 100000) b"
    return f"SELECT {columns}{part} FROM range({first}, {last}, 1, 2)"


def create(spark: SparkSession, base: str, name: str) -> str:
    """The table `db.<name>`, and where it is."""
    external, partitioned = TABLES[name]
    spark.sql(f"CREATE DATABASE IF NOT EXISTS db LOCATION '{base}/db'")
    where = f"{base}/outside/{name}" if external else f"{base}/db/{name}"
    by = "PARTITIONED BY (p)" if partitioned else ""
    location = f"LOCATION '{where}'" if external else ""
    spark.sql(
        f"CREATE TABLE db.{name} USING parquet {by} {location} AS {rows(0, ROWS, partitioned)}"
    ).collect()
    return where


def counted(spark: SparkSession, name: str, refresh: bool = True) -> tuple[int, ...]:
    """Rows, different rows, rows that were there at the start, and a sum over these."""
    if refresh:
        spark.sql(f"REFRESH TABLE db.{name}")
    old = f"id < {ROWS}"
    query = f"count(*), count(DISTINCT id), count_if({old}), sum(if({old}, hash(id, a, b), 0L))"
    found = spark.sql(f"SELECT {query} FROM db.{name}").head()
    assert found is not None
    return tuple(found)


@contextmanager
def storage(kind: str, folder: Path) -> Iterator[str]:
    """Where tables go: a folder of the local disk, or HDFS of one node in a JVM of its own."""
    if kind == "local":
        yield f"file:{folder / 'data'}"
        return
    port = thrift_metastore.free_port()
    jars = Path(pyspark.__file__).parent / "jars"
    classes = ":".join([*map(str, cluster_jars()), f"{jars}/*"])
    command = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.lang=ALL-UNNAMED"]
    command += [f"-Dtest.build.data={folder / 'hdfs'}", f"-Djava.io.tmpdir={folder}", "-cp", classes]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-datanodes", "1"]
    command += ["-httpport", "0", "-nnport", str(port), "-writeDetails", str(folder / "hdfs.json")]
    with (folder / "hdfs.log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        end = time.monotonic() + START_SECONDS
        while not (folder / "hdfs.json").is_file() or not answers(port):
            if time.monotonic() > end or server.poll() is not None:
                raise SystemExit(f"HDFS did not start: {(folder / 'hdfs.log').read_text()[-2000:]}")
            time.sleep(0.2)
        yield f"hdfs://127.0.0.1:{port}/data"
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def cluster_jars() -> list[Path]:
    """Hadoop's small cluster and what it needs beside Spark's jars, from Maven Central; each fetched once."""
    data = tables.session.peers.data
    found = []
    for artifact in CLUSTER:
        _, name, version = artifact.split(":")
        jar = data.GENERATOR.parent / f"{name}-{version}.jar"
        if not jar.is_file():
            data.fetch(artifact, f"Fetching {name}")
        found.append(jar)
    return found
