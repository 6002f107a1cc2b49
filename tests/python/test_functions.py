"""The functions from Python and from SQL give the same golden keys on every Spark line."""

from __future__ import annotations

import pytest
import spark_zorder
from pyspark.sql import functions as sf
from spark_zorder import functions as zf
from support import golden_keys

GOLDEN = golden_keys()


def test_there_are_golden_keys():
    assert len(GOLDEN) >= 30


@pytest.mark.same_on_all_lines
def test_golden_keys_in_sql(spark):
    """All in one query: a plan for each row would take longer than the keys."""
    query = "SELECT " + ", ".join(f"lower(hex({row['sql']})) AS k{i}" for i, row in enumerate(GOLDEN))
    found = list(spark.sql(query).collect()[0])
    wrong = [(g["name"], g["key"], f) for g, f in zip(GOLDEN, found) if g["key"] != f]
    assert wrong == []


def test_golden_keys_by_call_function(spark):
    """The Python functions on columns that hold the arguments."""
    rows = [
        g
        for g in GOLDEN
        if g.get("function") in ("zorder", "hilbert") and all("value" in a for a in g["args"])
    ]
    assert rows
    columns = [hex_of(g).alias(f"k{i}") for i, g in enumerate(rows)]
    found = list(spark.range(1).select(*columns).collect()[0])
    assert [(g["name"], g["key"]) for g in rows] == [(g["name"], f) for g, f in zip(rows, found)]


def hex_of(golden):
    function = getattr(zf, golden["function"])
    return sf.lower(sf.hex(function(*[argument(a) for a in golden["args"]])))


def argument(a):
    return sf.expr(f"cast(null as {a['type']})" if a["value"] is None else a["value"])


def test_names_and_columns_are_the_same(spark):
    df = spark.range(20).selectExpr("cast(id as int) a", "cast(20 - id as bigint) b")
    both = df.select(zf.zorder("a", "b").alias("x"), zf.zorder(sf.col("a"), df.b).alias("y"))
    assert both.where("x <> y").count() == 0
    assert spark_zorder.zorder is zf.zorder and spark_zorder.hilbert is zf.hilbert


def test_null_is_below_every_value_and_the_key_is_never_null(spark):
    df = spark.sql("SELECT * FROM VALUES (cast(null as int)), (-2147483648), (0) AS t(a)")
    ordered = [row.a for row in df.orderBy(zf.zorder("a")).collect()]
    assert ordered == [None, -2147483648, 0]
    assert df.where(zf.zorder("a").isNull()).count() == 0


def test_compare_agrees_with_keys(spark):
    df = spark.range(200).selectExpr(
        "cast(pmod(hash(id, 1), 7) as int) a",
        "cast(pmod(hash(id, 2), 9) as int) b",
        "cast(pmod(hash(id, 3), 7) as int) c",
        "cast(pmod(hash(id, 4), 9) as int) d",
    )
    compared = df.select(
        zf.zorder_compare(
            sf.struct("a", "b"), sf.struct(sf.col("c").alias("a"), sf.col("d").alias("b"))
        ).alias("x"),
        zf.zorder("a", "b").alias("l"),
        zf.zorder("c", "d").alias("r"),
    )
    wrong = "signum(x) <> (CASE WHEN l < r THEN -1 WHEN l > r THEN 1 ELSE 0 END)"
    assert compared.where(wrong).count() == 0


def test_an_array_is_refused_by_name_and_type(spark):
    df = spark.sql("SELECT array(1, 2) AS things")
    with pytest.raises(Exception, match=r"(?is)things.*array") as caught:
        df.select(zf.zorder("things")).collect()
    assert "Analysis" in "".join(kind.__name__ for kind in type(caught.value).__mro__)


def test_layout_text_comes_first():
    with pytest.raises(TypeError, match="takes a layout first"):
        zf.zorder_file(sf, "a")


def test_a_sort_by_a_curve_needs_no_key_column(spark):
    """The operator is ours, and the rows come in the order that the key as a column gives."""
    df = spark.range(5000).selectExpr("id", "id % 700 AS a", "xxhash64(id) AS b").coalesce(1)
    ordered = df.sortWithinPartitions(zf.zorder("a", "b").desc(), "id")
    assert "ZOrderSort" in ordered._jdf.queryExecution().executedPlan().toString()
    by_key = df.withColumn("k", zf.zorder("a", "b")).sortWithinPartitions(sf.desc("k"), "id")
    assert [r.id for r in ordered.collect()] == [r.id for r in by_key.collect()]
