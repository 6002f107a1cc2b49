"""Logs of queries from Python: of a session, of texts, and given to a run."""

from __future__ import annotations

import pytest
from spark_zorder import ZOrderTable, query_log
from support import facts_of

pytestmark = pytest.mark.same_on_all_lines


def kinds(log):
    rows = log.selectExpr("weight", "explode(flatten(boxes)) c").select("c.column", "c.kind", "weight")
    return sorted(tuple(row) for row in rows.collect())


def test_a_session_is_logged_between_start_and_stop(spark, table, tmp_path):
    path = str(tmp_path / "log")
    frame = spark.read.parquet(table)
    started = query_log.start(spark, path).collect()[0]
    frame.where("a = 1").collect()
    frame.where("a = 2").collect()
    frame.where("b BETWEEN 1 AND 5").collect()
    done = query_log.stop(spark)
    done.show()
    stopped = done.collect()[0]
    frame.where("b = 3").collect()
    assert (started["status"], stopped["status"], stopped["queries"], stopped["shapes"]) == (
        "STARTED",
        "STOPPED",
        3,
        2,
    )
    log = spark.read.parquet(path)
    assert kinds(log) == [("a", "equal", 2.0), ("b", "range", 1.0)]
    conditions = log.selectExpr("explode(flatten(boxes)) c")
    assert conditions.where("c.low IS NOT NULL OR c.values IS NOT NULL").isEmpty()
    assert query_log.stop(spark).collect()[0]["status"] == "NOT_STARTED"


@pytest.mark.long
def test_a_setting_of_the_application_logs_until_its_end(tmp_path):
    assert facts_of("log_session.py", tmp_path)["weights"] == [7.0]


def test_values_are_kept_where_they_are_asked_for(spark, table, tmp_path):
    path = str(tmp_path / "log")
    assert query_log.start(spark, tmp_path / "log", literals="keep").collect()[0]["literals"] == "keep"
    spark.read.parquet(table).where("a = 41").collect()
    query_log.stop(spark)
    assert query_log.explain(spark, tmp_path / "log").count() == 1
    assert spark.read.parquet(path).selectExpr("boxes[0][0].values").collect()[0][0] == ["41"]


def test_a_log_of_texts_runs_none_of_them(spark, table):
    texts = [f"SELECT * FROM parquet.`{table}` WHERE a = 1 AND b > 5"] * 2 + ["SELECT 'it''s'"]
    log = query_log.of_sql(spark, texts)
    assert log.columns == ["table", "time", "query", "weight", "boxes"]
    assert kinds(log) == [("a", "equal", 2.0), ("b", "range", 2.0)]


def test_a_run_takes_a_frame_a_list_or_a_path(spark, table, tmp_path):
    texts = [f"SELECT * FROM parquet.`{table}` WHERE a = {i}" for i in range(3)]
    path = str(tmp_path / "log")
    query_log.of_sql(spark, texts).write.parquet(path)
    run = ZOrderTable.forPath(spark, table).optimize().option("fileCount", 4).option("force", True)
    for log in (texts, query_log.of_sql(spark, texts), path, tmp_path / "log"):
        row = run.queries(log).dryRun().executeZOrderBy("a", "b").collect()[0]
        assert row["status"] == "DRY_RUN"
        assert [(q["query"], round(q["weight"], 6)) for q in row["queries"]] == [("a = ?", 1.0)]
    assert [t.name for t in spark.catalog.listTables() if t.name.startswith("zorder_queries")] == []


def test_a_log_of_another_session_is_refused(spark, table):
    foreign = spark.newSession().range(1)
    zordered = ZOrderTable.forPath(spark, table)
    for takes_it in (
        lambda: query_log.explain(spark, foreign),
        lambda: zordered.advise(foreign),
        lambda: zordered.audit("a", queries=foreign),
        lambda: zordered.optimize().queries(foreign),
    ):
        with pytest.raises(ValueError, match="The log is a DataFrame of another session"):
            takes_it()
    again = type(spark)(spark.sparkContext, spark._jsparkSession).range(1)
    assert zordered.optimize().queries(again)._log is again


def test_wrong_arguments_are_said_in_python(spark):
    with pytest.raises(ValueError, match="literals is 'drop' or 'keep', not 'yes'"):
        query_log.start(spark, "/x", literals="yes")
    with pytest.raises(TypeError, match=r"start takes a path as text or as a pathlib.Path, not int\."):
        query_log.start(spark, 5)
    with pytest.raises(TypeError, match="takes a list of SQL texts"):
        query_log.of_sql(spark, "SELECT 1")
    with pytest.raises(ValueError, match="at least one SQL text"):
        query_log.of_sql(spark, [])
    with pytest.raises(Exception, match="There is no event log at"):
        query_log.of_event_log(spark, "/nowhere/at/all")
