"""The figures of the audit without Spark, against counts that are made in the plainest way, and DuckDB's."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
from pyarrow import parquet
from spark_zorder._errors import UsageError
from spark_zorder.audit import plain
from spark_zorder.audit.figures import depth, level, shares
from spark_zorder.audit.figures.scale import Scale
from spark_zorder.audit.files.sparktype import SparkType
from spark_zorder.audit.files.zones import ONLY_NULLS, UNKNOWN, Block

pytestmark = pytest.mark.same_on_all_lines
BIGINT = SparkType("bigint")


def zones_at_random(rng, count):
    def zone():
        roll = rng.random()
        low = rng.randint(0, 40)
        return (
            UNKNOWN if roll < 0.1 else ONLY_NULLS if roll < 0.2 else (low, low + rng.choice([0, 0, 1, 5, 30]))
        )

    return [zone() for _ in range(count)]


def values_of(zone, everything):
    return everything if zone is None else set(range(zone[0], zone[1] + 1)) if zone else set()


def whole_range(zones):
    known = [z for z in zones if z]
    if not known:
        return set()
    return set(range(min(z[0] for z in known), max(z[1] for z in known) + 1))


def test_the_example_of_the_specification():
    found = depth.of_column([(1, 2), (2, 3), (2, 2), (4, 5)], Scale([(1, 2), (2, 3), (2, 2), (4, 5)], BIGINT))
    assert [(d.overlaps, d.depth) for d in found] == [(2, 3), (2, 3), (2, 3), (0, 1)]


@pytest.mark.parametrize("seed", range(30))
def test_depths_are_those_of_plain_counts(seed):
    rng = random.Random(seed)
    zones = zones_at_random(rng, rng.randint(1, 90))
    everything = whole_range(zones)
    held = [values_of(zone, everything) for zone in zones]
    for i, found in enumerate(depth.of_column(zones, Scale(zones, BIGINT))):
        if zones[i] == ONLY_NULLS:
            assert (found.overlaps, found.depth) == (0, 1)
        elif everything:
            assert found.overlaps == sum(1 for j, h in enumerate(held) if j != i and h & held[i])
            assert found.depth == max(sum(1 for h in held if v in h) for v in held[i])


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_those_of_plain_counts(seed):
    rng = random.Random(seed)
    zones = zones_at_random(rng, rng.randint(1, 30))
    rows = [rng.randint(0, 50) for _ in zones]
    everything = whole_range(zones)
    weights = dict.fromkeys(everything, Fraction(0))
    for n, zone in zip(rows, zones):
        for v in range(zone[0], zone[1] + 1) if zone else ():
            weights[v] += Fraction(n, zone[1] - zone[0] + 1)
    total, all_rows = sum(weights.values()), sum(rows)
    found = shares.of_column(rows, zones, Scale(zones, BIGINT))
    if not total or not all_rows:
        return
    read = Fraction(0)
    for n, zone, reach in zip(rows, zones, found.reach):
        expected = 1 if zone is None else sum(weights[v] for v in values_of(zone, everything)) / total
        assert abs(reach - expected) < 1e-12
        read += n * expected
    assert abs(found.look_up - read / all_rows) < 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_joint_depths_are_those_of_plain_counts(seed):
    rng = random.Random(seed)
    columns = [zones_at_random(rng, 60) for _ in range(3)]
    scales = [Scale(zones, BIGINT) for zones in columns]
    boxes = list(zip(*([s.box(z) for z in zones] for s, zones in zip(scales, columns))))

    def meet(a, b):
        return None not in a and None not in b and all(x[0] <= y[1] and y[0] <= x[1] for x, y in zip(a, b))

    for i, found in enumerate(depth.of_boxes(boxes, scales)):
        if None in boxes[i]:
            assert (found.depth, found.overlaps) == (1, 0)
        else:
            point = tuple((s.middle(side),) * 2 for s, side in zip(scales, boxes[i]))
            assert found.depth == sum(1 for b in boxes if meet(point, b))
            assert found.overlaps == sum(1 for j, b in enumerate(boxes) if j != i and meet(boxes[i], b))


def test_a_tiled_plane_is_at_the_bound():
    """16 x 16 tiles of equal width: each look-up reads a sixteenth, and nothing can read less."""
    tiles = [((100 * x, 100 * x + 99), (100 * y, 100 * y + 99)) for x in range(16) for y in range(16)]
    found = level.of([Block(1000, tile, (0, 0)) for tile in tiles], [BIGINT, BIGINT])
    reads = found.joint.reads
    assert level.rounded(reads.look_up) == 0.0625 == level.rounded(reads.look_up_bound)
    assert reads.efficiency() == 1.0
    assert found.joint.depths.average() == 1.0 and found.columns[0].depths.average() == 16.0
    assert found.joint.depths.histogram() == {"00001": 256}


def test_the_histogram_has_snowflakes_buckets():
    depths = level.Depths(0, 0, {1: 2, 3: 1, 17: 4, 32: 1, 33: 1}, 0.0)
    expected = {f"{i:05d}": {1: 2, 3: 1}.get(i, 0) for i in range(1, 17)}
    assert depths.histogram() == {**expected, "00032": 5, "00064": 1}
    assert list(level.Depths(0, 0, {}, 0.0).histogram()) == []
    assert depths.p95() == 33 and level.Depths(0, 0, {1: 95, 9: 5}, 0.0).p95() == 1


@pytest.fixture
def sales(tmp_path):
    """Rows as of store_sales: a date that ascends from file to file, an item and a customer that do not."""
    rng = random.Random(4)
    for n in range(24):
        rows = {
            "sold": [100 * n + rng.randint(-60, 160) for _ in range(300)],
            "item": [min(rng.randint(1, 500), rng.randint(1, 500)) for _ in range(300)],
            "customer": [
                None if rng.random() < 0.05 else rng.randint(20 * n, 20 * n + 90) for _ in range(300)
            ],
        }
        parquet.write_table(pa.table(rows), tmp_path / f"part-{n:02d}.parquet", row_group_size=75)
    return tmp_path


LOOK_UPS = """
WITH numbered AS (
  SELECT {column} AS v, filename, file_row_number // {size} AS part
  FROM read_parquet('{path}/*.parquet', filename = true, file_row_number = true)),
blocks AS (SELECT min(v) AS low, max(v) AS high, count(*) AS n FROM numbered GROUP BY filename, part),
vals AS (SELECT unnest(range((SELECT min(low) FROM blocks), (SELECT max(high) + 1 FROM blocks))) AS x),
each AS (
  SELECT x, sum(n / (high - low + 1)) AS weight, sum(n) AS read
  FROM vals JOIN blocks ON x BETWEEN low AND high GROUP BY x)
SELECT sum(weight * read) / sum(weight) / (SELECT sum(n) FROM blocks) FROM each
"""


@pytest.mark.parametrize(("of", "size"), [("file", 1000), ("row group", 75)])
def test_shares_are_those_that_duckdb_counts_from_the_rows(sales, of, size):
    duckdb = pytest.importorskip("duckdb")
    rows = plain.audit(plain.listed(str(sales)), "sold, item, customer").rows()
    found = {e["name"]: e for e in rows[0]["levels"] if e["level"] == of}
    with duckdb.connect() as connection:
        for column in ("sold", "item", "customer"):
            query = LOOK_UPS.format(column=column, size=size, path=sales)
            counted = connection.execute(query).fetchall()[0][0]
            assert found[column]["look_up_share"] == pytest.approx(counted, abs=1e-9)


@pytest.mark.parametrize(
    ("columns", "what"),
    [
        ("nope", "no column nope"),
        ("", "is empty"),
        ("a, A", "named twice"),
        ("part", "is a partition column"),
        ("list", "no bounds of list"),
        (None, "was never clustered"),
        ("a +", "no bounds of a +|no column"),
    ],
)
def test_columns_that_cannot_be_audited(tmp_path, columns, what):
    folder = tmp_path / "part=1"
    folder.mkdir()
    parquet.write_table(pa.table({"a": [1], "list": [[1]]}), folder / "a.parquet")
    with pytest.raises(UsageError, match=what):
        plain.audit(plain.listed(str(tmp_path)), columns)


def test_files_of_one_row_group_without_rows_count_as_not_there(tmp_path):
    """pyarrow writes an empty file so, without statistics."""
    for n in range(4):
        parquet.write_table(pa.table({"a": [10 * n, 10 * n + 9]}), tmp_path / f"{n}.parquet")
    before = plain.audit(plain.listed(str(tmp_path)), "a").rows()
    empty = pa.table({"a": pa.array([], pa.int64())})
    for n in range(6):
        parquet.write_table(empty, tmp_path / f"empty-{n}.parquet")
    assert parquet.read_metadata(tmp_path / "empty-0.parquet").num_row_groups == 1
    assert before[0]["verdict"] == "OK" and plain.audit(plain.listed(str(tmp_path)), "a").rows() == before


def test_columns_of_which_each_file_has_one(tmp_path):
    """Two sources in one directory: no file has values of both columns."""
    for n in range(8):
        own, other = ("a", "b") if n % 2 else ("b", "a")
        values = pa.array(range(100 * n, 100 * n + 100), pa.int64())
        rows = pa.table({own: values, other: pa.nulls(100, pa.int64())}).select(["a", "b"])
        parquet.write_table(rows, tmp_path / f"{n}.parquet")
    row = plain.audit(plain.listed(str(tmp_path)), "a, b").rows()[0]
    assert row["verdict"] == "OK"
    assert [e["look_up_bound"] for e in row["levels"]] == [0.125] * 6
