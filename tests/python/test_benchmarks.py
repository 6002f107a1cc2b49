"""What the benchmarks count themselves, on figures that are known."""

from __future__ import annotations

import importlib
import sys

import pytest
from support import TOP

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture
def benchmark(monkeypatch):
    """Imports a module of a folder of benchmarks."""
    before = set(sys.modules)
    path = list(sys.path)

    def module(folder, name):
        monkeypatch.syspath_prepend(str(TOP / "benchmarks" / folder))
        return importlib.import_module(name)

    yield module
    sys.path[:] = path
    for name in set(sys.modules) - before:
        if str(TOP / "benchmarks") in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.fixture
def pages(benchmark):
    return benchmark("demo", "pages")


def test_blocks_are_counted_at_three_levels(spark, tmp_path, pages):
    rows = spark.range(-2000, 2000, 1, 4).selectExpr("cast(id as int) as a", "cast(null as int) as b")
    rows.write.option("parquet.page.row.count.limit", 100).parquet(str(tmp_path / "t"))
    found = pages.blocks(spark, sorted((tmp_path / "t").glob("*.parquet")), ("a", "b"))
    assert {level: found["a"][level].total for level in pages.LEVELS} == {
        "files": 4,
        "row groups": 4,
        "pages": 40,
    }
    for level in pages.LEVELS:
        assert found["a"][level].mean_read([-2000, -1, 0, 1999]) == 1.0
        assert found["a"][level].mean_read([2000, 0]) == 0.5
        assert found["b"][level].mean_read([0]) == 0.0
    assert sorted(found["a"]["pages"].ranges)[0] == (-2000, -1901)


@pytest.mark.long
def test_the_cost_of_a_log_is_measured_with_all_queries_in_it(spark, tmp_path, benchmark, monkeypatch):
    monkeypatch.setenv("SPARK_ZORDER_DEMO_DIR", str(tmp_path))
    cost = benchmark("spark", "query_log_cost")
    monkeypatch.setattr(cost, "QUERIES", 4)
    made = cost.pairs(spark, 1)
    assert len(made) == 1 and "Seconds of 4 look-ups" in cost.report(spark, made)
    # of the last round
    log = spark.read.parquet(str(tmp_path / "run-query-log" / "store_sales"))
    assert log.groupBy().sum("weight").collect()[0][0] == 4.0


def test_a_key_is_compared_round_by_round_above_what_all_queries_share(benchmark):
    report = benchmark("peers", "key_report")
    rounds = {
        report.BIGINT: [4.0, 5.0, 6.0],
        report.BINARY: [10.0, 20.0, 30.0],
        report.ZORDER: [30.0, 40.0, 50.0],
        report.HILBERT: [110.0, 120.0, 130.0],
        report.ICEBERG: [210.0, 240.0, 230.0],
        report.DELTA: [20.0, 30.0, 40.0],
    }
    found = {(query, key): rounds[key] for query in (report.PLAIN, report.HASHED) for key in rounds}
    assert report.above(found, report.PLAIN, report.ZORDER, report.BINARY) == 20.0
    assert report.times(found, report.PLAIN, report.ICEBERG, report.BINARY) == 10.0
    text = report.report(found, ["- setting"])
    assert "is 10.0: met" in text
    assert "is 0.5: **missed**" in text
    assert text.endswith("- setting\n")


def test_a_jmh_result_is_a_line_with_its_target(benchmark):
    report = benchmark("jmh", "report")
    measured = {"score": 3.64, "scoreError": 0.2, "rawData": [[3.6, 3.7], [3.5]]}
    found = {"benchmark": "sparkzorder.jmh.CurveSpeed.morton2x32", "primaryMetric": measured}
    assert report.row(found) == "| Morton code of two 32-bit words | 3.6 | 0.2 | 3.5 | 4, met |"
    measured["score"] = 4.01
    assert report.row(found).endswith("| 4, **missed** |")
