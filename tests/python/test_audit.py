"""The audit from Python, on a table whose best columns are known."""

from __future__ import annotations

import pytest
from spark_zorder import ZOrderTable

pytestmark = pytest.mark.same_on_all_lines


def test_before_and_after_a_run_with_and_without_queries(spark, table):
    t = ZOrderTable.forPath(spark, table)
    with pytest.raises(Exception, match="was never clustered, so the audit does not know which columns"):
        t.audit()
    before = t.audit("a", "b").collect()
    assert [(r["partition"], r["verdict"]) for r in before] == [(None, "RECLUSTER")]
    assert before[0]["statement"] == f"ZORDER TABLE '{table}' BY (a, b) WITH (fileCount = 4)"
    assert [(n["level"], n["name"]) for n in before[0]["levels"][:3]] == [
        ("file", None),
        ("file", "a"),
        ("file", "b"),
    ]
    run = before[0]["statement"].replace("4)", "16, force = true)")
    assert spark.sql(run).collect()[0]["status"] == "DONE"
    after = t.audit().collect()[0]
    assert after["verdict"] == "OK" and after["cluster_by_keys"] == "(a, b)"
    asked = [f"SELECT * FROM parquet.`{table}` WHERE id = {v}" for v in range(3)]
    views = {v.name for v in spark.catalog.listTables()}
    wrong = t.audit("a", queries=asked).collect()[0]
    assert {v.name for v in spark.catalog.listTables()} == views
    assert wrong["verdict"] == "WRONG COLUMNS"
    assert wrong["statement"] == f"ZORDER TABLE '{table}' BY (id) WITH (fileCount = 16)"
