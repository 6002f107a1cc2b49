"""An audit as text: what to do stands first, the figures behind it."""

from __future__ import annotations

import audit_rows
import pytest
from spark_zorder.view import notebook, readings, terminal

pytestmark = pytest.mark.same_on_all_lines

CELLS = audit_rows.in_cells(audit_rows.sales(8000), 4)
HEAP = audit_rows.in_no_order(audit_rows.sales(8000), 20)
BAD = audit_rows.audit(
    HEAP, "RECLUSTER", "A look-up opens 20 of 20 files.", "ZORDER TABLE db.sales BY (customer)"
)
GOOD = audit_rows.audit(CELLS, "OK", "A look-up opens 4 of 16 files.")


def test_what_to_do_stands_first():
    lines = terminal.text([BAD]).splitlines()
    assert lines[:4] == [
        "RECLUSTER: A look-up opens 20 of 20 files.",
        "",
        "Run this first:",
        "    ZORDER TABLE db.sales BY (customer)",
    ]
    assert "Run this" not in terminal.text([GOOD])


def test_shares_by_column_and_level_with_bound_and_depth():
    text = terminal.text([GOOD], before=[BAD], table="db.sales")
    line = next(line for line in text.splitlines() if line.startswith("customer  files")).split()
    assert line[:9] == ["customer", "files", "16", "100.0", "%", "24.6", "%", "25.0", "%"]
    assert "db.sales by (customer, product), 16 files, 312 KiB\n" in text
    assert "Depth of files: 24 on average" not in text
    assert "Depth of files: 20 on average, at most 20 (20 at 17-32)." in terminal.text([BAD])


def test_the_worst_partitions_are_listed_and_the_rest_is_counted():
    parts = [audit_rows.audit(HEAP, "RECLUSTER", "", partition=f"day={d:02}") for d in range(1, 13)]
    text = terminal.text([BAD, *parts])
    assert [line.split()[0] for line in text.splitlines() if line.startswith("day=")] == [
        f"day={d:02}" for d in range(1, 11)
    ]
    assert "and 2 more partitions, none of them worse" in text
    assert "12 partitions" in text


def test_notes_say_what_figures_do_not():
    row = {**BAD, "files_without_statistics": 3, "files_since_last_run": 1, "bytes_since_last_run": 2048}
    row |= {
        "notes": ["Pages are of 100 of 5,000 files."],
        "avoidable_files": 2,
        "avoidable_bytes": 5 * 2**20,
        "files_with_truncated_statistics": 0,
    }
    notes = [line for line in terminal.text([row]).splitlines() if line.startswith("Note: ")]
    assert notes == [
        "Note: Pages are of 100 of 5,000 files.",
        "Note: 3 files without statistics of some column are always read.",
        "Note: 1 file came since the last run, 2.0 KiB.",
        "Note: 2 files of 5.0 MiB cause four fifths of the unnecessary reads.",
    ]


def test_queries_of_a_log_the_worst_first():
    text = terminal.text([GOOD], queries=audit_rows.asked())
    line = next(line for line in text.splitlines() if "price > ?" in line)
    assert line.split()[4:] == ["30.0", "%", "100.0", "%", "12.5", "%", "8.00", "x", "ALERT"]


def test_what_the_reader_without_spark_leaves_out_is_left_out():
    row = {**GOOD, "levels": [c for c in GOOD["levels"] if c["level"] == "file"], "total_bytes": None}
    text = terminal.text([row])
    assert "pages" not in text and "This table by (customer, product), 16 files\n" in text
    bare = {"verdict": "OK", "reason": "Fewer than 2 files.", "total_file_count": 1, "levels": []}
    assert terminal.text([bare]).startswith("OK: Fewer than 2 files.")
    with pytest.raises(ValueError, match="at least one row"):
        terminal.text([])


def test_depths_are_gathered_in_buckets_that_double():
    keys = {f"{d:05}": 1 for d in range(1, 17)}
    assert readings.by_powers({**keys, "00032": 5, "00064": 0, "00128": 2}) == [
        ("1", 1),
        ("2", 1),
        ("3-4", 2),
        ("5-8", 4),
        ("9-16", 8),
        ("17-32", 5),
        ("33-64", 0),
        ("65-128", 2),
    ]
    assert readings.by_powers({"00001": 0, "00002": 7}) == [("2", 7)]
    assert readings.by_powers({}) == []


def test_a_notebook_shows_an_audit_and_its_queries_too():
    shown = notebook.html([BAD])
    assert "<b>RECLUSTER</b>" in shown and "<pre" in shown and shown.count("<table") == 1
    assert "ALERT" in notebook.html(audit_rows.asked())
