"""Counts the tests that `-m "not long"` leaves for `make test-all`; part of both conftest.py."""

from __future__ import annotations

from pathlib import Path


def pytest_deselected(items):
    """Into a folder beside the report, where tools/test_summary.py adds it up."""
    report = items[0].config.getoption("xmlpath") if items else None
    if report:
        folder = Path(report).with_suffix("")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "left.txt").write_text(f"{len(items)}\n")
