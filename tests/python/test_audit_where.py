"""``python -m spark_zorder audit --where``: what a query would open, as the session says it."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import pytest

pytest.importorskip("pyarrow")

import audit_tables
import pyarrow as pa
from pyarrow import parquet
from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType
from spark_zorder import __main__ as cli
from spark_zorder import _sql
from spark_zorder._errors import AuditError
from spark_zorder.audit import with_spark

pytestmark = pytest.mark.same_on_all_lines


@pytest.fixture
def ask(spark, monkeypatch, capsys):
    """Runs the shell in the session of the tests; the exit code, and what it prints."""
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    zone = spark.conf.get("spark.sql.session.timeZone")

    def run(*words):
        code = cli.main(["audit", *words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    yield run
    spark.conf.set("spark.sql.session.timeZone", zone)


def rows_of(out):
    return [json.loads(line) for line in out.splitlines()]


def test_as_text(ask, folder):
    code, out, err = ask(folder, "--where", "a = 17 AND abs(b) = 3", "--price-per-tib", "5")
    assert code == 0 and "A filter needs Spark" in err
    assert out.startswith(
        "The query opens 1 of 10 files (10.0 % of the rows), 1 of 20 row groups (5.0 % of the rows) and "
        "2 of 4 pages in these files (5.0 % of the rows)."
    )
    assert "Reading every column of that costs" in out and "of the whole table" in out
    assert "no statistics index" in out


def test_as_json_it_is_what_the_table_function_says(spark, ask, folder):
    code, out, _ = ask(folder, "--where", "a < 150", "--json", "--spark")
    rows = rows_of(out)
    assert code == 0
    assert [(r["filter"], r["level"], r["considered"], r["pruned"], r["kept"]) for r in rows] == [
        (None, "file", 10, 8, 2),
        (None, "row group", 20, 17, 3),
        (None, "page", 4, 1, 3),
    ]
    expected = spark.sql(f"SELECT * FROM clustering_where('{folder}', 'a < 150')").collect()
    for row, e in zip(rows, expected):
        found = (row["level"], row["considered"], row["kept"], row["rows"], row["share"])
        assert found == (e.level, e.total_count, e.read_count, e.read_rows, e.share)


def test_with_an_index_each_part_of_the_filter_is_explained(spark, ask, folder):
    spark.sql(f"ZORDER INDEX '{folder}'").collect()
    words = (folder, "--where", "a < 150 AND b >= 0")
    code, out, _ = ask(*words, "--json")
    rows = rows_of(out)
    assert code == 0 and rows[0]["filter"] is None and rows[0]["kept"] == 2
    assert sum(r["filter"] is not None and "scan" in r for r in rows) >= 2
    assert rows[-1]["level"] == "page" and rows[-1]["rows"] == 150
    code, out, _ = ask(*words)
    assert code == 0 and "pages in these files are read (15.0 % of the rows)." in out
    assert "costs" not in out
    _, out, _ = ask(*words, "--price-per-tib", "5")
    assert re.search(r"15\.0 % of the rows\)\.\nReading every column of that costs [0-9.]+; of the", out)
    _, out, _ = ask(*words, "--price-per-tib", "5", "--json")
    assert_prices(rows_of(out)[-1])


def assert_prices(row):
    assert row["price"] == pytest.approx(row["share"] * row["table_price"]) and row["table_price"] > 0


def test_prices_as_json(ask, folder):
    _, out, _ = ask(folder, "--where", "a < 150", "--json", "--price-per-tib", "5")
    assert len(rows_of(out)) == 3
    for row in rows_of(out):
        assert_prices(row)


def test_a_price_of_pages_that_are_not_counted(ask, folder, spark, monkeypatch):
    def refuse(*_):
        raise AuditError("no pages here.")

    spark.sql(f"ZORDER INDEX '{folder}'").collect()
    monkeypatch.setattr(with_spark, "would_open", refuse)
    code, out, _ = ask(folder, "--where", "a < 150 AND b >= 0", "--price-per-tib", "5")
    assert code == 0
    assert out.endswith("Pages are not counted: no pages here.\nSo it is not known what reading costs.\n")


@pytest.mark.parametrize("text", ["false", "a = NULL"])
def test_a_filter_that_no_row_can_meet(ask, folder, text):
    code, out, _ = ask(folder, "--where", text)
    assert code == 0 and out.startswith("The query opens 0 of 10 files")


@pytest.mark.parametrize(("text", "what"), [("a = ", "PARSE_SYNTAX_ERROR"), ("nope = 1", "`nope`")])
def test_a_filter_that_cannot_be_read_is_a_failure(ask, folder, text, what):
    code, out, err = ask(folder, "--where", text)
    assert code == 1 and out == "" and what in err


# ways of writing a filter in which a reader may err
ODD = (
    """
i = '017' | i IN ('017', '5') | NOT (i IN ('017')) | d IN ('2024-10-01') | d NOT IN ('2024-1-1')
d = '2024-10-01 ' | s > 'k0' | f = 0.1 | f > 0.1 | f < 0.1 | f IN (0.1, 0.25) | f = 16777217 | x > -0.0
x = 0 | l > 1e3 | NOT (l <= 1e3) | dec = 0.125 | NOT (dec = 0.125) | dec > 1e0 | wide < 3 | b | NOT b
b > false | s LIKE 'k%' | s NOT LIKE 'k%' | s LIKE 'k00_%' | s LIKE '' | startswith(s, '') | raw = X'05FF'
ts >= DATE'2024-10-01' | local >= '2024-10-01' | day > '2026-01-01' | part = '1' | part IN ('1') | i <=> NULL
NOT (i <=> 5) | NOT (i IN (5, NULL)) | i = NULL OR b | NOT (x IN (NULL, 1.5)) | NOT (i = NULL) | (b) IS NULL
i = 5 IS NULL | s IS NOT NULL AND NOT (s = 'x') | st IS NULL | list IS NULL | none IS NULL
""".strip()
    .replace("\n", " | ")
    .split(" | ")
)


@pytest.mark.long
def test_no_fewer_files_than_those_in_which_spark_finds_rows(spark, ask, tmp_path):
    """The suites of the JVM check the same, file by file."""
    audit_tables.write(tmp_path, seed=3, files=18)
    spark.read.parquet(str(tmp_path)).createOrReplaceTempView("audit_rows")
    left_out = 0
    hits = ", ".join(f"max(coalesce({f}, false)) AS q{i}" for i, f in enumerate(ODD))
    rows = spark.sql(f"SELECT input_file_name() AS file, {hits} FROM audit_rows GROUP BY 1").collect()
    assert len(rows) == 18
    for i, text in enumerate(ODD):
        code, out, err = ask(f"{tmp_path}/", "--where", text, "--json")
        assert code == 0, err
        kept = rows_of(out)[0]["kept"]
        assert sum(bool(r[f"q{i}"]) for r in rows) <= kept, text
        left_out += 18 - kept
    assert left_out > 100


@pytest.mark.parametrize(
    ("zone", "kept"),
    [("UTC", 1), ("+02:00", 0), ("America/New_York", 0), ("-18:00", 0)],
)
def test_the_time_zone_of_timestamps(ask, tmp_path, zone, kept):
    hour = 3_600_000_000
    start = 1_767_268_800_000_000  # 2026-01-01 12:00 UTC
    times = pa.array([start, start + hour // 2], pa.timestamp("us", tz="UTC"))
    parquet.write_table(pa.table({"ts": times}), tmp_path / "part-0.parquet")

    def opened(text):
        code, out, err = ask(f"{tmp_path}/", "--json", "--where", text, f"--time-zone={zone}")
        assert code == 0, err
        return rows_of(out)[0]["kept"]

    assert opened("ts = '2026-01-01 12:10:00'") == kept
    # a constant with a zone of its own, and the hours that the zone is apart
    assert opened("ts = '2026-01-01 14:10:00+02:00'") == 1
    local = {"+02:00": "14:10", "America/New_York": "07:10"}.get(zone)
    assert local is None or opened(f"ts = '2026-01-01 {local}:00'") == 1


def test_a_time_zone_that_is_none(ask, folder):
    code, _, err = ask(folder, "--where", "a = 1", "--time-zone", "Mars/Olympus")
    assert code == 2 and "no time zone Mars/Olympus" in err


def test_bytes_are_counted_by_the_first_column_that_is_not_refused():
    asked = []

    def sql(text):
        asked.append(re.search(r"'t', '(\w+)'", text.replace("`", ""))[1])
        if asked[-1] == "day":
            raise AnalysisException("[ZORDER_COLUMN_REFUSED.PARTITION_COLUMN] day is a partition column.")
        return SimpleNamespace(collect=lambda: [(8, 1000)])

    def counted(*names):
        schema = StructType()
        for name in names:
            schema.add(name, "long")
        rows = SimpleNamespace(schema=schema, columns=names, inputFiles=list)
        return with_spark.files_and_bytes(SimpleNamespace(sql=sql), _sql.Target("t", is_path=False), rows)

    assert counted("_hoodie_commit_time", "day", "a", "b") == (8, 1000) and asked == ["day", "a"]
    assert counted("_hoodie_commit_time", "day") == (None, None)
