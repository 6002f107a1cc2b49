"""Values at the edges of their types come out of a run as they went in."""

from __future__ import annotations

import pytest
from oracle import multiset


def among(*values, type=None):
    """One of these SQL values by the row's number."""
    chosen = f"element_at(array({', '.join(values)}), cast(id % {len(values)} + 1 as int))"
    return f"cast({chosen} as {type})" if type else chosen


LONG = "repeat('z', 5000)"
MOST = "99999999999999999999.999999999999999999"
EDGES = {
    "boolean": among("true", "false", "null"),
    "float": among("'NaN'", "'-0.0'", "'0.0'", "'Infinity'", "'-Infinity'", "'1e-45'", "null", type="float"),
    "double": among("'NaN'", "'-0.0'", "'0.0'", "'-1.7976931348623157E308'", "'4.9E-324'", type="double"),
    "decimal": among(f"'{MOST}'", f"'-{MOST}'", "'0'", type="decimal(38, 18)"),
    "bigint": among("9223372036854775807L", "-9223372036854775807L - 1", "0L", "null"),
    "binary": among("X''", "X'00'", "X'FF00'", "X'FF'", "null", "cast(cast(id as string) as binary)"),
    "string": among("''", "' '", "'\\0'", "'\U0001f600'", LONG, "null", f"concat({LONG}, id)"),
    "date": among("date'0001-01-01'", "date'1582-10-04'", "date'1582-10-15'", "date'9999-12-31'", "null"),
    "timestamp": among(
        "timestamp'0001-01-01 00:00:00'", "timestamp'1899-12-31 23:59:59.999999'", "timestamp'9999-12-31'"
    ),
    "timestamp_ntz": among("timestamp_ntz'1582-10-10 12:00:00'", "timestamp_ntz'9999-12-31'", "null"),
    "all null": "cast(null as int)",
    "one value": "17",
}


@pytest.mark.parametrize("kind", EDGES)
def test_edges_of_a_type(walk, kind):
    t = walk.path("t", walk.rows(0, 700).selectExpr("id", "a", f"{EDGES[kind]} as v"))
    rows = texts(walk, t)
    assert walk.cluster(t, by="v, a", options="verify = 'checksum', fileCount = 4") in (
        "DONE",
        "NOTHING_TO_DO",
    )
    assert texts(walk, t) == rows


def texts(walk, path):
    """Python has no year 10000 and no NaN that equals itself."""
    return multiset(walk.spark.read.parquet(path).selectExpr("id", "a", "hex(cast(v as string))"))


def test_a_nested_column_five_deep_and_a_wide_table(walk):
    wide = ", ".join(f"id + {i} as c{i}" for i in range(150))
    nested = "named_struct('s', named_struct('t', named_struct('u', named_struct('v', a)))) as r"
    t = walk.path("t", walk.rows(0, 800).selectExpr("b", nested, *wide.split(", ")))
    rows = walk.read(t)
    assert walk.cluster(t, by="r.s.t.u.v, c149") == "DONE"
    assert walk.read(t) == rows


def test_arrays_maps_and_nulls_in_structs_ride_along(walk):
    df = walk.rows(0, 900).selectExpr(
        "a",
        "b",
        "if(id % 3 = 0, null, array(id, null)) l",
        "map(id + 1, null, -id - 1, 'x') m",
        "if(id % 4 = 0, null, named_struct('x', if(id % 5 = 0, null, id), "
        "'y', array(named_struct('z', a)))) s",
    )
    t = walk.path("t", df)
    rows = walk.read(t)
    assert walk.cluster(t, by="s.x, a", options="verify = 'checksum', fileCount = 4") == "DONE"
    assert walk.read(t) == rows
    for bad in ("l", "m", "s", "s.y"):
        walk.refused(f"ZORDER TABLE '{t}' FULL BY ({bad}) WITH (force = true)")


def test_char_and_varchar(walk):
    walk.names.append("fixed")
    walk.spark.sql("DROP TABLE IF EXISTS fixed")
    walk.spark.sql("CREATE TABLE fixed (c CHAR(8), v VARCHAR(3), a BIGINT) USING parquet")
    walk.spark.sql("INSERT INTO fixed SELECT 'x' || id % 9, 'v' || id % 7, id FROM range(500)")
    rows, kinds = walk.table("fixed"), walk.spark.sql("DESCRIBE fixed").collect()
    assert walk.cluster("fixed", by="c, v") == "DONE"
    assert walk.table("fixed") == rows
    assert walk.spark.sql("DESCRIBE fixed").collect() == kinds


def test_every_row_the_same(walk):
    t = walk.path("t", walk.rows(0, 2_000).selectExpr("1 as a", "2 as b", "'same' as s"))
    walk.cluster(t)
    assert walk.spark.read.parquet(t).count() == 2_000


def test_expressions_nobody_should_cluster_by(walk):
    t = walk.path()
    for bad in ("rand()", "count(a)", "(SELECT 1)", "a OVER ()", "explode(array(a))", "1", "uuid()", "a, a"):
        walk.refused(f"ZORDER TABLE '{t}' BY ({bad}) WITH (force = true)")
