"""The demonstration's own counting, on a table whose blocks are known."""

from __future__ import annotations

import importlib
import sys

import pytest
from support import TOP


@pytest.fixture
def pages(monkeypatch):
    monkeypatch.syspath_prepend(str(TOP / "benchmarks/demo"))
    yield importlib.import_module("pages")
    sys.modules.pop("pages")


def test_blocks_are_counted_at_three_levels(spark, tmp_path, pages):
    rows = spark.range(-2000, 2000, 1, 4).selectExpr("cast(id as int) as a", "cast(null as int) as b")
    rows.write.option("parquet.page.row.count.limit", 100).parquet(str(tmp_path / "t"))
    found = pages.blocks(spark, tmp_path / "t", ("a", "b"))
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
