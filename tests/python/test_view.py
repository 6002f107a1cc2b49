"""Results as tables for people: in a notebook, and by ``spark_zorder.show``."""

from __future__ import annotations

import os
import shutil
import sys
import types

import audit_rows
import pytest
import spark_zorder
from frames import OPTIONS, check_frames
from spark_zorder import ZOrderTable
from spark_zorder.view import notebook, readings, results, units
from spark_zorder.view.parts import Said, Statement, Table, as_html, as_text
from support import SHARED


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.00001, "< 0.01 %"),
        (0.0001, "0.01 %"),
        (0.00994, "0.99 %"),
        (0.00995, "1.0 %"),
        (0.125, "12.5 %"),
        (0.9994, "99.9 %"),
        (0.9996, "> 99.9 %"),
        (None, "-"),
    ],
)
def test_a_share_is_never_rounded_to_nothing(share, text):
    assert units.percent(share) == text


def test_numbers_have_three_digits_and_units():
    assert [units.size(n) for n in (0, 1023, 1024, 123_456_789, 5 * 2**40)] == [
        "0 B",
        "1,023 B",
        "1.0 KiB",
        "118 MiB",
        "5.0 TiB",
    ]
    assert [units.count(n) for n in (64, 64.0, 10.94, 2880404, None)] == [
        "64",
        "64",
        "10.9",
        "2,880,404",
        "-",
    ]
    assert [units.times(n) for n in (1.048, 13.51, 210.4)] == ["1.05 x", "13.5 x", "210 x"]
    assert [units.figure(n) for n in (5, 0.000007298, 12340.4, 0)] == ["5", "0.000007298", "12,340", "0"]
    assert units.things(1, "file") == "1 file"


PARTS = [
    Said("RECLUSTER", "A look-up reads <all> of it."),
    Statement("ZORDER TABLE t BY (a)"),
    Table("Shares", ["column", "none", "read"], [["a<b", "-", "12.5 %"], ["b", "-", "100 %"]], (2,)),
]


def test_parts_as_text():
    assert as_text([*PARTS[:2], PARTS[2].filled]) == (
        "RECLUSTER: A look-up reads <all> of it.\n\n"
        "Run this first:\n    ZORDER TABLE t BY (a)\n\n"
        "Shares\ncolumn    read\n------  ------\na<b     12.5 %\nb        100 %"
    )


def test_a_name_cannot_change_what_a_terminal_shows():
    name = "t\x1b[2J\r\n\x9b\u202eq\u2066é\udcfc"
    shown = r"t\x1b[2J\r\n\x9b\u202eq\u2066é\udcfc"
    table = Table(name, ["column", name], [[name, "1"], ["a", "22"]], (1,), name)
    assert as_text([Said(name, name), Statement(name), table]).split("\n") == [
        f"{shown}: {shown}",
        "",
        "Run this first:",
        f"    {shown}",
        "",
        shown,
        f"{'column'.ljust(len(shown))}  {shown}",
        f"{'-' * len(shown)}  {'-' * len(shown)}",
        f"{shown}  {'1'.rjust(len(shown))}",
        f"{'a'.ljust(len(shown))}  {'22'.rjust(len(shown))}",
        shown,
    ]


def test_a_name_cannot_change_what_a_notebook_shows():
    name = "t\u202eq\u2066"
    table = Table(name, ["column", name], [[name, "1"]], (1,), name)
    html = as_html([Said(name, name), Statement(name, name), table])
    assert not set("\u202e\u2066") & set(html) and html.count(r"t\u202eq\u2066") == 8


def test_full_width_names_keep_the_columns_of_a_table_in_line():
    # two columns wide each, and one letter with an accent of its own
    table = Table("", ["column", "n"], [["顧客", "1"], ["e\u0301t", "22"], ["a", "333"]], (1,))
    assert as_text([table]).split("\n") == [
        "column    n",
        "------  ---",
        "顧客      1",
        "e\u0301t       22",
        "a       333",
    ]


@pytest.mark.parametrize(
    ("tty", "terminal", "width"), [(False, 40, 100), (True, 40, 40), (True, 200, 100), (True, 3, 20)]
)
def test_sentences_are_as_wide_as_the_terminal_and_100_at_most(monkeypatch, tty, terminal, width):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: tty, raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda: os.terminal_size((terminal, 24)))
    text = as_text([Said("OK", "a b " * 100)])
    assert max(map(len, text.split("\n"))) in (width, width - 1)
    assert as_text([Said("OK", "a b " * 100)], 30) != text


def test_sentences_are_broken_between_words_and_not_in_names():
    path = "/data/part-of-a-long-name/" + "x" * 40
    said = f"The tables' files in {path} and in '/data/of my own/t' are `customer id`."
    assert as_text([Said("OK", said)], 30).split("\n") == [
        "OK: The tables' files in",
        path,
        "and in '/data/of my own/t' are",
        "`customer id`.",
    ]


def test_names_that_are_quoted_in_part_keep_their_quotes():
    names = {"`my id`": "my id", "s.`my id`": "s.`my id`", "`a.b`.c": "`a.b`.c", "`a`.`b c`": "`a`.`b c`"}
    files = {"now": 1.0, "forecast": 0.5, "measured": None, "bound": 0.5}
    run = results.run({"status": "DONE", "columns": [{"name": name, "files": files} for name in names]})
    assert [row[0] for row in run[1].rows] == list(names.values())
    levels = [{"level": "file", "name": name} for name in names]
    columns = readings.read([{"verdict": "OK", "levels": levels}]).whole.columns
    assert [c.column for c in columns] == list(names.values())


def test_a_table_without_rows_keeps_its_heads():
    none = Table("Shares", ["column", "look-up reads"], [], (1,)).filled
    assert as_text([none]) == "Shares\ncolumn  look-up reads\n------  -------------"


def test_parts_as_html_hold_no_markup_of_the_data():
    text = as_html(PARTS)
    assert "a&lt;b" in text and "&lt;all&gt;" in text and "<pre" in text
    assert text.count("<tr>") == 3


@pytest.mark.same_on_all_lines
def test_a_notebook_shows_results_of_a_classic_session(spark, table):
    check_frames(spark, table)


class ZMQInteractiveShell:
    """The name by which a notebook's shell is known."""


class Output:
    """What a cell shows: each text replaces the one before."""

    def __init__(self):
        self.texts = []

    def display(self, data, raw, display_id):
        assert raw and display_id
        self.update(data, raw)
        return self

    def update(self, data, raw):
        assert data["text/html"].startswith('<pre style="white-space:pre-wrap">')
        self.texts.append(data["text/plain"])


@pytest.fixture
def notebook_output(monkeypatch):
    output = Output()
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = ZMQInteractiveShell
    displays = types.ModuleType("IPython.display")
    displays.display = output.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", displays)
    return output


def test_a_notebook_shows_the_steps_of_a_run(spark, table, notebook_output):
    dry = ZOrderTable.forPath(spark, table).optimize().options(**OPTIONS).dryRun()
    dry.executeZOrderBy("a")
    first = notebook_output.texts[-1].splitlines()
    steps = [line.split()[0] for line in first]
    assert steps.index("select") < steps.index("forecast")
    # the steps of one run are not those of the next
    dry.executeZOrderBy("b")
    second = notebook_output.texts[-1].splitlines()
    assert [line.split()[0] for line in second] == steps


def test_a_notebook_shows_no_steps_if_they_are_switched_off(spark, table, notebook_output):
    spark.conf.set("spark.zorder.progress.show", "false")
    try:
        ZOrderTable.forPath(spark, table).optimize().options(**OPTIONS).dryRun().executeZOrderBy("a")
    finally:
        spark.conf.unset("spark.zorder.progress.show")
    assert notebook_output.texts == []


def test_show_prints_status_and_tables(spark, table, capsys):
    spark_zorder.show(
        ZOrderTable.forPath(spark, table).optimize().options(**OPTIONS).dryRun().executeZOrderBy("a")
    )
    out = capsys.readouterr().out
    assert out.startswith(("DRY_RUN: ", "DRY_RUN:\n"))
    assert (
        "Share of the table that a look-up of one value reads" in out
        and "The layouts that were compared" in out
    )
    assert max(map(len, out.splitlines())) <= 130
    spark_zorder.show([{"a": 1, "b": {"c": None, "d": [1, 2]}}])
    assert capsys.readouterr().out.splitlines() == ["a  b.c  b.d", "-  ---  ----", "1    -  1, 2"]
    spark_zorder.show([])
    assert capsys.readouterr().out == "No rows.\n"


def test_no_share_is_shown_below_its_bound():
    def row(name, measured):
        shares = {"now": 1.0, "forecast": 0.25, "measured": measured, "bound": 0.25}
        return {"name": name, "files": shares}

    row_of_run = {"status": "DONE", "path": "/t", "columns": [row("a", 0.3), row("b", 0.2495), row("c", 0.2)]}
    text = as_text(results.run(row_of_run))
    lines = [line.split() for line in text.splitlines() if " files " in line]
    assert [line[-2:] for line in lines] == [["1.20", "x"], ["1.00", "x"], ["-", "-"]]


def test_advice_is_a_table_and_sentences_with_their_statements():
    proposal = {
        "rank": 1,
        "verdict": "CLUSTER",
        "columns": ["a", "b"],
        "layout": "zorder",
        "bits": [2.0, 2.0],
        "share_now": 1.0,
        "share_expected": 0.25,
        "share_sorted": 0.453,
        "share_bound": 0.247,
        "x_bound": 1.016,
        "gain": 0.815,
        "loss_by_last_column": 0.188,
        "statement": "ZORDER TABLE t BY (a, b)",
        "reason": "Fewer reads.",
    }
    leave = {**dict.fromkeys(proposal), "rank": 2, "verdict": "LEAVE IT", "columns": [], "reason": "Small."}
    assert as_text(notebook.parts([proposal, leave])).splitlines() == [
        "Share of the table that a query reads",
        "rank  proposal      bits          now  expected  sorted   bound  x bound    gain    loss",
        "----  ------------  --------  -------  --------  ------  ------  -------  ------  ------",
        "   1  CLUSTER a, b  2.0, 2.0  100.0 %    25.0 %  45.3 %  24.7 %   1.02 x  81.5 %  18.8 %",
        "",
        "1. CLUSTER a, b: Fewer reads.",
        "",
        "    ZORDER TABLE t BY (a, b)",
        "",
        "2. LEAVE IT: Small.",
    ]


def test_a_history_says_what_each_run_did():
    text = notebook.html([audit_rows.run(1, (0.1, 0.2))])
    assert "OPTIMIZE" in text and ">15.0 %<" in text and ">95.0<" in text and "{" not in text


def test_a_history_says_how_a_run_ended():
    runs = [{**audit_rows.run(i + 1, (0.1, 0.2)), "status": s} for i, s in enumerate(["ROLLED_BACK", "DONE"])]
    lines = as_text(notebook.parts(runs)).splitlines()
    assert lines[0].split()[:4] == ["run", "what", "status", "finished"]
    assert [line.split()[2] for line in lines[2:4]] == ["ROLLED_BACK", "DONE"]


def test_short_rows_keep_their_sentences_and_lose_their_record():
    audited = [
        {
            "partition": None,
            "column": None,
            "verdict": "RECLUSTER",
            "files": 16,
            "now": 1.0,
            "bound": 0.25,
            "depth": 16.0,
            "reason": "Much is read.",
            "statement": "ZORDER TABLE t",
            "record": "{}",
        },
        {
            "partition": None,
            "column": "a",
            "verdict": None,
            "files": 16,
            "now": 1.0,
            "bound": 0.25,
            "depth": 16.0,
            "reason": None,
            "statement": None,
            "record": None,
        },
    ]
    assert as_text(notebook.parts(audited)).splitlines() == [
        "column  verdict    files      now   bound  depth",
        "------  ---------  -----  -------  ------  -----",
        "-       RECLUSTER     16  100.0 %  25.0 %     16",
        "a       -             16  100.0 %  25.0 %     16",
        "",
        "RECLUSTER: Much is read.",
        "",
        "    ZORDER TABLE t",
    ]
    kept = {"path": "/t", "files_deleted": 0, "bytes_deleted": 0, "files_carried_over": 0, "status": "KEPT"}
    assert as_text(notebook.parts([{**kept, "reason": "Kept until then."}])).splitlines()[-1] == (
        "KEPT: /t. Kept until then."
    )


def test_what_a_query_opens_is_a_sentence_first():
    scan = {"scan": 1, "table": "file:/data/sales", "filter": None, "considered": 16, "pruned": 12}
    scan.update(pruned_further=12, kept=4, pruned_by="range", reason="", files=16, summary="It opens 4.")
    of_filter = {**scan, "filter": "(a = 17)", "pruned_by": "range (12)", "reason": "Four.", "summary": None}
    assert as_text(notebook.parts([scan, of_filter])).splitlines() == [
        "It opens 4.",
        "",
        "scan  table             filter    considered  pruned  pruned_further  kept  pruned_by   reason",
        "----  ----------------  --------  ----------  ------  --------------  ----  ----------  ------",
        "   1  file:/data/sales  -                 16      12              12     4  range",
        "   1  file:/data/sales  (a = 17)          16      12              12     4  range (12)  Four.",
    ]
    # of a table whose format has left out files itself
    heads = as_text(notebook.parts([{**scan, "files": 64}])).splitlines()[2]
    assert heads.split()[-2:] == ["reason", "files"]


def test_every_result_is_known_by_its_columns():
    found = []
    for section in (SHARED.parent / "state" / "names.txt").read_text().split("\n\n"):
        title, *lines = section.strip().splitlines()
        if title == "# scalar functions":
            break
        columns = [line.split()[0] for line in lines]
        assert notebook.is_ours(columns), title
        found.append(title)
    assert len(found) > 20
    assert not notebook.is_ours(["version", "timestamp", "operation", "operationParameters"])
    # a log of requests, say
    assert not notebook.is_ours(["path", "status", "time"])


def test_what_is_not_ours_is_shown_as_spark_shows_it(spark, capsys):
    # as Delta's DESCRIBE HISTORY: maps whose keys differ from row to row
    rows = "VALUES (1, 'WRITE', map('mode', 'Append')), (0, 'OPTIMIZE', map('zOrderBy', '[a]', 'x', 'y'))"
    df = spark.sql(f"SELECT * FROM {rows} AS t(version, operation, operationParameters)")
    df.show()
    expected = capsys.readouterr().out
    spark_zorder.show(df)
    assert capsys.readouterr().out == expected and "OPTIMIZE" in expected
    spark_zorder.show(df.collect())
    assert "operationParameters.mode" in capsys.readouterr().out


class Frame:
    """As much of a DataFrame as showing one takes."""

    def __init__(self, rows):
        self.rows = rows
        self.columns = list(rows[0])

    def limit(self, most):
        return Frame(self.rows[:most])

    def collect(self):
        return self.rows


def test_show_asks_for_no_more_rows_than_it_prints(monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(Frame, "collect", lambda frame: asked.append(len(frame.rows)) or frame.rows)
    spark_zorder.show(Frame([{"path": f"/{i}", "status": "REMOVED"} for i in range(300)]))
    assert asked == [101] and "first 100 rows" in capsys.readouterr().out


def test_of_many_runs_the_last_ones_are_shown():
    text = repr(notebook.shown(Frame([audit_rows.run(i + 1, (0.1, 0.2)) for i in range(25)])))
    assert text.splitlines()[2].split()[0] == "6"
    assert text.endswith("These are the last 20 of 25 runs.")


def test_all_partitions_are_counted_where_some_are_shown():
    rows = audit_rows.in_no_order(audit_rows.sales(2000), 4)
    parts = [audit_rows.audit(rows, "RECLUSTER", "", partition=f"day={d}") for d in range(150)]
    frame = notebook.shown(Frame([audit_rows.audit(rows, "RECLUSTER", ""), *parts]))
    assert "and 140 more partitions" in repr(frame) and "and 140 more partitions" in frame._repr_html_()


def test_many_rows_are_cut(spark):
    text = notebook.html(notebook.dicts(spark.range(300)))
    assert text.count("<tr>") == 101 and "first 100 rows" in text
