"""The two readers of footers, Python's and the JVM's, over the same files."""

from __future__ import annotations

import pytest

pytest.importorskip("pyarrow")

import json
import random

import audit_tables
import pyarrow as pa
import pyspark
import spark_zorder
from pyarrow import parquet
from spark_zorder import __main__ as cli
from spark_zorder.audit import plain
from spark_zorder.audit.files import listing, normalized, table
from support import version

pytestmark = pytest.mark.same_on_all_lines


def read(root):
    return table.of(listing.list_files(listing.place(str(root))))


def flat(schema, above=()):
    """Spark's columns and fields of structs, as SQL has their types; None for arrays and the like."""
    for field in schema:
        kind = field.dataType
        path = (*above, field.name)
        if kind.typeName() == "struct":
            yield from flat(kind, path)
        elif kind.typeName() not in ("array", "map"):
            yield path, kind.simpleString().upper()


def types_of(found):
    return {c.path: c.type.sql for c in found.columns.all if c.type is not None}


def test_types_are_those_that_spark_infers(spark, tmp_path):
    other = [
        ("u8", pa.uint8()), ("u16", pa.uint16()), ("u32", pa.uint32()), ("u64", pa.uint64()),
        ("i16", pa.int16()), ("millis", pa.timestamp("ms", tz="UTC")), ("dec18", pa.decimal128(18, 3)),
        ("fixed", pa.binary(3)), ("large", pa.large_string()), ("x.y", pa.int32()),
    ]  # fmt: skip
    schema = pa.schema([*audit_tables.SCHEMA, *other])
    parquet.write_table(schema.empty_table(), tmp_path / "a.parquet")
    expected = dict(flat(spark.read.parquet(str(tmp_path)).schema))
    assert types_of(read(tmp_path)) == expected


def test_types_are_those_that_spark_wrote(spark, tmp_path):
    sql = (
        "SELECT 1Y AS t, 2S AS s, 3 AS i, 4L AS l, 1.5f AS f, 2.5d AS d, 1.25BD AS dec, 'x' AS str, "
        "true AS b, DATE'2026-01-01' AS day, TIMESTAMP'2026-01-01 00:00:00' AS ts, "
        "TIMESTAMP_NTZ'2026-01-01 00:00:00' AS n, "
        "X'01' AS raw, INTERVAL '1' DAY AS dt, INTERVAL '1' MONTH AS ym, named_struct('f', 1L) AS st"
    )
    spark.sql(sql).write.parquet(str(tmp_path / "t"))
    expected = dict(flat(spark.read.parquet(str(tmp_path / "t")).schema))
    assert types_of(read(tmp_path / "t")) == expected


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2"], ["01", "-5"], ["3000000000", "1"], ["2026-01-01", "2026-1-2"], ["a", "1"],
        ["a", "2026-01-01"], ["1.5", "2"], ["1", "2026-01-01"], ["2026-01-01 00:00:00"],
        ["__HIVE_DEFAULT_PARTITION__", "7"], ["__HIVE_DEFAULT_PARTITION__", "x"], ["a%3Ab", "c d"],
        ["Z%C3%BCrich", "%E9"],
        ["NaN", "1"], ["true"], ["1e3"], ["-"],
    ],
)  # fmt: skip
def test_partition_columns_are_those_that_spark_infers(spark, tmp_path, values):
    """A type that is not sure here has none: then nothing is left out by it."""
    for n, value in enumerate(values):
        folder = tmp_path / f"t/p={value}"
        folder.mkdir(parents=True)
        parquet.write_table(pa.table({"a": [n]}), folder / "a.parquet")
    expected = spark.read.parquet(str(tmp_path / "t"))
    found = read(tmp_path / "t")
    own = next(c for c in found.columns.all if c.partition)
    assert own.type is None or own.type.sql == expected.schema["p"].dataType.simpleString().upper()
    if own.type is not None and own.type.name == "string":
        texts = {v["p"] for v in found.partitions}
        assert texts == {r["p"] for r in expected.select("p").collect()}


def test_old_calendars_end_where_spark_says(spark):
    rebase = spark._jvm.org.apache.spark.sql.catalyst.util.RebaseDateTime
    assert rebase.lastSwitchJulianDay() == normalized.FIRST_SURE_DAY
    assert rebase.lastSwitchJulianTs() == normalized.FIRST_SURE_MICROS


def by_spark(spark, path, columns=None):
    more = f", '{columns}'" if columns else ""
    rows = spark.sql(f"SELECT * FROM clustering_information('{path}'{more})").collect()
    return [row.asDict(recursive=True) for row in rows]


def same_rows(spark, path, columns=None):
    """All that both know: pages and notes are left out."""
    by_python = plain.audit(plain.listed(str(path)), columns).rows()
    expected = by_spark(spark, path, columns)
    for row in expected:
        row["levels"] = [level for level in row["levels"] if level["level"] != "page"]
    for row in [*expected, *by_python]:
        row.pop("notes")
    assert list(differences(by_python, expected, "rows")) == []
    return by_python


def differences(found, expected, at):
    """Where two results differ, in words that are shorter than the two."""
    if isinstance(found, dict) and isinstance(expected, dict) and list(found) == list(expected):
        for key in found:
            yield from differences(found[key], expected[key], f"{at}.{key}")
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for i, pair in enumerate(zip(found, expected)):
            yield from differences(*pair, f"{at}[{i}]")
    elif found != expected or type(found) is not type(expected):
        yield at, found, expected


ASKED = ["i", "x, f, b", "dec, wide, l", "d, ts, local", "st.inner, raw", "none", "i, l, t, s, d"]


@pytest.mark.parametrize("partitions", [True, pytest.param(False, marks=pytest.mark.long)])
def test_both_readers_find_the_same_numbers(spark, tmp_path, partitions):
    audit_tables.write(tmp_path, seed=5, files=14, partitions=partitions)
    for asked in ASKED:
        rows = same_rows(spark, tmp_path, asked)
        assert len(rows) == (7 if partitions else 1)


@pytest.mark.parametrize("parts", [None, "p"])
def test_both_say_the_same_of_few_files_and_of_those_that_go_together(spark, tmp_path, parts):
    path = str(tmp_path / "t")
    rows = spark.range(0, 2400, 1, 3).selectExpr(
        "pmod(hash(id, 1), 1000) as a", "pmod(hash(id, 2), 1000) as b", "id", "id div 10 as later", "id % 2 p"
    )
    rows.write.partitionBy(*([parts] if parts else [])).parquet(path)
    for asked in ("a, b", "a", "id, later"):
        verdict = same_rows(spark, path, asked)[0]["verdict"]
        assert (verdict == "OK") == (asked == "id, later"), f"{asked}: {verdict}"


def test_both_find_the_same_in_files_of_spark(spark, tmp_path):
    """INT96, NaN that takes bounds away, decimals as bytes, constants, strings that are too long."""
    path = str(tmp_path / "t")
    spark.range(0, 4000, 1, 12).selectExpr(
        "cast(pmod(hash(id, 1), 1000) as int) as a", "pmod(hash(id, 2), 1000) as b", "id",
        "timestamp_micros(id * 1000000000) as t", "if(id % 997 = 0, double('NaN'), id / 3) as x",
        "cast(id as decimal(20, 3)) as dec", "7 as seven",
        "if(id < 400, repeat('x', 5000), cast(id as string)) as s",
        "if(id < 1000, null, concat(repeat('more than sixty four bytes, the same ', 2), id)) as p",
    ).write.option("parquet.block.size", 4096).parquet(path)  # fmt: skip
    for asked in ("a, b, id", "t, x", "t", "dec, a", "seven, a", "seven", "p, s"):
        same_rows(spark, path, asked)


@pytest.mark.long
def test_both_find_the_same_after_a_run_and_an_append(spark, tmp_path):
    path = str(tmp_path / "t")
    rows = spark.range(0, 20000, 1, 4).selectExpr(
        "pmod(hash(id, 1), 1000) as a", "pmod(hash(id, 2), 1000) as b"
    )
    rows.write.parquet(path)
    spark.sql(f"ZORDER TABLE '{path}' BY (a, b) WITH (fileCount = 16, force = true)").collect()
    found = same_rows(spark, path)
    assert found[0]["curve"] and found[0]["files_since_last_run"] == 0
    same_rows(spark, path, "b")
    rows.limit(500).write.mode("append").parquet(path)
    found = same_rows(spark, path)
    assert found[0]["files_since_last_run"] == 1
    spark.sql(f"ZORDER INDEX '{path}'").collect()
    same_rows(spark, path)
    spark.sql(f"ZORDER ROLLBACK '{path}'").collect()
    assert same_rows(spark, path, "a, b")[0]["files_since_last_run"] is None


@pytest.mark.long
@pytest.mark.parametrize("made_for", ["a sort", "a query log"])
def test_both_know_what_a_layout_was_made_for_and_late_rows_of_one_partition(spark, tmp_path, made_for):
    path = str(tmp_path / "t")
    rows = spark.range(0, 9000, 1, 4).selectExpr(
        "pmod(hash(id, 1), 1000) as a", "pmod(hash(id, 2), 1000) as b", "id % 2 as p", "id % 3 = 0 as flag"
    )
    rows.write.partitionBy("p").parquet(path)
    queries = [f"SELECT * FROM parquet.`{path}` WHERE a = {n}" for n in range(20)]
    spark_zorder.query_log.of_sql(spark, queries).createOrReplaceTempView("made_for")
    how, log = ("USING CURVE lexical", "") if made_for == "a sort" else ("", ", queryLog = 'made_for'")

    def run(p):
        options = f"WITH (fileCount = 16, force = true{log})"
        spark.sql(f"ZORDER TABLE '{path}' WHERE p = {p} BY (a, b) {how} {options}").collect()

    run(0)
    rows.where("p = 0").limit(900).repartition(3).write.mode("append").partitionBy("p").parquet(path)
    run(1)
    found = {row["partition"]: row for row in same_rows(spark, path)}
    assert [found[p]["files_since_last_run"] for p in (None, "p=0", "p=1")] == [3, 3, 0]
    assert "The last run " in found["p=1"]["reason"] and found["p=1"]["verdict"] == "OK"
    # of a column with two values, half is the least
    assert "can bring it to 50.0 %" in same_rows(spark, path, "flag")[1]["reason"]


def test_more_blocks_than_are_measured(spark, tmp_path):
    """Above 1,000 blocks some stand for all."""
    rng = random.Random(9)
    for n in range(3):
        rows = [{"a": rng.randint(0, 10**6), "b": rng.randint(0, 100)} for _ in range(1300)]
        options = {"row_group_size": 2, "write_page_index": True}
        parquet.write_table(pa.Table.from_pylist(rows), tmp_path / f"{n}.parquet", **options)
    assert same_rows(spark, tmp_path, "a, b")[0]["levels"][3]["total_count"] == 1950


def same_boxes(spark, root, columns):
    audit = plain.audit(plain.listed(str(root)), columns)
    rows = spark.sql(f"SELECT * FROM clustering_boxes('{root}', '{columns}')").collect()
    expected = [row.asDict(recursive=True) for row in rows]
    for row in expected:
        row["path"] = row["path"].replace("file:", "", 1)
    assert list(differences(audit.result(pictures=True).boxes, expected, "boxes")) == []
    return expected


def test_boxes_are_the_same(spark, tmp_path):
    audit_tables.write(tmp_path, seed=6, files=8)
    same_boxes(spark, tmp_path, "i, s, d, ts, local, dec, wide, x, b, raw, none")


def test_boxes_of_far_times_and_of_intervals_are_the_same(spark, tmp_path):
    low, high = "0001-01-01", "+10000-02-03"
    columns = {
        "d": (f"DATE'{low}'", f"DATE'{high}'"),
        "n": (f"TIMESTAMP_NTZ'{low} 00:00:00'", f"TIMESTAMP_NTZ'{high} 01:02:03.45'"),
        "t": ("TIME'00:30:00'", "TIME'23:59:59.125'"),
        "ym": ("INTERVAL '-1-2' YEAR TO MONTH", "INTERVAL '1-2' YEAR TO MONTH"),
        "y": ("INTERVAL '-1' YEAR", "INTERVAL '12' YEAR"),
        "ds": ("INTERVAL '-1 02:03:04.5' DAY TO SECOND", "INTERVAL '1 02:03:04' DAY TO SECOND"),
        "hm": ("INTERVAL '-01:02' HOUR TO MINUTE", "INTERVAL '25:00' HOUR TO MINUTE"),
        "sec": ("INTERVAL '-00.5' SECOND", "INTERVAL '61.5' SECOND"),
    }
    if version(pyspark.__version__) < (4, 1):
        del columns["t"]
    spark.conf.set("spark.sql.timeType.enabled", "true")
    low, high = (", ".join(f"{v[i]} AS {name}" for name, v in columns.items()) for i in (0, 1))
    path = f"{tmp_path}/t"
    spark.sql(f"SELECT {low} UNION ALL SELECT {high}").coalesce(1).write.parquet(path)
    ranges = {
        r["name"]: (r["low"], r["high"]) for r in same_boxes(spark, path, ", ".join(columns))[0]["ranges"]
    }
    assert ranges["d"] == ("0001-01-01", "+10000-02-03")
    assert ranges["n"] == ("0001-01-01 00:00:00", "+10000-02-03 01:02:03.45")
    assert ranges.get("t", ("00:30:00", "23:59:59.125")) == ("00:30:00", "23:59:59.125")
    assert ranges["ym"] == columns["ym"] and ranges["ds"] == columns["ds"]
    spark.conf.unset("spark.sql.timeType.enabled")


def test_the_shell_with_a_session(spark, table, monkeypatch, capsys):
    pytest.importorskip("spark_zorder.view")
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    queries = [f"SELECT * FROM parquet.`{table}` WHERE a = {n}" for n in range(3)]
    spark_zorder.query_log.of_sql(spark, queries).createOrReplaceTempView("audit_log")
    words = ["audit", table, "--by", "a,b", "--queries", "audit_log", "--price-per-tib", "5", "--json"]
    assert cli.main(words) == 3
    out, err = capsys.readouterr()
    rows = [json.loads(line) for line in out.splitlines()]
    assert "A query log needs Spark" in err
    assert rows[0]["verdict"] == "RECLUSTER" and rows[0]["look_up_price"] > 0
    assert {e["level"] for e in rows[0]["levels"]} == {"file", "row group", "page"}
    assert all(row["share"] == 1.0 and row["alert"] and row["price"] > 0 for row in rows[1:])
    assert cli.main(["audit", table, "--by", "a,b", "--spark"]) == 3
    assert capsys.readouterr().out.startswith("RECLUSTER")


def test_a_column_with_a_blank_in_its_name(spark, tmp_path, monkeypatch, capsys):
    """`customer` is a column, too."""
    path = str(tmp_path / "t")
    rows = spark.range(0, 400, 1, 4).selectExpr("pmod(hash(id), 100) AS customer", "id AS `customer id`")
    rows.write.parquet(path)
    row = spark_zorder.ZOrderTable.forPath(spark, path).audit("customer id").collect()[0]
    assert row["cluster_by_keys"] == "(`customer id`)"
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    for more in ((), ("--spark",)):
        assert cli.main(["audit", path, "--by", "customer id", "--json", *more]) == 0
        assert json.loads(capsys.readouterr().out)["cluster_by_keys"] == "(`customer id`)"
    assert cli.main(["audit", path, "--by", "lower(a", "--spark"]) == 2
    assert "a bracket is open" in capsys.readouterr().err
