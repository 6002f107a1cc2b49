"""What runs on the cluster: the key on both executors, then a clustering run of a small Parquet table."""

from __future__ import annotations

import sys

import spark_zorder
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(path: str) -> int:
    spark = SparkSession.builder.appName("spark-zorder cluster test").getOrCreate()
    report = spark_zorder.doctor(spark)
    check("doctor finds nothing missing", report.ok)

    executors = key_on_executors(spark)
    check(f"zorder() ran on both executors ({', '.join(sorted(executors))})", len(executors) == 2)
    check("the package is importable on executors", all(executors.values()))

    df = spark.range(0, 100_000, 1, 8).selectExpr(
        "cast(pmod(hash(id, 1), 1000) as int) as a", "cast(pmod(hash(id, 2), 1000) as int) as b", "id"
    )
    df.write.parquet(path)
    before = totals(spark, path)
    sorted_by_zorder(spark, path)
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    run = table.optimize().option("fileCount", 16).option("force", True)
    row = run.executeZOrderBy("a", "b").collect()[0]
    check(f"OPTIMIZE is {row['status']}", row["status"] == "DONE")
    check("the rows are the same", totals(spark, path) == before)
    check("one run in the history", table.history().count() == 1)
    disks = spark._jvm.org.apache.spark.sql.zorder.clustering.LocalDisks(spark._jsparkSession).free()
    check("the free bytes on the executors' disks are known", disks.isDefined() and disks.get() > 0)
    spark.stop()
    return 0


def key_on_executors(spark: SparkSession) -> dict[str, bool]:
    """Which executors computed keys, and whether they could import the package."""

    def where(rows):
        import os
        import time

        import spark_zorder as ours

        done = sum(1 for _ in rows)
        time.sleep(1)
        return iter(
            [(os.environ.get("SPARK_EXECUTOR_DIRS", str(os.getppid())), done, bool(ours.__version__))]
        )

    keyed = spark.range(0, 4000, 1, 4).select(spark_zorder.zorder("id", sf.col("id") % 7).alias("k"))
    found = keyed.where("length(k) > 0").rdd.mapPartitions(where).collect()
    check("all keys were computed", sum(done for _, done, _ in found) == 4000)
    return {place.rsplit("/", 1)[-1]: ok for place, _, ok in found}


def sorted_by_zorder(spark: SparkSession, path: str) -> None:
    """Rows of both executors in one order, and within each partition, by the sort that keeps no key."""
    key = spark_zorder.zorder("a", "b")
    rows = spark.read.parquet(path).repartition(2)
    globally = rows.orderBy(key).select(sf.hex(key))
    locally = rows.sortWithinPartitions(key).select(sf.spark_partition_id(), sf.hex(key))
    for df in (globally, locally):
        check("the plan has ZOrderSort", "ZOrderSort" in df._jdf.queryExecution().executedPlan().toString())
    found = [row[0] for row in globally.collect()]
    check("ORDER BY zorder() puts all rows in order", len(found) == 100_000 and found == sorted(found))
    parts = [tuple(row) for row in locally.collect()]
    check("so does SORT BY in each partition", parts == sorted(parts) and len({p for p, _ in parts}) == 2)


def totals(spark: SparkSession, path: str) -> list[object]:
    df = spark.read.parquet(path)
    return list(df.selectExpr("count(*)", "sum(a)", "sum(b)", "sum(id)", "sum(a * b + id)").collect()[0])


def check(what: str, ok: bool) -> None:
    print(("ok: " if ok else "FAILED: ") + what, flush=True)
    if not ok:
        sys.exit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
