"""Results as tables for people: in a notebook, and by ``spark_zorder.show``."""

from __future__ import annotations

import re

import pytest
import spark_zorder
from spark_zorder import ZOrderTable
from spark_zorder.view import notebook, units
from spark_zorder.view.parts import Said, Statement, Table, as_html, as_text

OPTIONS = {"fileCount": 8, "force": True}


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
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
def test_a_share_is_never_rounded_to_nothing_or_all(share, text):
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


def test_parts_as_html_hold_no_markup_of_the_data():
    text = as_html(PARTS)
    assert "a&lt;b" in text and "&lt;all&gt;" in text and "<pre" in text
    assert text.count("<tr>") == 3


def html_of(frame):
    """As Jupyter asks: an attribute of the object, unless the object has an answer to everything."""
    assert getattr(frame, "_ipython_canary_method_should_not_exist_", None) is None
    return frame._repr_html_()


def check_frames(spark, path):
    """What a run returns shows itself, and is the DataFrame that it was; on a session of either kind."""
    table = ZOrderTable.forPath(spark, path)
    dry = table.optimize().options(**OPTIONS).dryRun().executeZOrderBy("a", "b")
    done = table.optimize().options(**OPTIONS).executeZOrderBy("a", "b")
    assert type(done) is type(spark.range(1))
    for frame, status, head in ((dry, "DRY_RUN", "forecast"), (done, "DONE", "measured")):
        shown = html_of(frame)
        assert f"<b>{status}</b>" in shown and head in shown and "x bound" in shown
        rows = re.findall(r"<td[^>]*>(\w+)</td><td[^>]*>(files|row groups|pages)</td>", shown)
        assert [r for r in rows if r[0] == "a"] == [("a", "files"), ("a", "row groups"), ("a", "pages")]
    # all else as Spark has it
    assert done.select("status").collect()[0][0] == "DONE"
    assert done.unionByName(dry).count() == 2 and done.join(dry, "path").count() == 1
    assert done.toPandas().loc[0, "status"] == "DONE" if _has_pandas() else True
    assert "_repr_html_" not in vars(done.select("status"))
    assert "OPTIMIZE" in html_of(table.history())
    assert "ZORDER" in html_of(table.advise()) or "LEAVE IT" in html_of(table.advise())
    assert "ROLLED_BACK" in html_of(table.rollback())


def _has_pandas():
    try:
        import pandas  # noqa: F401
    except ImportError:
        return False
    return True


def test_a_notebook_shows_results_of_a_classic_session(spark, table):
    check_frames(spark, table)


def test_show_prints_status_and_tables(spark, table, capsys):
    spark_zorder.show(
        ZOrderTable.forPath(spark, table).optimize().options(**OPTIONS).dryRun().executeZOrderBy("a")
    )
    out = capsys.readouterr().out
    assert out.startswith("DRY_RUN: ")
    assert (
        "Share of the table that a look-up of one value reads" in out
        and "The layouts that were compared" in out
    )
    assert max(map(len, out.splitlines())) <= 130
    spark_zorder.show([{"a": 1, "b": {"c": None, "d": [1, 2]}}])
    assert capsys.readouterr().out.splitlines() == ["a  b.c  b.d", "-  ---  ----", "1    -  1, 2"]
    spark_zorder.show([])
    assert capsys.readouterr().out == "No rows.\n"


def test_many_rows_are_cut(spark):
    text = notebook.html(notebook.dicts(spark.range(300)))
    assert text.count("<tr>") == 101 and "first 100 rows" in text
