"""The statistics index of plain Parquet from Python: made, used by a query, described, refreshed, deleted."""

from __future__ import annotations

import os
import time

import pytest
import spark_zorder
from pyspark.sql.functions import udf


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


@pytest.mark.same_on_all_lines
def test_a_function_of_python_on_a_partition_column_is_no_filter_of_the_listing(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 800, 1, 8).selectExpr("id", "id div 400 part").write.partitionBy("part").parquet(path)
    for file in (tmp_path / "t").glob("*/*.parquet"):
        os.utime(file, (time.time() - 3600,) * 2)
    spark_zorder.ZOrderTable.forPath(spark, path).index("id")
    late = udf(lambda part: part == 1, "boolean", useArrow=False)
    rows = spark.read.parquet(path).where(late("part"))
    first = [row["id"] for row in rows.orderBy("id").limit(3).collect()]
    assert first == [400, 401, 402]
    # a table that is large enough to wait for the keys of another one that Spark does not broadcast
    small = {"spark.sql.files.maxPartitionBytes": "64", "spark.sql.autoBroadcastJoinThreshold": "1"}
    before = {key: spark.conf.get(key) for key in small}
    try:
        for key, value in small.items():
            spark.conf.set(key, value)
        keys = str(tmp_path / "keys")
        spark.range(0, 800, 50, 1).write.parquet(keys)
        joined = rows.join(spark.read.parquet(keys).where("id > 500"), "id")
        assert sorted(row["id"] for row in joined.collect()) == list(range(550, 800, 50))
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


@pytest.mark.same_on_all_lines
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
    assert (rows[None]["files"], rows["(s = '7')"]["summary"]) == (4, None)
    assert not any("IS NOT NULL" in text for text in rows if text)
    # a long path stands on a line of its own
    said = repr(table.explainSkipping(query)).split("\n\n")[0]
    assert " ".join(said.split()).startswith("The query opens 2 of 4 files of ")
    assert "".join(said.split()) == "".join(rows[None]["summary"].split())
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


@pytest.mark.same_on_all_lines
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


def _aged(path):
    for file in path.glob("*.parquet"):
        os.utime(file, (time.time() - 3600,) * 2)


def _opened(frame):
    """Files that the scans of a query opened; the query is run."""
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec":
        plan = plan.executedPlan()
    return _files(plan)


def _files(plan):
    metrics = plan.metrics()
    own = metrics.apply("numFiles").value() if metrics.contains("numFiles") else 0
    children = plan.children()
    inside = [children.apply(i) for i in range(children.size())]
    if plan.getClass().getSimpleName().endswith("QueryStageExec"):
        inside.append(plan.plan())
    return own + sum(_files(child) for child in inside)


@pytest.mark.same_on_all_lines
def test_first_rows_joins_and_aggregates_open_the_files_that_they_need(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 4000, 1, 8).selectExpr("id", "id % 7 r").write.parquet(path)
    _aged(tmp_path / "t")
    spark_zorder.ZOrderTable.forPath(spark, path).index()
    frame = spark.read.parquet(path)
    small = str(tmp_path / "small")
    spark.createDataFrame([(17,), (18,), (3999,)], "id long").coalesce(1).write.parquet(small)

    assert _opened(frame.orderBy(frame.id.desc()).limit(10)) == 1
    assert [row["id"] for row in frame.orderBy(frame.id.desc()).limit(2).collect()] == [3999, 3998]
    joined = frame.join(spark.read.parquet(small), "id")
    assert _opened(joined) == 2 + 1
    assert sorted(row["id"] for row in joined.collect()) == [17, 18, 3999]

    aggregates = frame.selectExpr("min(id) low", "max(id) high", "count(*) n")
    assert _opened(aggregates) == 0
    assert tuple(aggregates.head()) == (0, 3999, 4000)
    usage = spark_zorder.skipping_usage(spark).where(f"table LIKE '%{path}' AND column = 'id'").head()
    # the aggregates were planned at least once, and no file was opened for them
    assert usage["scans"] >= 4
    assert usage["considered"] - usage["pruned"] < usage["scans"] * 3


@pytest.mark.same_on_all_lines
def test_an_index_elsewhere_and_one_with_values(spark, tmp_path):
    path = str(tmp_path / "t")
    spark.range(0, 8000, 1, 4).selectExpr("id", "(id % 5) * 4 + id div 2000 v").write.parquet(path)
    _aged(tmp_path / "t")
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    spark.conf.set("spark.zorder.index.location", str(tmp_path / "indexes"))
    try:
        table.index("id", values=["v"])
        assert [row["value_files"] for row in table.describeIndex().collect()] == [0, 4]
        assert _opened(spark.read.parquet(path).where("v = 6")) == 1
        assert not (tmp_path / "t" / "_zorder" / "index").exists()
        assert len(list((tmp_path / "indexes").iterdir())) == 1
    finally:
        spark.conf.unset("spark.zorder.index.location")
    assert _opened(spark.read.parquet(path).where("v = 6")) == 4
    with pytest.raises(TypeError, match="values takes a list of columns"):
        table.index(values="v")


@pytest.mark.same_on_all_lines
def test_an_expression_skips_files_too(spark, tmp_path):
    path = str(tmp_path / "t")
    rows = spark.range(0, 8000, 1, 4).selectExpr(
        "concat(if(id % 2 = 0, 'A', 'a'), lpad(id, 5, '0')) s", "if(id = 17, 'OPEN', 'DONE') status"
    )
    rows.write.parquet(path)
    _aged(tmp_path / "t")
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    table.index("lower(s)", "status = 'OPEN'")
    assert [row["column"] for row in table.describeIndex().collect()] == ["lower(s)", "status = 'OPEN'"]
    assert _opened(spark.read.parquet(path).where("lower(s) = 'a03141'")) == 1
    assert _opened(spark.read.parquet(path).where("status = 'OPEN'")) == 1
    assert _opened(spark.read.parquet(path).where("upper(s) = 'A03141'")) == 4
    with pytest.raises(Exception, match="deterministic functions"):
        table.index("rand()")
