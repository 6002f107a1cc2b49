"""Many tables in one go, and rows that are appended in layout order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from pyspark.sql.functions import call_function, col, lit
from spark_zorder import ZOrderTable, _maintain, _sql
from spark_zorder import __main__ as cli
from spark_zorder._maintain import seconds, tables_in
from support import SHARED, write_table

pytestmark = pytest.mark.same_on_all_lines


def listing(path):
    return sorted(str(p.relative_to(path)) for p in Path(path).rglob("*"))


@pytest.fixture
def main(spark, monkeypatch):
    monkeypatch.setattr(cli, "_session", lambda arguments: spark)
    return cli.main


def test_a_list_of_tables_has_comments_and_empty_lines(tmp_path):
    listed = tmp_path / "tables"
    listed.write_text("# ours\n\ndb.a  # the first\n  /data/b \n/x/with#hash\t#not#this\n#/x\n")
    assert tables_in(str(listed)) == ["db.a", "/data/b", "/x/with#hash"]
    listed.write_text("db.a\n", encoding="utf-8-sig")
    assert tables_in(str(listed)) == ["db.a"]


def test_times_as_in_the_options_of_a_run():
    lines = (SHARED / "durations.tsv").read_text().splitlines()
    assert len(lines) > 15
    for text, wanted in (line.split("\t") for line in lines):
        if wanted == "refused":
            with pytest.raises(ValueError, match="A time has its unit, such as 3h"):
                seconds(text)
        else:
            assert seconds(text) == int(wanted) / 1000, text


def test_an_empty_table_is_no_failure(main, spark, tmp_path, capsys):
    place = tmp_path / "empty#1"
    spark.createDataFrame([], "a INT, b INT").write.parquet(str(place))
    spark.sql(
        f"CREATE TABLE empty_one (a INT, b INT) USING parquet LOCATION '{place}' "
        "TBLPROPERTIES ('zorder.by' = 'a, b', 'zorder.fileCount' = '4')"
    )
    listed = tmp_path / "tables"
    listed.write_text("empty_one\n")
    try:
        code = main(["maintain", "--tables", str(listed), "--json"])
    finally:
        spark.sql("DROP TABLE empty_one")
    row = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
    assert (code, row["status"], row["table"]) == (0, "TOO_SMALL", "empty_one")


def test_the_table_that_gains_most_is_first_and_a_failure_stops_nobody(main, spark, table, tmp_path, capsys):
    small = str(tmp_path / "small")
    spark.range(20000).selectExpr("id", "id % 100 a", "id % 77 b").repartition(4).write.parquet(small)
    for path in (table, small):
        builder = ZOrderTable.forPath(spark, path).optimize().options(fileCount=4, force=True)
        builder.executeZOrderBy("a", "b")
    # rows of all cells, twice as many as there were: both tables have outgrown their layouts
    for path in (table, small):
        df = spark.read.parquet(path).withColumn("id", col("id") + 1000000)
        df.union(df).coalesce(1).write.mode("append").parquet(path)
    listed = tmp_path / "tables"
    listed.write_text(f"{table}\n{tmp_path}/none\n{small}\n")
    # tables so small are left alone unless a number of files is wanted
    before = sorted(Path(table).iterdir())
    planned = ["--dry-run", "--vacuum", "--option", "fileCount=4"]
    assert main(["maintain", "--tables", str(listed), *planned]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["FAILED", "DRY_RUN", "DRY_RUN"]
    assert "would be deleted" in lines[3] and lines[-1] == "3 tables: 1 FAILED, 2 DRY_RUN, 2 VACUUM"
    assert sorted(Path(table).iterdir()) == before
    spark.conf.set("spark.zorder.fileCount", "4")
    try:
        code = main(["maintain", "--tables", str(listed), "--max-duration", "1h", "--json"])
    finally:
        spark.conf.unset("spark.zorder.fileCount")
    out = capsys.readouterr().out.strip().splitlines()
    rows = [json.loads(line) for line in out if line.startswith("{")]
    assert code == 1 and len(rows) == 3
    assert rows[0]["status"] == "FAILED" and rows[0]["table"].endswith("/none")
    assert {row["status"] for row in rows[1:]} <= {"DONE", "NO_GAIN"}
    gains = [row["gain"] for row in rows[1:]]
    assert gains == sorted(gains, reverse=True)
    assert main(["maintain", "--tables", str(listed), "--option", "fileCount=4", "--vacuum"]) == 1
    lines = capsys.readouterr().out.splitlines()
    vacuumed = [line for line in lines if line.startswith("VACUUM")]
    assert len(vacuumed) == 2 and all("kept until the retention is over" in line for line in vacuumed)
    assert lines[-1].startswith("3 tables: 1 FAILED, ") and lines[-1].endswith("2 VACUUM")


@pytest.mark.long
def test_two_schedulers_do_no_table_twice(spark, tmp_path):
    tables = [write_table(spark, tmp_path / name) for name in ("one", "two", "three")]
    for path in tables:
        optimize = ZOrderTable.forPath(spark, path).optimize().options(fileCount=4, force=True)
        optimize.executeZOrderBy("a", "b")
        df = spark.read.parquet(path).withColumn("id", col("id") + 1000000)
        df.union(df.withColumn("id", col("id") * 2)).coalesce(1).write.mode("append").parquet(path)
    listed = tmp_path / "tables"
    listed.write_text("\n".join(tables))
    outcomes = [row for rows in schedulers(listed, 2) for row in rows]
    for path in tables:
        statuses = sorted(row["status"] for row in outcomes if row["table"] == path)
        assert statuses in (["CONFLICT", "DONE"], ["DONE", "NOTHING_TO_DO"]), outcomes
        assert len(ZOrderTable.forPath(spark, path).history().collect()) == 2
        found = spark.read.parquet(path)
        assert (found.count(), found.select("id").distinct().count()) == (60000, 60000)


def schedulers(listed, count):
    """What processes of their own print that maintain the same tables at the same time."""
    settings = "--conf spark.zorder.fileCount=4 --conf spark.ui.enabled=false --driver-memory 1g"
    command = [sys.executable, "-m", "spark_zorder", "maintain", "--tables", str(listed), "--json"]
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": f"--master local[1] {settings} pyspark-shell"}
    started = [
        subprocess.Popen(command, cwd=listed.parent, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    return [
        [json.loads(line) for line in process.communicate()[0].splitlines() if line.startswith("{")]
        for process in started
    ]


def test_what_a_run_left_that_died_in_its_exchange_is_finished(main, spark, table, tmp_path, capsys):
    builder = ZOrderTable.forPath(spark, table).optimize().options(fileCount=4, force=True)
    builder.executeZOrderBy("a", "b")
    rows = spark.read.parquet(table).count()
    system = spark._jvm.java.lang.System
    system.setProperty("spark.zorder.test.crash", "moved-old")
    try:
        with pytest.raises(Exception, match="crash point moved-old"):
            builder.full().executeZOrderBy("a", "b")
    finally:
        system.clearProperty("spark.zorder.test.crash")
    listed = tmp_path / "tables"
    listed.write_text(f"{table}\n")
    statuses = []
    for more in (["--dry-run"], []):
        code = main(["maintain", "--tables", str(listed), "--json", *more])
        row = json.loads(capsys.readouterr().out.strip().splitlines()[-1])
        statuses.append((code, row["status"]))
    assert statuses == [(4, "CONFLICT"), (0, "NOTHING_TO_DO")]
    assert spark.read.parquet(table).count() == rows


def test_no_time_begins_nothing_and_a_list_that_is_not_there_is_wrong_usage(main, table, tmp_path, capsys):
    listed = tmp_path / "tables"
    listed.write_text(table)
    assert main(["maintain", "--tables", str(listed), "--max-duration", "0s"]) == 0
    assert "NOT_STARTED" in capsys.readouterr().out
    assert main(["maintain", "--tables", str(tmp_path / "nothing")]) == 2
    assert main(["maintain", "--tables", str(listed), "--max-duration", "soon"]) == 2


@pytest.fixture
def refused(monkeypatch):
    """The tables that were asked for: each fails."""
    asked = []

    def refuse(_, name):
        asked.append(name)
        raise ValueError(f"There is no {name}.")

    monkeypatch.setattr(cli, "_session", lambda arguments: None)
    monkeypatch.setattr(ZOrderTable, "_named", refuse)
    return asked


def test_a_reader_that_has_gone_does_not_stop_the_maintenance(refused, tmp_path, monkeypatch, capsys):
    listed = tmp_path / "tables"
    listed.write_text("a\nb\nc\n")
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert cli.main(["maintain", "--tables", str(listed)]) == 1
        assert sys.stdout is pipe
    assert refused == ["a", "b", "c"] and capsys.readouterr().err == ""


def test_names_of_tables_show_the_characters_that_a_terminal_obeys(refused, tmp_path, capsys):
    listed = tmp_path / "tables"
    listed.write_text("/data/\x1b[2Jt")
    assert cli.main(["maintain", "--tables", str(listed)]) == 1
    said = capsys.readouterr().out.splitlines()[0]
    assert said == r"FAILED        /data/\x1b[2Jt: There is no /data/\x1b[2Jt."


def test_appended_rows_come_in_layout_order(spark, table):
    named = ZOrderTable.forPath(spark, table)
    more = spark.read.parquet(table).withColumn("id", col("id") + 1000000)
    rows = spark.createDataFrame(more.collect(), more.schema)
    with pytest.raises(ValueError, match="no layout yet"):
        named.append(rows)
    named.optimize().option("fileCount", 8).option("force", True).executeZOrderBy("a", "b")
    before = spark.read.parquet(table).count()
    keys = [
        r[0]
        for r in named.arrange(rows)
        .select(call_function("zorder_key", lit(f"path:{table}"), "a", "b"))
        .collect()
    ]
    assert keys == sorted(keys)
    named.append(rows)
    assert spark.read.parquet(table).count() == before + rows.count()


def test_rows_are_read_and_appended_in_the_tables_own_format(spark, table):
    named = ZOrderTable.forPath(spark, table)
    named.optimize().option("fileCount", 8).option("force", True).executeZOrderBy("a", "b")
    rows, before = named.toDF("PARQUET"), listing(table)
    for wrong in (named.toDF, named.detail, lambda other: named.append(rows, other)):
        with pytest.raises(ValueError, match="is a table of the format parquet, not delta: leave format out"):
            wrong("delta")
    assert listing(table) == before


def test_a_table_of_a_format_that_is_not_on_the_class_path_is_not_read_as_parquet(spark, table):
    (Path(table) / "_delta_log").mkdir()
    named, before = ZOrderTable.forPath(spark, table), listing(table)
    rows = spark.read.parquet(table)
    for call in (named.toDF, lambda: named.append(rows), lambda: named.append(rows, "parquet")):
        with pytest.raises(Exception, match="is a Delta table"):
            call()
    assert listing(table) == before


def test_rows_of_a_partitioned_table_are_refused_before_anything_is_written(spark, table, tmp_path):
    rows = spark.read.parquet(table).selectExpr("*", "'x' as day")
    path = str(tmp_path / "p")
    rows.write.partitionBy("day").parquet(path)
    named = ZOrderTable.forPath(spark, path)
    run = named.optimize().option("fileCount", 8).option("force", True)
    assert run.executeZOrderBy("a", "b").collect()[0]["status"] == "DONE"
    before = listing(path)
    for call in (named.append, named.arrange):
        with pytest.raises(ValueError, match="is partitioned, and each partition has a layout of its own"):
            call(rows)
    with pytest.raises(ValueError, match=f"functions take one by its id, as in path:{path}#id"):
        named.layout()
    assert listing(path) == before
    spark.sql("CREATE TABLE parts (a INT, b INT, id BIGINT, day STRING) USING parquet PARTITIONED BY (day)")
    try:
        rows.write.insertInto("parts")
        ZOrderTable.forName(spark, "parts").optimize().option("force", True).executeZOrderBy("a", "b")
        with pytest.raises(ValueError, match="parts is partitioned"):
            ZOrderTable.forName(spark, "parts").append(rows)
        assert spark.table("parts").count() == 20_000
    finally:
        spark.sql("DROP TABLE parts")


def test_vacuums_come_when_the_time_is_up(spark, table, monkeypatch):
    forced = ZOrderTable.forPath(spark, table).optimize().options(fileCount=4, force=True)
    forced.executeZOrderBy("a", "b")
    for times, said in (
        ([0.0, 0.0], ["NOTHING_TO_DO", "NOT_STARTED", "VACUUM"]),
        ([0.0], ["NOT_STARTED", "NOT_STARTED", "VACUUM"]),
    ):
        now = iter(times)
        monkeypatch.setattr(_maintain, "time", SimpleNamespace(monotonic=lambda now=now: next(now, 2.0)))
        rows = []
        _maintain.maintain(spark, [table, table], _maintain.Wish(vacuum=True), 1.0, rows.append)
        assert [row["status"] for row in rows] == said


def test_an_append_whose_index_cannot_be_refreshed_is_no_failure(spark, table, monkeypatch):
    named = ZOrderTable.forPath(spark, table)
    named.optimize().option("fileCount", 8).option("force", True).executeZOrderBy("a", "b")
    before, rows = named.toDF().count(), named.toDF().limit(10)
    rows = spark.createDataFrame(rows.collect(), rows.schema)
    monkeypatch.setattr(_sql, "refresh_index_if_exists", lambda target: "ZORDER REFRESH INDEX no_such_table")
    with pytest.warns(UserWarning, match=r"The rows are appended. The index is behind.*no_such_table"):
        named.append(rows)
    assert named.toDF().count() == before + 10


def test_append_refuses_structs_of_another_order(spark):
    spark.sql("CREATE TABLE places (a INT, at ARRAY<STRUCT<lon: INT, lat: INT>>) USING parquet")
    spark.sql("INSERT INTO places SELECT id, array(named_struct('lon', 1, 'lat', 2)) FROM range(9)")
    try:
        table = ZOrderTable.forName(spark, "places")
        table.optimize().options(fileCount=2, force=True).executeZOrderBy("a")
        for at in ("'lat', 2, 'lon', 1", "'lon', 1, 'height', 2"):
            with pytest.raises(ValueError, match="Structs in at have other fields than those in places"):
                table.append(spark.sql(f"SELECT 1 AS a, array(named_struct({at})) AS at"))
        table.append(spark.sql("SELECT array(named_struct('Lon', 1, 'lat', 2)) AS at, 1 AS a"))
        assert spark.table("places").selectExpr("sum(at[0].lon)", "sum(at[0].lat)").first() == (10, 20)
    finally:
        spark.sql("DROP TABLE places")


def test_append_refuses_a_column_that_the_table_does_not_have(spark):
    spark.sql("CREATE TABLE narrow (a INT) USING parquet")
    try:
        with pytest.raises(ValueError, match="narrow has no column b: add it to the table"):
            ZOrderTable.forName(spark, "narrow").append(spark.sql("SELECT 1 AS A, 2 AS b"))
        assert spark.table("narrow").count() == 0
    finally:
        spark.sql("DROP TABLE narrow")


@pytest.mark.long
def test_after_a_rollback_rows_are_arranged_by_the_run_that_stands(spark, table):
    named = ZOrderTable.forPath(spark, table)
    forced = named.optimize().full().option("fileCount", 8).option("force", True)
    forced.executeZOrderBy("a", "b")
    forced.executeZOrderBy("b", "id")
    some = spark.read.parquet(table).limit(500)
    rows = spark.createDataFrame(some.collect(), some.schema)
    with pytest.raises(ValueError, match=r"clustered by b, id, and the DataFrame has no id"):
        named.arrange(rows.drop("id"))
    place = call_function("zorder_key", lit(f"path:{table}"), "b", "id")
    keys = [r[0] for r in named.arrange(rows).select(place).collect()]
    assert keys == sorted(keys)
    named.rollback()
    place = call_function("zorder_key", lit(f"path:{table}"), "a", "b")
    keys = [r[0] for r in named.arrange(rows).select(place).collect()]
    assert keys == sorted(keys)
    named.rollback()
    with pytest.raises(ValueError, match="no layout yet"):
        named.arrange(rows)
