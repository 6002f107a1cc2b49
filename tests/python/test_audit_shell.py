"""``python -m spark_zorder audit``: what needs a session and what does not, exit codes, JSON and text."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("sqlglot")

import pyarrow as pa
from pyarrow import parquet
from spark_zorder import __main__ as cli
from spark_zorder.audit import plain

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture
def folder(tmp_path):
    """Ten files of two row groups each: `a` ascends, `b` does not."""
    root = tmp_path / "t"
    root.mkdir()
    for n in range(10):
        rows = {"a": range(100 * n, 100 * n + 100), "b": [(i * 37) % 100 for i in range(100)]}
        table = pa.table({name: list(values) for name, values in rows.items()})
        parquet.write_table(table, root / f"part-{n}.parquet", row_group_size=50)
    return str(root)


@pytest.fixture
def main(monkeypatch):
    """The shell, in which a session is an error."""

    def refuse(_):
        raise RuntimeError("a session was asked for")

    monkeypatch.setattr(cli, "_session", refuse)
    return cli.main


def test_what_a_query_would_open_as_text(main, folder, capsys):
    assert main(["audit", folder, "--where", "a = 17 AND abs(b) = 3", "--price-per-tib", "5"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "The query opens 1 of 10 files (10.0 % of the rows) and 1 of 20 row groups (5.0 % of the rows)."
    )
    assert "of the whole table" in out
    assert "not a comparison of one column with constants: ABS(b) = 3" in out
    assert plain.PAGES in out


def test_what_a_query_would_open_as_json(main, folder, capsys):
    assert main(["audit", folder, "--where", "a < 150", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["filter"], r["level"], r["considered"], r["kept"]) for r in rows] == [
        (None, "file", 10, 2),
        ("a < 150", "file", 10, 2),
        (None, "row group", 20, 3),
        ("a < 150", "row group", 20, 3),
    ]


@pytest.mark.parametrize(
    ("more", "what"),
    [
        (["--where", "a = "], "cannot be read"),
        (["--where", "nope = 1"], "no column nope"),
        (["--where", "a = 1", "--columns", "a"], "leave out --columns"),
        (["--price-per-tib", "-1"], "0 or more"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_sentence(main, folder, capsys, more, what):
    assert main(["audit", folder, *more]) == 2
    err = capsys.readouterr().err
    assert what in err and "Traceback" not in err


def test_a_path_that_is_not_there_is_exit_code_1(main, tmp_path, capsys):
    assert main(["audit", str(tmp_path / "none"), "--where", "a = 1"]) == 1
    assert "is not there" in capsys.readouterr().err
    assert main(["audit", str(tmp_path) + "/", "--where", "a = 1"]) == 1
    assert "holds no Parquet files" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["db.t"], ["--spark"], ["delta"]])
def test_a_name_another_format_and_the_flag_ask_for_a_session(main, folder, tmp_path, capsys, words):
    if words == ["delta"]:
        (tmp_path / "t" / "_delta_log").mkdir()
        words = [folder]
    command = words if words[0] == "db.t" or words == [folder] else [folder, *words]
    assert main(["audit", *command, "--where", "a = 1"]) == 1
    assert "a session was asked for" in capsys.readouterr().err


def test_spark_is_not_imported(folder):
    program = (
        "import sys; from spark_zorder.__main__ import main; "
        f"code = main(['audit', {folder!r}, '--where', 'a = 1']); "
        "assert 'pyspark' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1 of 10 files" in done.stdout


def test_an_audit_as_text_has_a_verdict_prices_and_exit_code_3(main, folder, capsys):
    pytest.importorskip("spark_zorder.view")
    assert main(["audit", folder, "--columns", "a,b", "--price-per-tib", "5"]) == 3
    out = capsys.readouterr().out
    assert out.startswith("RECLUSTER") and f"ZORDER TABLE '{folder}' BY (a, b) WITH (fileCount = 10)" in out
    assert "Reading everything costs" in out and "a look-up costs" in out
    assert main(["audit", folder, "--columns", "a"]) == 0
    assert capsys.readouterr().out.startswith("OK")


def test_an_audit_as_json_is_one_row_a_line(main, folder, capsys):
    pytest.importorskip("spark_zorder.view")
    assert main(["audit", folder, "--columns", "b", "--json"]) == 3
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


def test_a_report_is_written(main, folder, tmp_path, capsys):
    report = pytest.importorskip("spark_zorder.report")
    if not report.available():
        pytest.skip("the extra report is not installed")
    target = tmp_path / "r.html"
    assert main(["audit", folder, "--columns", "a,b", "--report", str(target), "--json"]) == 3
    assert target.read_text().lstrip().lower().startswith("<!doctype html")
    assert f"report: {target}" in capsys.readouterr().err


def test_files_by_uri_and_schemes_that_are_none(main, folder, capsys):
    assert main(["audit", f"file://{folder}", "--where", "a = 1"]) == 0
    assert "1 of 10 files" in capsys.readouterr().out
    assert main(["audit", "nosuch://x/y", "--where", "a = 1"]) == 1
    assert "cannot be opened" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("zone", "kept"),
    [("UTC", 1), ("+02:00", 0), ("America/New_York", 0), ("-23:00", 0)],
)
def test_the_time_zone_of_timestamps(main, tmp_path, capsys, zone, kept):
    hour = 3_600_000_000
    start = 1_767_268_800_000_000  # 2026-01-01 12:00 UTC
    times = pa.array([start, start + hour // 2], pa.timestamp("us", tz="UTC"))
    parquet.write_table(pa.table({"ts": times}), tmp_path / "part-0.parquet")
    asked = ["audit", f"{tmp_path}/", "--json", "--where"]
    assert main([*asked, "ts = '2026-01-01 12:10:00'", f"--time-zone={zone}"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["kept"] == kept
    # a constant with a zone of its own, and the hours that the zone is apart
    assert main([*asked, "ts = '2026-01-01 14:10:00+02:00'", f"--time-zone={zone}"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["kept"] == 1
    local = {"+02:00": "14:10", "America/New_York": "07:10"}.get(zone)
    if local:
        assert main([*asked, f"ts = '2026-01-01 {local}:00'", f"--time-zone={zone}"]) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[0])["kept"] == 1


def test_a_time_zone_that_is_none(main, folder, capsys):
    assert main(["audit", folder, "--where", "a = 1", "--time-zone", "Mars/Olympus"]) == 2
    assert "no time zone Mars/Olympus" in capsys.readouterr().err
    assert main(["audit", folder, "--columns", "a", "--time-zone", "UTC"]) == 2
    assert "is for the timestamps of --where" in capsys.readouterr().err
