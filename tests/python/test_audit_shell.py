"""``python -m spark_zorder audit``: what needs a session and what does not, exit codes, JSON and text."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet
from spark_zorder import __main__ as cli
from spark_zorder import _doctor, _machine
from spark_zorder.audit import plain

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture
def main(monkeypatch):
    """The shell, in which a session is an error."""

    def refuse(_):
        raise RuntimeError("a session was asked for")

    monkeypatch.setattr(cli, "_session", refuse)
    return cli.main


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--by", "nope"], "no column nope. Its columns are a, b."),
        (["--by", "A1"], "no column A1. Did you mean a? Its columns are a, b."),
        (["--where", "a = 1", "--by", "a"], "leave out --by"),
        (["--by", "a", "--time-zone", "UTC"], "is for the timestamps of --where"),
        (["--price-per-tib", "-1"], "0 or more"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_sentence(main, folder, capsys, more, what):
    assert main(["audit", folder, *more]) == 2
    err = capsys.readouterr().err
    assert what in err and "Traceback" not in err


def test_a_field_with_a_dot_in_its_name(main, tmp_path, capsys):
    """As in SQL, s.y.z would be a field of s.y."""
    for n in range(4):
        rows = [{"s": {"y.z": 10 * n + i, "w": {"x.y": 1}}, "b": i, "t.u": i, "l": [i]} for i in range(10)]
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / f"part-{n}.parquet")
    paths = [c.path for c in plain.table.of(plain.listed(str(tmp_path))).columns.all]
    assert {("s", "w", "x.y"), ("s", "y.z"), ("b",), ("t.u",)} < set(paths)
    assert [len(path) for path in paths if path[0] == "l"] == [3]
    assert main(["audit", str(tmp_path), "--by", "s.`y.z`,b,`t.u`", "--json"]) in (0, 3)
    row = json.loads(capsys.readouterr().out)
    assert row["cluster_by_keys"] == "(s.`y.z`, b, `t.u`)"
    assert main(["audit", str(tmp_path), "--by", "s.y.z"]) == 2
    wanted = "The table has no column s.y.z. Did you mean s.`y.z`? Its columns are s, b, `t.u`, l.\n"
    assert capsys.readouterr().err == wanted


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("a", "Column a is ambiguous: the table has A and a, and names are found in any case.\n"),
        ("A", "Column A is ambiguous: the table has A and a, and names are found in any case.\n"),
        ("s.x.y", "Column s.x.y is ambiguous: the table has s.X and s.x, and names are found in any case.\n"),
        (None, "Column a is ambiguous: the table has A and a, and names are found in any case.\n"),
    ],
)
def test_columns_that_differ_in_case_only_are_ambiguous(main, tmp_path, capsys, by, said):
    rows = {"A": [1], "a": [2], "b": [3], "s": [{"X": {"y": 1}, "x": {"z": 1}}]}
    parquet.write_table(pa.table(rows), tmp_path / "a.parquet")
    if by is None:
        runs = tmp_path / "_zorder/runs"
        runs.mkdir(parents=True)
        record = {"number": 1, "runId": "r", "operation": "OPTIMIZE", "columns": ["a", "b"], "curve": "auto"}
        (runs / "1.json").write_text(json.dumps(record))
    assert main(["audit", str(tmp_path), *(["--by", by] if by else [])]) == 2
    assert capsys.readouterr().err == said
    assert main(["audit", str(tmp_path), "--by", "b"]) == 0


def test_a_path_that_is_not_there_is_exit_code_1(main, tmp_path, capsys):
    assert main(["audit", str(tmp_path / "none"), "--by", "a"]) == 1
    assert "is not there" in capsys.readouterr().err
    assert main(["audit", str(tmp_path) + "/", "--by", "a"]) == 1
    assert "holds no Parquet files" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--spark"], ""),
        (["--where", "a = 1"], "A filter needs Spark"),
        (["--queries", "db.log"], "A query log needs Spark"),
        (["--by", "a"], "This is a table of another format (Delta)"),
    ],
)
def test_what_asks_for_a_session(main, folder, capsys, monkeypatch, words, said):
    """Without pyspark the answer is the command to type, before anything is started."""
    if "format" in said:
        (Path(folder) / "_delta_log").mkdir()
    assert main(["audit", folder, *words]) == 1
    err = capsys.readouterr().err
    assert err.endswith("a session was asked for\n")
    assert said == "" or f"{said}, so a Spark session is started." in err
    assert main(["audit", "db.t", *words]) == 1
    assert "a session was asked for" in capsys.readouterr().err
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyspark" else found(name))
    for table in (folder, "db.t"):
        assert main(["audit", table, *words]) == 2
        err = capsys.readouterr().err
        assert "type pip install 'spark-zorder[spark]', then the same again." in err
        assert "is started" not in err and err.count("\n") == 1


def test_spark_is_not_imported(folder):
    program = (
        "import sys; from spark_zorder.__main__ import main; "
        f"code = main(['audit', {folder!r}, '--columns', 'a']); "
        "assert 'pyspark' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("OK")


def test_an_audit_as_text_has_a_verdict_prices_and_exit_code_3(main, folder, capsys):
    pytest.importorskip("spark_zorder.view")
    assert main(["audit", folder, "--by", "a,b", "--price-per-tib", "5"]) == 3
    out = capsys.readouterr().out
    assert out.startswith("RECLUSTER") and f"ZORDER TABLE '{folder}' BY (a, b) WITH (fileCount = 10)" in out
    assert "Reading everything costs" in out and "a look-up costs" in out
    assert main(["audit", folder, "--by", "a"]) == 0
    assert capsys.readouterr().out.startswith("OK")


def test_an_audit_as_json_is_one_row_a_line(main, folder, capsys):
    pytest.importorskip("spark_zorder.view")
    assert main(["audit", folder, "--by", "b", "--json"]) == 3
    row = json.loads(capsys.readouterr().out)
    assert row["verdict"] == "USE SORT" and row["total_file_count"] == 10
    assert [(e["level"], e["name"], e["total_count"]) for e in row["levels"]] == [
        ("file", None, 10), ("file", "b", 10), ("row group", None, 20), ("row group", "b", 20),
    ]  # fmt: skip
    assert plain.PAGES in row["notes"]


def test_the_columns_of_the_last_run_are_the_default(main, folder, capsys):
    pytest.importorskip("spark_zorder.view")
    assert main(["audit", folder]) == 2
    assert "was never clustered" in capsys.readouterr().err
    runs = Path(folder) / "_zorder/runs"
    runs.mkdir(parents=True)
    record = {"number": 1, "runId": "r", "operation": "OPTIMIZE", "columns": ["a"], "curve": "lexical"}
    (runs / "1.json").write_text(
        json.dumps({**record, "startedMs": 0, "files": [{"path": "part-0.parquet"}]})
    )
    (runs / "2.json").write_text("no record")
    assert main(["audit", folder, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["cluster_by_keys"], row["curve"], row["files_since_last_run"]) == ("(a)", "lexical", 9)


def test_a_table_that_is_sorted_as_was_asked_is_no_alert(main, folder, capsys):
    assert main(["audit", folder, "--by", "a,b"]) == 3
    runs = Path(folder) / "_zorder/runs"
    runs.mkdir(parents=True)
    record = {"number": 1, "runId": "r", "operation": "OPTIMIZE", "columns": ["a", "b"], "curve": "lexical"}
    files = [{"path": file.name} for file in Path(folder).glob("*.parquet")]
    (runs / "1.json").write_text(
        json.dumps({**record, "startedMs": 0, "files": files, "layoutIds": {"": "l"}})
    )
    capsys.readouterr()
    assert main(["audit", folder]) == 0
    assert capsys.readouterr().out.startswith("OK: ")


def test_odd_records_of_runs_are_passed_over(main, folder, capsys):
    runs = Path(folder) / "_zorder/runs"
    runs.mkdir(parents=True)
    good = {"number": 1, "runId": "r", "operation": "OPTIMIZE", "columns": ["a"], "startedMs": 5}
    good.update(curve="lexical", layoutIds={"": "l"}, files=[{"path": "part-0.parquet"}])
    of_lists = {name: [[]] for name in ("columns", "startedMs", "curve", "layoutIds", "files", "report")}
    odd = [
        '{"number": 2, "ru',
        "",
        "[1]",
        "null",
        "[" * 100_000,
        {**good, "number": None, "columns": ["b"]},
        {"number": 7},
        {**good, "operation": "DREAM", "columns": ["b"]},
        {**good, "runId": ["r"], "operation": "ROLLBACK", "columns": 5, "layoutIds": "x", "files": {"p": 1}},
        {**good, "runId": "q", "operation": "REPLACE", **of_lists},
        {**good, "runId": "q", "operation": "REPLACE", "layoutIds": {"": []}, "files": [{}, {"path": []}]},
    ]
    for number, record in enumerate([good, *odd], 1):
        (runs / f"{number}.json").write_text(record if isinstance(record, str) else json.dumps(record))
    (runs / "99.json").write_bytes(b"\xff\xfe")
    assert main(["audit", folder, "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["cluster_by_keys"], row["curve"], row["files_since_last_run"]) == ("(a)", "lexical", 9)
    (runs / "100.json").write_text(json.dumps({**good, "runId": 7, **of_lists}))
    assert main(["audit", folder, "--by", "a"]) == 0


def test_a_directory_of_other_files(main, tmp_path, capsys):
    (tmp_path / "sales.csv").write_text("customer,product\n1,2\n" * 20)
    assert main(["audit", str(tmp_path), "--by", "customer"]) == 1
    err = capsys.readouterr().err
    assert "sales.csv is no Parquet file, or is cut off: give the directory of" in err


def test_names_show_the_characters_that_a_terminal_obeys(main, folder, capsys):
    odd = str(Path(folder).rename(Path(folder).parent / "t\x1b[2J\n"))
    assert main(["audit", odd, "--by", "b"]) == 3
    out = capsys.readouterr().out
    assert "\x1b" not in out and f"ZORDER TABLE '{odd[:-5]}\\x1b[2J\\n' BY (b)" in out
    assert main(["audit", odd, "--by", "b\x1b"]) == 2
    assert "no column b\\x1b." in capsys.readouterr().err


def started(folder, *more, **options):
    words = [sys.executable, "-m", "spark_zorder", "audit", folder, *more]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def test_a_terminal_that_cannot_write_a_name(folder):
    odd = str(Path(folder).rename(Path(folder).parent / "größe"))
    with started(odd, "--by", "b", env={**os.environ, "PYTHONIOENCODING": "ascii"}) as process:
        out, err = process.communicate()
    assert (process.returncode, err) == (3, b"") and rb"/gr\xf6\xdfe by (b)" in out


def test_a_reader_that_has_gone_changes_no_exit_code(folder):
    with started(folder, "--by", "b") as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 3)


def test_a_partition_is_no_table(main, folder, capsys):
    assert main(["audit", f"{Path(folder).rename(Path(folder).parent / 'day=1')}/", "--by", "a"]) == 1
    assert "day=1/ is a partition of a table; give the table's directory" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "code", "said"),
    [
        (["lower(s)"], 2, "Files keep no bounds of the expression lower(s): audit the columns that it"),
        (["a", "gone"], 0, "The table was clustered by gone, too, and has no such column any more."),
    ],
)
def test_what_a_run_was_by_and_files_do_not_have(main, folder, capsys, columns, code, said):
    pytest.importorskip("spark_zorder.view")
    runs = Path(folder) / "_zorder/runs"
    runs.mkdir(parents=True)
    record = {"number": 1, "runId": "r", "operation": "OPTIMIZE", "columns": columns, "curve": "auto"}
    (runs / "1.json").write_text(json.dumps(record))
    assert main(["audit", folder, "--json"]) == code
    assert said in "".join(capsys.readouterr())


def test_a_relative_path_is_absolute_in_the_statement(main, folder, capsys, monkeypatch):
    monkeypatch.chdir(Path(folder).parent)
    assert main(["audit", "./t", "--by", "a,b"]) == 3
    assert f"ZORDER TABLE '{folder}' BY" in capsys.readouterr().out


def test_another_spelling_of_by_that_help_does_not_name(main, folder, capsys):
    assert main(["audit", folder, "--columns", "a"]) == 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    assert "--by A,B" in capsys.readouterr().out


def test_a_small_price_has_no_exponent(main, folder, capsys):
    assert main(["audit", folder, "--by", "a,b", "--price-per-tib", "5"]) == 3
    prices = capsys.readouterr().out.splitlines()[-1]
    assert re.search(r"costs 0\.0000\d+", prices) and not re.search(r"\de-", prices)


def test_of_empty_files_only_the_price_of_reading_everything_is_known(main, tmp_path, capsys):
    parquet.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    assert main(["audit", str(tmp_path), "--by", "a", "--price-per-tib", "5"]) == 0
    assert re.fullmatch(r"Reading everything costs [0-9.]*[0-9]\.", capsys.readouterr().out.splitlines()[-1])


class Unfit:
    """A finder in whose world pyarrow refuses the numpy beside it, as its `__init__` does."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "pyarrow":
            raise ImportError("pyarrow requires NumPy 2.0 or newer, found 1.26.4")
        return


def test_a_pyarrow_that_does_not_fit(main, folder, capsys, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Unfit, *sys.meta_path])
    said = (
        "pyarrow does not fit (pyarrow requires NumPy 2.0 or newer, found 1.26.4): "
        "type pip install 'spark-zorder[audit]'"
    )
    assert main(["audit", folder, "--by", "a"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"{said}. Until then a Spark session is started.")
    monkeypatch.setattr(_machine, "has_pyspark", lambda: False)
    assert main(["audit", folder, "--by", "a"]) == 2
    assert capsys.readouterr().err == f"{said}, then the same again.\n"
    assert {f.name: f for f in _doctor.doctor(show=None).facts}["pyarrow"].advice == said


def test_a_report_is_written(main, folder, tmp_path, capsys):
    report = pytest.importorskip("spark_zorder.report")
    if not report.available():
        pytest.skip("the extra report is not installed")
    target = tmp_path / "r.html"
    assert main(["audit", folder, "--by", "a,b", "--report", str(target), "--json"]) == 3
    assert target.read_text().lstrip().lower().startswith("<!doctype html")
    assert f"report: {target}" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_said_before_the_audit(main, tmp_path, capsys, monkeypatch):
    report = pytest.importorskip("spark_zorder.report")
    words = ["audit", "db.t", "--by", "a", "--report"]
    monkeypatch.setattr(report, "available", lambda: True)
    assert main([*words, str(tmp_path / "none/r.html")]) == 2
    assert (
        capsys.readouterr().err == f"There is no directory {tmp_path}/none for the report: make it first.\n"
    )
    assert main([*words, str(tmp_path)]) == 2
    assert "is a directory" in capsys.readouterr().err
    monkeypatch.setattr(report, "available", lambda: False)
    assert main([*words, str(tmp_path / "r.html")]) == 2
    assert "pip install 'spark-zorder[report]'" in capsys.readouterr().err


def test_a_pyarrow_that_is_too_old(monkeypatch):
    monkeypatch.setattr(pa, "__version__", "17.0.0")
    wanted = "pyarrow 17.0.0 is older than 18: type pip install 'spark-zorder[audit]'"
    assert _machine.pyarrow_trouble() == wanted


def test_files_by_uri_and_schemes_that_are_none(main, folder, capsys):
    assert main(["audit", f"file://{folder}", "--by", "a"]) == 0
    assert capsys.readouterr().out.startswith("OK")
    assert main(["audit", "nosuch://x/y", "--by", "a"]) == 1
    err = capsys.readouterr().err
    assert "cannot be opened" in err and err.endswith("; try --spark.\n")
