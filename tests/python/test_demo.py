"""The small demonstration, on fewer rows."""

from __future__ import annotations

import pytest
from spark_zorder import demo

pytestmark = pytest.mark.same_on_all_lines


def test_the_demo_shows_fewer_files_after_than_before(spark, monkeypatch, capsys):
    monkeypatch.setattr(demo, "ROWS", 40_000)
    assert demo.run(spark) == 0
    lines = capsys.readouterr().out.splitlines()
    for column in demo.COLUMNS:
        before, after = next(line.split()[1:3] for line in lines if line.startswith(column + " "))
        assert float(after) < float(before) / 2
