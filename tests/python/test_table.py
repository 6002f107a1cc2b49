"""ZOrderTable from the first run to leaving, on a small Parquet table."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import spark_zorder
from pyspark.sql import functions as sf
from spark_zorder import ZOrderTable, _sql
from spark_zorder._errors import SetupError
from spark_zorder._table import OptimizeBuilder
from support import digest, write_table

STATUSES = {"DONE", "DRY_RUN", "PARTIAL", "NOTHING_TO_DO", "NO_GAIN", "TOO_SMALL"}


def run_of(spark, path):
    """Small tables are below the sizes that pay, so the tests force the run."""
    return ZOrderTable.forPath(spark, path).optimize().option("fileCount", 16).option("force", True)


def files(path):
    return sorted(p.name for p in Path(path).glob("*.parquet"))


def mean_files_read(spark, path, column):
    """Files whose range holds a value, mean over some values; from the data themselves."""
    by_file = spark.read.parquet(path).selectExpr("input_file_name() f", column).groupBy("f")
    ranges = [
        tuple(r) for r in by_file.agg({column: "min"}).join(by_file.agg({column: "max"}), "f").collect()
    ]
    values = range(0, 1000, 25)
    return sum(low <= v <= high for v in values for _, low, high in ranges) / len(values)


@pytest.mark.same_on_all_lines
def test_a_dry_run_changes_nothing_and_has_the_one_result_row(spark, table):
    before = files(table)
    result = run_of(spark, table).dryRun().executeZOrderBy("a", "b")
    names = ["path", "status", "reason", "run_id", "layout_chosen", "metrics"]
    assert result.columns == [*names, "columns", "queries", "others", "alternatives"]
    row = result.collect()[0]
    assert row["status"] == "DRY_RUN"
    assert [column["name"] for column in row["columns"]][:2] == ["a", "b"]
    assert files(table) == before


def test_from_the_first_run_to_leaving(spark, table):
    rows = digest(spark, table)
    original = files(table)
    row = run_of(spark, table).executeZOrderBy("a", "b").collect()[0]
    assert (row["status"], row["run_id"] is not None) == ("DONE", True)
    assert digest(spark, table) == rows
    # 16 files, two columns: 4 of 16 is what any layout can reach, a random order reads all
    assert mean_files_read(spark, table, "a") <= 6
    assert mean_files_read(spark, table, "b") <= 6

    handle = ZOrderTable.forPath(spark, table)
    assert handle.history().count() == 1
    assert handle.layout().json

    handle.rollback().collect()
    assert digest(spark, table) == rows
    assert files(table) == original

    assert run_of(spark, table).executeZOrderBy("a", "b").collect()[0]["status"] == "DONE"
    handle.vacuum(retention_hours=0).collect()
    assert digest(spark, table) == rows
    handle.remove().collect()
    assert digest(spark, table) == rows
    assert not (Path(table) / "_zorder").exists()


@pytest.mark.same_on_all_lines
def test_again_there_is_nothing_to_do(spark, table):
    spark_run = ZOrderTable.forPath(spark, table).optimize().option("fileCount", 16)
    run_of(spark, table).executeZOrderBy("a", "b").collect()
    after = files(table)
    assert spark_run.executeZOrderBy("a", "b").collect()[0]["status"] == "NOTHING_TO_DO"
    assert files(table) == after


def test_a_list_is_the_same_as_names(spark, table):
    row = run_of(spark, table).dryRun().executeZOrderBy(["a", "b"]).collect()[0]
    assert row["status"] == "DRY_RUN"


@pytest.mark.same_on_all_lines
def test_into_writes_a_copy_and_leaves_the_table_alone(spark, table, tmp_path):
    before = files(table)
    copy = str(tmp_path / "copy")
    run_of(spark, table).into(copy).executeZOrderBy("a", "b").collect()
    assert files(table) == before
    assert digest(spark, copy) == digest(spark, table)


def test_a_catalog_table(spark, tmp_path):
    path = write_table(spark, tmp_path / "named")
    spark.sql("CREATE DATABASE IF NOT EXISTS zorder_tests")
    spark.sql(f"CREATE TABLE zorder_tests.t USING parquet LOCATION '{path}'")
    try:
        handle = ZOrderTable.forName(spark, "zorder_tests.t")
        with pytest.raises(ValueError, match=r"'/data/t' is a path: use ZOrderTable.forPath"):
            ZOrderTable.forName(spark, "/data/t")
        run = handle.optimize().option("fileCount", 8).option("force", True)
        assert run.executeZOrderBy("a", "b").collect()[0]["status"] == "DONE"
        assert spark.table("zorder_tests.t").count() == 20_000
        assert handle.history().count() == 1
    finally:
        spark.sql("DROP DATABASE zorder_tests CASCADE")


def test_status_is_one_of_those_documented(spark, table):
    plain = ZOrderTable.forPath(spark, table).optimize().executeZOrderBy("a", "b").collect()[0]
    assert plain["status"] in STATUSES


@pytest.mark.same_on_all_lines
def test_cluster_on_the_first_write(spark, tmp_path):
    df = spark.range(0, 20_000, 1, 4).selectExpr(
        "cast(pmod(hash(id, 1), 1000) as int) as a", "cast(pmod(hash(id, 2), 1000) as int) as b", "id"
    )
    path = str(tmp_path / "written")
    spark_zorder.cluster(df, "a", "b", files=16).write.parquet(path)
    assert len(files(path)) == 16
    assert digest(spark, path)[0] == 20_000
    assert mean_files_read(spark, path, "a") <= 6


class Three:
    """A whole number that is no int, as NumPy has them."""

    def __index__(self):
        return 3


def test_cluster_by_columns_and_by_as_many_files_as_a_run_would_make(spark, table):
    df = spark.read.parquet(table)
    assert spark_zorder.cluster(df, df.a, sf.col("b"), files=Three()).rdd.getNumPartitions() == 3
    assert spark_zorder.cluster(df, "a", df["b"]).rdd.getNumPartitions() == 1
    spark.conf.set("spark.zorder.targetFileSize", "64k")
    try:
        many = spark_zorder.cluster(df, "a", "b").rdd.getNumPartitions()
    finally:
        spark.conf.unset("spark.zorder.targetFileSize")
    assert many >= 2
    with pytest.raises(Exception, match="add it by withColumn"):
        spark_zorder.cluster(df, sf.upper("a"))
    with pytest.raises(TypeError, match="cluster takes columns by name or as Column, not 7"):
        spark_zorder.cluster(df, "a", 7)
    with pytest.raises(ValueError, match="files is a whole number"):
        spark_zorder.cluster(df, "a", files=0)


def test_cluster_without_rows(spark, tmp_path):
    df = spark.createDataFrame([], "a INT, b INT")
    path = str(tmp_path / "none")
    spark_zorder.cluster(df, "a", "b", files=4).write.parquet(path)
    assert spark.read.parquet(path).schema == df.schema and len(files(path)) == 1
    with pytest.raises(Exception, match="has no rows"):
        spark_zorder.fit(df, "a", "b", files=4)


@pytest.mark.same_on_all_lines
def test_fit_gives_a_layout_as_a_value(spark, table):
    df = spark.read.parquet(table)
    layout = spark_zorder.fit(df, "a", "b", files=16)
    numbers = {row[0] for row in df.select(layout.file("a", "b")).distinct().collect()}
    assert numbers <= set(range(16)) and len(numbers) >= 12
    assert df.select(layout.key("a", "b").alias("k")).schema["k"].dataType.typeName() in ("long", "bigint")


@pytest.mark.parametrize("wrong", [1, None, ["a", 2]])
def test_a_column_that_is_no_string(spark, table, wrong):
    with pytest.raises(TypeError, match="Z-order column must be str"):
        run_of(spark, table).executeZOrderBy(wrong)


def test_arguments_of_another_type_are_named(spark, table):
    found = ZOrderTable.forPath(spark, table)
    with pytest.raises(TypeError, match="where takes a SQL predicate as text, not int"):
        found.optimize().where(5)
    with pytest.raises(TypeError, match="A query is explained as a DataFrame"):
        found.explainSkipping("a = 17")
    with pytest.raises(TypeError, match="Use ZOrderTable"):
        ZOrderTable(spark, "db.t")


@pytest.mark.same_on_all_lines
def test_columns_of_all_calls_are_names_or_one_list_or_expressions(spark, table):
    found = ZOrderTable.forPath(spark, table)
    row = run_of(spark, table).dryRun().executeZOrderBy("pmod(a, 10)", "(b > 500)", "b").collect()[0]
    assert [c["name"] for c in row["columns"]][:3] == ["pmod(a, 10)", "(b > 500)", "b"]
    options = run_of(spark, table).option("filecount", 8).option("bloom", ["id"])
    assert options.dryRun().executeZOrderBy("a").collect()[0]["metrics"]["targetFiles"] == 8
    assert run_of(spark, table).dryRun().executeZOrderBy("a, pmod(b, 10)").collect()[0]["columns"]
    assert found.audit(["a", "b"]).count() == found.audit("a", "b").count() == found.audit("a, b").count()
    assert found.index(["a", "id"]).collect()[0]["columns"] == 2
    for call in (found.audit, found.index):
        with pytest.raises(TypeError, match="Z-order column must be str"):
            call("a", ["b"])


def test_several_predicates_with_comments(spark, table):
    run = run_of(spark, table).where("a >= 0 -- all\n").where("b >= 0 -- all").dryRun()
    assert run.executeZOrderBy("a").collect()[0]["status"] == "DRY_RUN"


def test_a_session_that_takes_backslashes_in_quotes_as_they_are(spark, tmp_path):
    path = write_table(spark, tmp_path / "it's", rows=1000)
    plain = ZOrderTable.forPath(spark, write_table(spark, tmp_path / "plain", rows=1000))
    spark.conf.set("spark.sql.parser.escapedStringLiterals", "true")
    try:
        table = ZOrderTable.forPath(spark, path)
        assert table.history().count() == 0 and table.toDF().count() == 1000
        log = spark_zorder.query_log.of_sql(spark, [f"SELECT * FROM parquet.`{path}` WHERE a = 1"])
        assert log.count() == 1
        indexed = functools.partial(plain.index, bloom=["`it's`"])
        for statement in (table.vacuum, table.optimize().into(f"{path}2").execute, indexed):
            with pytest.raises(SetupError, match="escapedStringLiterals to false"):
                statement()
    finally:
        spark.conf.unset("spark.sql.parser.escapedStringLiterals")


def test_vacuum_takes_the_name_that_delta_has(spark, table):
    found = ZOrderTable.forPath(spark, table)
    assert found.vacuum(retentionHours=168).collect()[0]["status"] == "NOTHING_TO_DO"
    with pytest.raises(TypeError, match="give one of them"):
        found.vacuum(1, retentionHours=168)


def test_what_no_run_has_clustered_is_no_table_of_ours(spark, table, tmp_path):
    spark.range(3).createOrReplaceTempView("seen")
    spark.sql("CREATE VIEW kept AS SELECT 1 AS a")
    spark.sql("CREATE TABLE texts (a STRING) USING csv")
    try:
        for name in ("seen", "kept", "texts", "x.y.z", "nosuch.t", table, str(tmp_path / "none")):
            assert not ZOrderTable.isZOrderTable(spark, name), name
    finally:
        spark.sql("DROP VIEW kept")
        spark.sql("DROP TABLE texts")
        spark.catalog.dropTempView("seen")


def test_no_column_at_all(spark, table):
    with pytest.raises(ValueError, match="at least one column"):
        run_of(spark, table).executeZOrderBy()


def test_the_curves_are_those_of_the_jvm(spark, table):
    with pytest.raises(Exception, match=f"one of {', '.join(_sql.CURVES)}; expected"):
        run_of(spark, table).usingCurve("peano").executeZOrderBy("a")
    for curve in _sql.CURVES:
        assert f"``{curve}``" in OptimizeBuilder.usingCurve.__doc__


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda run: run.executeZOrderBy("a", "nosuch"), "nosuch"),
        (lambda run: run.option("targetFileSise", "1m").executeZOrderBy("a"), "targetFileSize"),
        (lambda run: run.usingCurve("peano").executeZOrderBy("a"), "peano"),
    ],
)
def test_bad_input_changes_nothing_and_is_named(spark, table, build, named):
    before = files(table)
    with pytest.raises(Exception, match=named):
        build(run_of(spark, table)).collect()
    assert files(table) == before
