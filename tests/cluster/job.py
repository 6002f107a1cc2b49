"""What runs on the cluster with our Python package: the key on both executors, then a run of a Parquet table.

    job.py PATH [attach]

With `attach`, the session has started without us, as where the wheel is a library of the cluster.
"""

from __future__ import annotations

import sys

import spark_zorder
from checks import check, executors_of, rows, totals
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(path: str, attach: bool) -> int:
    spark = SparkSession.builder.appName("spark-zorder cluster test").getOrCreate()
    if attach:
        check("the session knows nothing of us", not spark.catalog.functionExists("zorder_version"))
        spark_zorder.attach(spark)
    else:
        report = spark_zorder.doctor(spark)
        check("doctor finds nothing missing", report.ok)

    keyed = spark.range(0, 4000, 1, 4).select(spark_zorder.zorder("id", sf.col("id") % 7).alias("k"))
    executors = executors_of(keyed.where("length(k) > 0"))
    check(f"zorder() ran on both executors ({', '.join(sorted(executors))})", len(executors) == 2)
    check("all keys were computed", sum(executors.values()) == 4000)
    check("the package is importable on executors", importable_on_executors(spark))

    rows(spark).write.parquet(path)
    before = totals(spark.read.parquet(path))
    sorted_by_zorder(spark, path)
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    run = table.optimize().option("fileCount", 16).option("force", True)
    row = run.executeZOrderBy("a", "b").collect()[0]
    check(f"OPTIMIZE is {row['status']}", row["status"] == "DONE")
    check("the rows are the same", totals(spark.read.parquet(path)) == before)
    check("one run in the history", table.history().count() == 1)
    disks = spark._jvm.org.apache.spark.sql.zorder.clustering.LocalDisks(spark._jsparkSession).free()
    check("the free bytes on the executors' disks are known", disks.isDefined() and disks.get() > 0)
    spark.stop()
    return 0


def importable_on_executors(spark: SparkSession) -> bool:
    def version(_: object) -> str:
        import spark_zorder as ours

        return ours.__version__

    return set(spark.sparkContext.range(0, 4, 1, 4).map(version).collect()) == {spark_zorder.__version__}


def sorted_by_zorder(spark: SparkSession, path: str) -> None:
    """Rows of both executors in one order, and within each partition, by the sort that keeps no key."""
    key = spark_zorder.zorder("a", "b")
    apart = spark.read.parquet(path).repartition(2)
    globally = apart.orderBy(key).select(sf.hex(key))
    locally = apart.sortWithinPartitions(key).select(sf.spark_partition_id(), sf.hex(key))
    for df in (globally, locally):
        check("the plan has ZOrderSort", "ZOrderSort" in df._jdf.queryExecution().executedPlan().toString())
    found = [row[0] for row in globally.collect()]
    check("ORDER BY zorder() puts all rows in order", len(found) == 100_000 and found == sorted(found))
    parts = [tuple(row) for row in locally.collect()]
    check("so does SORT BY in each partition", parts == sorted(parts) and len({p for p, _ in parts}) == 2)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], "attach" in sys.argv[2:]))
