"""Advice from Python and from the shell, on a table whose best columns are known."""

from __future__ import annotations

import json

import pytest
from spark_zorder import ZOrderTable, query_log
from spark_zorder import __main__ as cli
from support import write_table

pytestmark = pytest.mark.same_on_all_lines

COLUMNS = [
    "rank",
    "verdict",
    "columns",
    "layout",
    "bits",
    "files",
    "share_now",
    "share_expected",
    "share_sorted",
    "share_bound",
    "x_bound",
    "gain",
    "loss_by_last_column",
    "statement",
    "reason",
]


@pytest.fixture
def sixteen(spark):
    """Small tables are below the sizes that pay: as if they had sixteen files."""
    spark.conf.set("spark.zorder.fileCount", "16")
    yield
    spark.conf.unset("spark.zorder.fileCount")


@pytest.fixture
def main(spark, monkeypatch):
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    return cli.main


def texts(table):
    return [
        f"SELECT * FROM parquet.`{table}` WHERE {c} = {v}" for c in ("a", "b") for v in range(0, 1000, 33)
    ]


@pytest.mark.long
def test_the_columns_that_are_asked_by_a_list_a_frame_and_a_path(spark, table, tmp_path, sixteen):
    log = query_log.of_sql(spark, texts(table))
    log.write.parquet(str(tmp_path / "log"))
    views = {v.name for v in spark.catalog.listTables()}
    found = [
        ZOrderTable.forPath(spark, table).advise(queries)
        for queries in (texts(table), log, str(tmp_path / "log"))
    ]
    assert {v.name for v in spark.catalog.listTables()} == views
    best = [f.collect()[0] for f in found]
    assert found[0].columns == COLUMNS
    assert [(b["rank"], b["verdict"], sorted(b["columns"])) for b in best] == [(1, "CLUSTER", ["a", "b"])] * 3
    assert len({b["share_expected"] for b in best}) == 1
    assert best[0]["share_expected"] < 0.28 and best[0]["share_now"] > 0.95
    # a view of one call is named in no statement, a path is
    assert [b["statement"] is None for b in best] == [True, True, False]
    assert all(".queries(queries).executeZOrderBy(" in b["reason"] for b in best[:2])
    assert "queryLog" in best[2]["statement"]
    run = spark.sql(best[2]["statement"]).collect()[0]
    assert run["status"] == "DONE"


def test_without_queries_and_without_need(spark, table, tmp_path):
    assert [r["verdict"] for r in ZOrderTable.forPath(spark, table).advise().collect()] == ["LEAVE IT"]
    path = write_table(spark, tmp_path / "other")
    with pytest.raises(TypeError, match="queries takes"):
        ZOrderTable.forPath(spark, path).advise(3)


@pytest.mark.long
def test_the_shell(main, spark, table, tmp_path, capsys, sixteen):
    log = str(tmp_path / "log")
    query_log.of_sql(spark, texts(table)).write.parquet(log)
    assert main(["advise", table, "--queries", log, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.strip().splitlines()]
    assert [r["rank"] for r in rows] == list(range(1, len(rows) + 1)) and rows[0]["verdict"] == "CLUSTER"
    assert main(["advise", table, "--queries", log]) == 0
    out = capsys.readouterr().out
    assert "1. CLUSTER " in out and "ZORDER TABLE " in out and "rank  proposal" in out
    assert main(["advise", table, "--queries", "no_log"]) == 1
    assert "The query log no_log cannot be read" in capsys.readouterr().err
