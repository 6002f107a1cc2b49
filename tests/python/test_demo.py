"""The small demonstration, on fewer rows."""

from __future__ import annotations

import pytest
from spark_zorder import demo, report

pytestmark = pytest.mark.same_on_all_lines


def test_the_demo_shows_fewer_files_after_than_before(spark, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(demo.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(demo, "ROWS", 40_000)
    assert demo.run(spark) == 0
    lines = capsys.readouterr().out.splitlines()
    for column in demo.COLUMNS:
        before, after = next(line.split()[1:3] for line in lines if line.startswith(column + " "))
        assert float(after) < float(before) / 2
    # what a new user is told to do, and then that there is nothing more to do
    told = [line.split()[0] for line in lines if line.startswith(("   RECLUSTER: ", "   OK: "))]
    assert told == ["RECLUSTER:", "OK:"]
    assert any(line.startswith("       ZORDER TABLE ") and "BY (customer, product)" in line for line in lines)
    assert "spark_zorder optimize" in lines[-1] and lines[-1].endswith("--dry-run")
    if report.available():
        (page,) = tmp_path.glob("spark-zorder-demo-*.html")
        assert str(page) in lines[-5] and "of 16 files" in page.read_text()


def test_without_the_extra_the_demo_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(report, "available", lambda: False)
    assert "pip install 'spark-zorder[report]'" in demo.reported({}, {}, None)
