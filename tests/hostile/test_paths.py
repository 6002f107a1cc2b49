"""Directories and files as people name them, and as they get into a directory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from oracle import multiset


@pytest.mark.parametrize(
    "name", ["with space", "50%20off", "a+b", "na\u00efve \u6570\u636e", "x#y", "it's", "a=b=c,d;e&f"]
)
def test_names_of_directories(walk, name):
    if "=" in name:
        walk.path(name)
        walk.refused(f"ZORDER TABLE '{walk.folder / name}' BY (a, b) WITH (force = true)", "partition")
        return
    t = walk.path(name)
    rows = walk.read(t)
    assert walk.cluster(t) == "DONE"
    assert walk.read(t) == rows
    assert walk.say("ROLLBACK", t) == "ROLLED_BACK"
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.read(t) == rows


def test_one_directory_by_four_spellings(walk):
    t = walk.path()
    rows = walk.read(t)
    assert walk.cluster(f"{t}/") == "DONE"
    assert walk.cluster(f"file://{t}") == "NOTHING_TO_DO"
    assert walk.cluster(f"{t}/../t/.") == "NOTHING_TO_DO"
    assert walk.cluster(os.path.relpath(t), how="FULL") == "DONE"
    assert walk.say("ROLLBACK", f"file:{t}") == "ROLLED_BACK"
    assert walk.read(t) == rows


def test_values_of_partitions_that_need_escapes(walk):
    values = ["a/b", "a%b", "a=b", " lead", "x:y", "\u00fc", "'q'", "{z}", None, "A", "a"]
    parts = ", ".join("NULL" if v is None else '"' + v + '"' for v in values)
    df = walk.rows(0, 1_100).selectExpr(
        "id", "a", "b", f"element_at(array({parts}), cast(id % 11 + 1 as int)) s"
    )
    t = walk.path("odd", df, "s")
    rows = walk.read(t)
    assert walk.cluster(t, options="fileCount = 2") == "DONE"
    assert walk.read(t) == rows
    name = walk.managed("odd_values", "s", df=df)
    assert walk.cluster(name, options="fileCount = 2") == "DONE"
    walk.say("VACUUM", name, "RETAIN 0 HOURS")
    assert walk.table(name) == multiset(df)


def test_marks_and_empty_files_beside_the_data(walk):
    t = walk.path()
    rows = walk.read(t)
    for name in ("_SUCCESS", "_committed_1", ".hidden", "zero.parquet.crc"):
        (Path(t) / name).write_bytes(b"")
    walk.cluster(t)
    assert walk.read(t) == rows


def test_a_file_that_is_not_parquet(walk):
    t = walk.path()
    (Path(t) / "part-notes.parquet").write_text("these are notes, twelve bytes at least")
    walk.refused(f"ZORDER TABLE '{t}' BY (a, b) WITH (force = true)", "part-notes.parquet")


def test_a_file_that_was_cut_off(walk):
    t = walk.path()
    victim = sorted(Path(t).glob("*.parquet"))[0]
    victim.write_bytes(victim.read_bytes()[:-20])
    walk.refused(f"ZORDER TABLE '{t}' BY (a, b) WITH (force = true)", victim.name)


def test_files_without_the_ending_and_without_rows(walk):
    t = walk.path()
    walk.rows(0, 0).coalesce(1).write.mode("append").parquet(t)
    first = sorted(Path(t).glob("*.parquet"))[0]
    first.rename(first.with_suffix(""))
    rows = walk.read(t)
    walk.cluster(t)
    assert walk.read(t) == rows


def test_a_link_to_a_file_keeps_the_file_it_points_to(walk):
    t = walk.path()
    real = walk.path("elsewhere", walk.rows(8_000, 8_050).coalesce(1))
    source = sorted(Path(real).glob("*.parquet"))[0]
    (Path(t) / "linked.parquet").symlink_to(source)
    rows = walk.read(t)
    try:
        walk.cluster(t)
    except Exception as e:
        assert "link" in str(e)
    else:
        walk.say("VACUUM", t, "RETAIN 0 HOURS")
    assert walk.read(t) == rows
    assert walk.spark.read.parquet(real).count() == 50


def test_a_directory_beside_whose_name_is_a_prefix(walk):
    t, other = walk.path("t"), walk.path("t2")
    hidden = walk.path(".t.zorder-notours.old")
    walk.cluster(t)
    walk.say("VACUUM", t, "RETAIN 0 HOURS")
    walk.refused(f"ZORDER REMOVE '{t}'", "notours")
    assert walk.read(other) == walk.read(t) == multiset(walk.rows())
    assert walk.spark.read.parquet(hidden + "/*.parquet").count() == 4_000


def test_nothing_at_the_path_and_a_file_at_the_path(walk):
    t = walk.path()
    walk.refused(f"ZORDER TABLE '{walk.folder}/tt' BY (a)", "t")
    file = sorted(Path(t).glob("*.parquet"))[0]
    walk.refused(f"ZORDER TABLE '{file}' BY (a)", "directory")
    walk.refused(f"ZORDER ROLLBACK '{walk.folder}/nowhere'")
    walk.refused("ZORDER TABLE '' BY (a)", "a path belongs")


def test_columns_that_need_quotes(walk):
    df = walk.rows().selectExpr("a as `a b`", "b as `x.y`", "id as `select`", "p as `\u00dcmlaut`")
    name = "odd_columns"
    walk.managed(name, df=df)
    assert walk.cluster(name, by="`x.y`, `a b`") == "DONE"
    assert walk.table(name) == multiset(df)
    assert walk.cluster(name, by="`select`, `\u00dcmlaut`", how="FULL") == "DONE"
    assert walk.table(name) == multiset(df)
    history = walk.spark.sql(f"SELECT columns FROM zorder_history('{name}')").collect()
    assert len(history) == 2


def test_names_that_differ_in_case_alone(walk):
    with walk.settings(spark__sql__caseSensitive="true"):
        t = walk.path("cases", walk.rows().selectExpr("a as x", "b as X", "id"))
        rows = walk.read(t)
        assert walk.cluster(t, by="x, X") == "DONE"
        assert walk.read(t) == rows
    walk.refused(f"ZORDER TABLE '{t}' FULL BY (x) WITH (force = true)")
