"""``audit --where`` without Spark: what it leaves out, against every row."""

from __future__ import annotations

import datetime
import decimal
import math
import random

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("sqlglot")

import audit_tables
import pyarrow as pa
from pyarrow import parquet
from spark_zorder.audit.files import listing, places, table
from spark_zorder.audit.problem import UsageError
from spark_zorder.audit.query import conditions, opened, predicate, where

pytestmark = pytest.mark.same_on_all_lines

OPERATORS = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


def key(value):
    """In Spark's order: NaN is equal to itself and greatest."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value


class Column:
    """How values of a column are written in SQL, and near which rows have some."""

    def __init__(self, name, make, text, same=None):
        self.name, self.make, self.text, self.same = name, make, text, same or (lambda v: v)


def columns(zone):
    day, second = datetime.timedelta(days=1), datetime.timedelta(seconds=1)
    start = audit_tables.EPOCH + 20000 * day

    def local(value):
        return value.replace(tzinfo=datetime.timezone.utc).astimezone(zone).strftime("%Y-%m-%d %H:%M:%S")

    two = decimal.Decimal(2)
    return [
        Column("i", lambda n: n, str),
        Column("I", lambda n: n + decimal.Decimal("0.5"), str),
        Column("i", lambda n: n, lambda v: f"'{v}'"),
        Column("i", float, lambda v: f"{v}E0", int),
        Column("l", lambda n: n * 10**12, lambda v: f"{v}L"),
        Column("t", lambda n: n % 100 - 50, str),
        Column("s", lambda n: f"k{n:05d}é", lambda v: f"'{v}'"),
        Column("d", lambda n: (start + n * day).date(), lambda v: f"DATE '{v}'"),
        Column("d", lambda n: (start + n * day).date(), lambda v: f"'{v}'"),
        Column("ts", lambda n: start + n * day + n * second, lambda v: f"TIMESTAMP '{local(v)}'"),
        Column("ts", lambda n: start + n * day + n * second, lambda v: f"'{v.isoformat()}Z'"),
        Column("local", lambda n: start + n * day, lambda v: f"'{v}'"),
        Column("x", lambda n: n / 4, str),
        Column("x", lambda n: n, str, float),
        Column("f", lambda n: n / 4, str),
        Column("dec", lambda n: decimal.Decimal(n).scaleb(-2), str),
        Column("dec", lambda n: decimal.Decimal(n).scaleb(-3), str),
        Column("wide", lambda n: decimal.Decimal(n * 10**18).scaleb(-4) / two, str),
        Column("b", lambda n: n % 2 == 0, lambda v: str(v).lower()),
        Column("part", lambda n: n % 4, str),
        Column("day", lambda n: datetime.date(2026, 1, n % 3 + 1), lambda v: f"'{v}'"),
        Column("st.inner", lambda n: n, str),
        Column("none", lambda n: n, str),
    ]


def value_of(name, row):
    return (row["st"] or {}).get("inner") if name == "st.inner" else row[name.lower()]


def leaf(rng, known):
    """One condition as SQL, and its truth for a row (None is NULL)."""
    column = rng.choice(known)
    name = column.name

    def constant():
        value = column.make(rng.randint(-330, 330))
        return column.text(value), key(column.same(value))

    def over(test):
        def truth(row):
            value = value_of(name, row)
            return None if value is None else test(key(value))

        return truth

    kind = rng.choice(["op", "op", "op", "safe", "in", "between", "null", "mirror", "like"])
    (a, x), (b, y) = constant(), constant()
    if kind == "null":
        negated = rng.random() < 0.5
        return f"{name} IS {'NOT ' if negated else ''}NULL", lambda r: (value_of(name, r) is None) != negated
    if kind == "like" and name == "s":
        prefix = f"k{rng.randint(-3, 3):04d}"[:4]
        negated = rng.random() < 0.5
        text = f"s {'NOT ' if negated else ''}LIKE '{prefix}%'"
        return text, over(lambda v: v.startswith(prefix) != negated)
    if kind == "safe":
        if rng.random() < 0.3:
            return f"{name} <=> NULL", lambda r: value_of(name, r) is None
        return f"{name} <=> {a}", lambda r: value_of(name, r) is not None and key(value_of(name, r)) == x
    if kind == "in":
        with_null = rng.random() < 0.2
        text = f"{name} IN ({a}, {b}{', NULL' if with_null else ''})"
        return text, over(lambda v: True if v in (x, y) else None if with_null else False)
    if kind == "between":
        return f"{name} BETWEEN {a} AND {b}", over(lambda v: x <= v <= y)
    operator = rng.choice(list(OPERATORS))
    test = OPERATORS[operator]
    if kind == "mirror":
        return f"{a} {operator} {name}", over(lambda v: test(x, v))
    return f"{name} {operator} {a}", over(lambda v: test(v, x))


def tree(rng, known, depth=0):
    roll = rng.random()
    if depth > 2 or roll < 0.4:
        return leaf(rng, known)
    if roll < 0.55:
        text, truth = tree(rng, known, depth + 1)

        def negated(row):
            found = truth(row)
            return None if found is None else not found

        return f"NOT ({text})", negated
    (a, x), (b, y) = tree(rng, known, depth + 1), tree(rng, known, depth + 1)
    if roll < 0.8:

        def both(row):
            found = (x(row), y(row))
            return False if False in found else None if None in found else True

        return f"({a}) AND ({b})", both

    def either(row):
        found = (x(row), y(row))
        return True if True in found else None if None in found else False

    return f"({a}) OR ({b})", either


def read_table(root):
    return table.of(listing.list_files(places.place(str(root))))


def test_no_row_that_a_filter_wants_is_left_out(tmp_path):
    zone = datetime.datetime.now().astimezone().tzinfo
    known = columns(zone)
    rng = random.Random(7)
    pruned = 0
    for seed in range(3):
        root = tmp_path / str(seed)
        groups = audit_tables.write(root, seed, files=9)
        found = read_table(root)
        for _ in range(60):
            text, truth = tree(rng, known)
            conjuncts = where.read(text, found.columns)
            parts = [p for c in conjuncts for p in predicate.parts(c.node)]
            assert not any(isinstance(p, predicate.Unknown) for p in parts), text
            asked = opened.Predicate(conjuncts, found.columns)
            blocks = table.blocks(found, opened.columns_of(conjuncts), overlook_nan=False)
            view = opened._View(asked, "file")
            files = iter(sorted(groups, key=lambda g: g.file))
            for block in blocks:
                wanted = []
                for group in block.groups:
                    rows = next(files).rows
                    kept = all(view.may_match(c.node, group) for c in conjuncts)
                    wanted.append(any(truth(row) is True for row in rows))
                    assert kept or not wanted[-1], text
                    pruned += not kept
                assert any(wanted) <= all(view.may_match(c.node, block.whole) for c in conjuncts), text
    assert pruned > 1000


@pytest.fixture
def numbers(tmp_path):
    """Ten files of one row group each: `a` is 10 n .. 10 n + 9."""
    for n in range(10):
        rows = {"a": list(range(10 * n, 10 * n + 10)), "s": [f"{n}x"] * 10, "x": [float(n)] * 10}
        parquet.write_table(pa.table(rows), tmp_path / f"{n}.parquet")
    return read_table(tmp_path)


def ask(found, text, level="file"):
    conjuncts = where.read(text, found.columns)
    blocks = table.blocks(found, opened.columns_of(conjuncts), overlook_nan=False)
    return opened.opened(level, [b.whole for b in blocks], opened.Predicate(conjuncts, found.columns))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a = 17", 1),
        ("a == 17 AND a > 3", 1),
        ("a <> 17", 10),
        ("a BETWEEN 10 AND 29", 2),
        ("NOT (a BETWEEN 10 AND 29)", 8),
        ("a < 9.5", 1),
        ("a >= 9.5", 9),
        ("a = 9.5", 0),
        ("a IN (1, 2, 95)", 2),
        ("NOT a IN (1, 2, 95)", 10),
        ("a <=> 17", 1),
        ("a <=> NULL", 0),
        ("a = NULL", 0),
        ("a IS NULL", 0),
        ("a IS NOT NULL", 10),
        ("17 > a", 2),
        ("a = 17 OR a = 18 OR a = 55", 2),
        ("a = '17'", 1),
        ("a > -1", 10),
        ("a > 1e1", 10),
        ("s LIKE '3%'", 1),
        ("s NOT LIKE '3%'", 9),
        ("s = '3x'", 1),
        ("startswith(s, '3')", 1),
        ("s LIKE '%3'", 10),
        ("s IN ('3x', '4x')", 2),
        ("s NOT IN ('3x', '4x')", 8),
        # the writer leaves NaN, the greatest value, out of bounds
        ("x < 5", 5),
        ("x > 5", 10),
        ("abs(a) = 3", 10),
        ("a + 1 = 3", 10),
        ("a = a", 10),
        ("false", 0),
        ("TRUE AND a = 3", 1),
        ("a = 3 OR upper(s) = 'X'", 10),
        (r"s = 'a\'b'", 10),
        ("s = 'a''b'", 10),
        ("s > 3", 10),
        ("a BETWEEN SYMMETRIC 29 AND 10", 10),
        ("a IN (SELECT 1)", 10),
        ("s LIKE ANY ('1%', '2%')", 10),
        ("s LIKE '1!%' ESCAPE '!'", 10),
        ("a IS NOT DISTINCT FROM 17", 1),
        ("!(a < 50)", 5),
        ("a = 1 IS NULL", 10),
    ],
)
def test_how_many_files_are_left(numbers, text, kept):
    assert ask(numbers, text)[0].kept == kept


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = 17", "the range of 1 file meets it"),
        ("a < 25", "the ranges of 3 files meet it"),
        ("a >= 0", "the range of every file meets it"),
        ("a = 1000", ""),
        ("abs(a) = 3", "not a comparison of one column with constants: ABS(a) = 3"),
        ("x > 100", "a NaN may be there, which the writer leaves out of bounds (x in 10 files)"),
        ("s > 3", "type differs: the column is STRING, the constant INT: s > 3"),
    ],
)
def test_why_not_fewer(numbers, text, reason):
    assert ask(numbers, text)[1].reason == reason


def test_each_part_counts_by_itself_and_behind_the_others(numbers):
    whole, first, second = ask(numbers, "a < 50 AND s >= '3' AND TRUE")[:3]
    assert whole[:8] == (None, "file", 10, 8, 8, 2, 20, 0.2)
    assert first[:8] == ("a < 50", "file", 10, 5, 5, 5, 50, 0.5)
    assert second[:8] == ("s >= '3'", "file", 10, 3, 3, 2, 20, 0.2)


def test_a_column_without_statistics_says_so(tmp_path):
    data = pa.table({"t": pa.array([1, 2], pa.timestamp("us")), "a": [1, 2]})
    options = {"use_deprecated_int96_timestamps": True, "write_statistics": ["t"]}
    parquet.write_table(data, tmp_path / "a.parquet", **options)
    found = read_table(tmp_path)
    assert ask(found, "t > '2026-01-01'")[1].reason == "no statistics: INT96 (t in 1 file)"
    assert ask(found, "a = 1")[1].reason.startswith("no statistics: INT64, and a row group without bounds")


@pytest.mark.parametrize(
    ("text", "what"),
    [("nope = 1", "no column nope: name one of a, s, x"), ("a = ", "read"), ("a = 1 b = 2", "read")],
)
def test_what_cannot_be_read_is_wrong_usage(numbers, text, what):
    with pytest.raises(UsageError, match=what):
        ask(numbers, text)


def test_a_prefix_ends_where_no_string_with_it_comes_after():
    """A file may hold strings that are no UTF-8, with any number of bytes 0xFF."""
    test = conditions.starts_with(b"a", exactly=True)
    high = b"a" + b"\xff" * 40
    assert test.when_true.may_be_met((high, high), 0)
    assert not test.when_false.may_be_met((high, high), 0)
    assert not test.when_true.may_be_met((b"b", b"c"), 0)
    assert conditions.starts_with(b"a\xff", exactly=True).when_false.may_be_met((b"b", b"b"), 0)
