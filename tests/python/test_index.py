"""The statistics index of plain Parquet from Python: made, used by a query, described, refreshed, deleted."""

from __future__ import annotations

import os
import time

import pytest
import spark_zorder


def test_a_query_opens_only_the_files_that_can_match(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 4000, 1, 4).selectExpr("id", "cast(id as string) s").write.parquet(path)
    for file in (tmp_path / "t").glob("*.parquet"):
        # entries of files that were written a moment ago are not trusted
        os.utime(file, (time.time() - 3600,) * 2)
    table = spark_zorder.ZOrderTable.forPath(spark, path)

    made = table.index("id").head()
    assert (made["status"], made["files"], made["footers_read"], made["columns"]) == ("INDEXED", 4, 4, 1)
    assert [row["with_ranges"] for row in table.describeIndex().collect()] == [4]

    found = spark.read.parquet(path).where("id = 1711")
    assert [row["s"] for row in found.collect()] == ["1711"]
    assert found.select("_metadata.file_name").distinct().count() == 1
    assert "SkippingFileIndex" in found._jdf.queryExecution().executedPlan().toString()

    refreshed = table.refreshIndex().head()
    assert (refreshed["status"], refreshed["footers_read"]) == ("REFRESHED", 0)
    assert table.dropIndex().head()["status"] == "DROPPED"
    assert table.dropIndex().head()["status"] == "NOTHING_TO_DO"


def test_what_is_skipped_and_why_not_more_is_told_without_running(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 4000, 1, 4).selectExpr("id", "cast(id as string) s").write.parquet(path)
    for file in (tmp_path / "t").glob("*.parquet"):
        os.utime(file, (time.time() - 3600,) * 2)
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    table.index("id")
    frame = spark.read.parquet(path)
    query = frame.where("id < 1500 AND s = '7'").join(spark.range(5), "id")

    rows = {row["filter"]: row for row in table.explainSkipping(query).collect()}
    assert (rows[None]["considered"], rows[None]["kept"], rows[None]["pruned_by"]) == (4, 2, "range")
    assert rows["(s = '7')"]["reason"] == "column is not in the index: s"
    assert spark_zorder.explain_skipping(query).count() == len(rows)
    other = spark_zorder.ZOrderTable.forPath(spark, str(tmp_path / "other"))
    spark.range(3).write.parquet(str(tmp_path / "other"))
    assert other.explainSkipping(query).count() == 0

    frame.where("id = 3").collect()
    usage = spark_zorder.skipping_usage(spark).where(f"table LIKE '%{path}'").collect()
    assert [(u["column"], u["considered"], u["pruned"]) for u in usage] == [(None, 4, 3), ("id", 4, 3)]

    log = spark_zorder.query_log.of_sql(spark, [f"SELECT * FROM parquet.`{path}` WHERE id = 3"])
    assert [(r["considered"], r["kept"]) for r in spark_zorder.query_log.explain(spark, log).collect()] == [
        (4, 1)
    ]


def test_bloom_filters_find_the_file_of_a_value(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 40000, 1, 2).repartition(8, "id").write.parquet(path)
    for file in (tmp_path / "t").glob("*.parquet"):
        os.utime(file, (time.time() - 3600,) * 2)
    table = spark_zorder.ZOrderTable.forPath(spark, path)

    made = table.index("id", bloom=["id"], bloomBudget="60%").head()
    assert made["bloom_files_read"] == 8
    assert 0 < made["bloom_bytes"] <= 40000 * 17 / 8 + 8 * 1024
    assert table.describeIndex().head()["bloom_files"] == 8
    found = spark.read.parquet(path).where("id = 4711")
    assert found.count() == 1
    assert found.rdd.getNumPartitions() <= 2

    with pytest.raises(Exception, match="no column ids to make Bloom filters of"):
        table.index(bloom=["ids"])
    with pytest.raises(Exception, match="allow more, or name fewer columns"):
        table.index(bloom=["id"], bloomBudget="1k")
    with pytest.raises(TypeError, match="a list of columns"):
        table.index(bloom="id")
