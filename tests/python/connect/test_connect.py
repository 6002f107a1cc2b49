"""The same package on Spark Connect: functions by name, statements as SQL, no JVM in reach."""

from __future__ import annotations

import pytest
import spark_zorder
from frames import check_frames
from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf
from spark_zorder import ZOrderTable, _session
from spark_zorder import functions as zf
from spark_zorder._errors import SetupError
from support import condition, digest, golden_keys, write_table


def test_it_is_connect(connect):
    assert _session.is_connect(connect)
    assert not hasattr(connect, "_jsparkSession") or _session.is_connect(connect)


@pytest.mark.long
def test_golden_keys(connect):
    golden = golden_keys()
    query = "SELECT " + ", ".join(f"lower(hex({row['sql']})) AS k{i}" for i, row in enumerate(golden))
    found = list(connect.sql(query).collect()[0])
    assert [(g["name"], g["key"]) for g in golden] == [(g["name"], f) for g, f in zip(golden, found)]


def test_functions_on_columns(connect):
    df = connect.range(20).selectExpr("cast(id as int) a", "cast(20 - id as bigint) b")
    both = df.select(zf.zorder("a", "b").alias("x"), zf.zorder(sf.col("a"), sf.col("b")).alias("y"))
    assert both.where("x <> y").count() == 0
    assert df.orderBy(zf.hilbert("a", "b")).count() == 20


def test_attach_finds_the_server_in_order(connect):
    assert spark_zorder.attach(connect) is connect


def test_the_doctor(connect):
    report = spark_zorder.doctor(connect, show=None)
    assert report.ok, str(report)
    assert ("session", "Spark Connect") in [(f.name, f.value) for f in report.facts]


def test_the_doctor_says_that_the_server_has_another_version(connect, monkeypatch):
    monkeypatch.setattr(_session, "version_of", lambda _: "0.0.1")
    report = spark_zorder.doctor(connect, show=None)
    todo = [(fact.name, fact.advice) for fact in report.facts if fact.advice]
    wanted = f"start the server with the jar of version {spark_zorder.__version__}, or install 0.0.1 here"
    assert todo == [("functions", wanted)] and not report.ok


def test_a_table_from_optimize_to_remove(connect, tmp_path):
    path = write_table(connect, tmp_path / "t")
    rows = digest(connect, path)
    table = ZOrderTable.forPath(connect, path)
    run = table.optimize().option("fileCount", 8).option("force", True)
    assert run.executeZOrderBy("a", "b").collect()[0]["status"] == "DONE"
    assert digest(connect, path) == rows
    assert table.history().count() == 1
    table.rollback().collect()
    table.remove().collect()
    assert digest(connect, path) == rows


def test_an_error_keeps_its_condition(connect, tmp_path):
    table = write_table(connect, tmp_path / "t", rows=100)
    with pytest.raises(AnalysisException) as raised:
        connect.sql(f"ZORDER TABLE '{table}' BY (a, nosuch)").collect()
    e = raised.value
    assert (condition(e), e.getSqlState()) == ("ZORDER_COLUMN_NOT_FOUND.IN_TABLE", "42703")
    assert e.getMessageParameters()["column"] == "nosuch"


def test_what_needs_a_jvm_is_refused_in_one_sentence(connect):
    df = connect.range(10)
    for call in (spark_zorder.cluster, spark_zorder.fit):
        with pytest.raises(SetupError, match="needs a classic session"):
            call(df, "id", files=2)


def test_a_log_of_texts_and_a_run_for_it(connect, tmp_path):
    path = write_table(connect, tmp_path / "t")
    texts = [f"SELECT * FROM parquet.`{path}` WHERE a = {i}" for i in range(3)]
    assert spark_zorder.query_log.of_sql(connect, texts).count() == 3
    run = ZOrderTable.forPath(connect, path).optimize().option("fileCount", 8).option("force", True)
    assert run.queries(texts).dryRun().executeZOrderBy("a", "b").collect()[0]["status"] == "DRY_RUN"


@pytest.mark.long
def test_advice_for_a_list_a_frame_and_a_path(connect, tmp_path):
    path = write_table(connect, tmp_path / "t")
    asked = [(c, v) for c in ("a", "b") for v in range(0, 1000, 33)]
    texts = [f"SELECT * FROM parquet.`{path}` WHERE {c} = {v}" for c, v in asked]
    log = spark_zorder.query_log.of_sql(connect, texts)
    log.write.parquet(str(tmp_path / "log"))
    connect.conf.set("spark.zorder.fileCount", "16")
    try:
        table = ZOrderTable.forPath(connect, path)
        found = [table.advise(queries).collect() for queries in (texts, log, str(tmp_path / "log"))]
    finally:
        connect.conf.unset("spark.zorder.fileCount")
    best = [rows[0] for rows in found]
    assert [(b["verdict"], sorted(b["columns"])) for b in best] == [("CLUSTER", ["a", "b"])] * 3
    assert len({b["share_expected"] for b in best}) == 1 and best[0]["share_expected"] < 0.28
    assert [row["rank"] for row in found[0]] == list(range(1, len(found[0]) + 1))


def test_advice_without_queries_and_for_what_is_no_table(connect, tmp_path):
    path = write_table(connect, tmp_path / "t")
    assert [r["verdict"] for r in ZOrderTable.forPath(connect, path).advise().collect()] == ["LEAVE IT"]
    with pytest.raises(Exception, match="There is nothing at"):
        ZOrderTable.forPath(connect, str(tmp_path / "none")).advise().collect()


def test_what_is_skipped_is_told_of_whole_queries(connect, tmp_path):
    path = str(tmp_path / "t")
    connect.range(0, 4000, 1, 4).write.parquet(path)
    table = ZOrderTable.forPath(connect, path)
    table.index("id")
    query = connect.read.parquet(path).where("id < 1500")
    rows = spark_zorder.explain_skipping(query).collect()
    assert rows[0]["considered"] == 4
    assert "(id < 1500)" in [row["filter"] for row in rows]
    assert spark_zorder.skipping_usage(connect).columns[:2] == ["table", "column"]
    with pytest.raises(SetupError, match="explain_skipping"):
        table.explainSkipping(query)


@pytest.mark.long
def test_a_notebook_shows_results(connect, tmp_path):
    check_frames(connect, write_table(connect, tmp_path / "t"))
