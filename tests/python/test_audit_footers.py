"""The footers' reader of the audit without Spark, against the rows themselves."""

from __future__ import annotations

import datetime
import json
import math
import os
import struct
import subprocess
import sys
from itertools import groupby

import pytest

pytest.importorskip("pyarrow")

import audit_tables
import footer_cases
import pyarrow as pa
from pyarrow import parquet
from spark_zorder._errors import AuditError
from spark_zorder.audit import plain, texts
from spark_zorder.audit.files import footers, listing, normalized, table
from spark_zorder.audit.files.sparktype import SparkType

pytestmark = pytest.mark.same_on_all_lines
DAY = datetime.date(1970, 1, 1)


def opened(root):
    return table.of(listing.list_files(listing.place(str(root))))


def word(name, value):
    """The place of a value in Spark's order, found in another way than the reader's."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value + 0.0)
    if isinstance(value, datetime.datetime):
        return (value.replace(tzinfo=None) - audit_tables.EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - DAY).days
    if name in ("dec", "wide"):
        return int(value.scaleb(2 if name == "dec" else 4))
    return value.encode() if isinstance(value, str) else value


def as_number(name, found):
    """A word of the reader as `word` has it."""
    if name not in ("x", "f"):
        return found
    width, code, nan = (64, "qd", 0x7FF8000000000000) if name == "x" else (32, "if", 0x7FC00000)
    if found == nan:
        return (1, 0.0)
    bits = found ^ ((found >> (width - 1)) & ((1 << (width - 1)) - 1))
    return (0, struct.unpack("<" + code[1], struct.pack("<" + code[0], bits))[0])


def value_of(name, row):
    if name == "st.inner":
        return row["st"]["inner"] if row["st"] else None
    return row[name]


def check(name, block, rows, place):
    values = [v for v in (value_of(name, row) for row in rows) if v is not None]
    words = [word(name, v) for v in values]
    zone, nulls = block.zones[place], block.nulls[place]
    assert block.rows == len(rows)
    assert nulls is None or nulls == len(rows) - len(values)
    if not values:
        assert zone in ((), None), name
        return
    if name in ("x", "f"):
        # pyarrow leaves NaN out of bounds
        numbers = [w for w in words if w[0] == 0]
        if not numbers:
            assert zone is None
            return
        assert [as_number(name, w) for w in zone] == [min(numbers), max(numbers)], name
        return
    assert zone == (min(words), max(words)), name


@pytest.mark.parametrize("seed", range(4))
def test_zones_are_those_of_the_rows(tmp_path, seed):
    groups = audit_tables.write(tmp_path, seed)
    found = opened(tmp_path)
    names = [c.name for c in found.columns.all]
    assert {"i", "st.inner", "part", "day"} < set(names)
    wanted = [i for i, c in enumerate(found.columns.all) if not c.name.startswith("list")]
    blocks = table.blocks(found, wanted)
    by_file = {f: list(g) for f, g in groupby(sorted(groups, key=lambda g: g.file), key=lambda g: g.file)}
    assert [b.file.rel for b in blocks] == list(by_file)
    for block in blocks:
        parts = by_file[block.file.rel]
        assert len(block.groups) == len(parts)
        for place, number in enumerate(wanted):
            for group, part in zip(block.groups, parts):
                check(names[number], group, part.rows, place)
            whole = [row for part in parts for row in part.rows]
            if block.whole.zones[place] is not None or names[number] not in ("x", "f"):
                check(names[number], block.whole, whole, place)


def test_the_types_are_those_that_spark_reads(tmp_path):
    audit_tables.write(tmp_path, files=3)
    types = {c.name: c.type.sql if c.type else None for c in opened(tmp_path).columns.all}
    assert types == {
        "i": "INT", "l": "BIGINT", "t": "TINYINT", "s": "STRING", "d": "DATE", "ts": "TIMESTAMP",
        "local": "TIMESTAMP_NTZ", "x": "DOUBLE", "f": "FLOAT", "dec": "DECIMAL(9,2)", "wide": "DECIMAL(30,4)",
        "b": "BOOLEAN", "raw": "BINARY", "none": "INT", "st.inner": "BIGINT", "list.list.element": None,
        "part": "INT", "day": "DATE",
    }  # fmt: skip


def zones_of(tmp_path, arrow, *names, **options):
    parquet.write_table(arrow, tmp_path / "a.parquet", **options)
    found = opened(tmp_path)
    return table.blocks(found, [found.columns.number([n]) for n in names])[0].whole.zones


def test_what_is_in_doubt_is_unknown(tmp_path):
    old = datetime.date(1500, 1, 1)
    early = datetime.datetime(1850, 1, 1, tzinfo=datetime.timezone.utc)
    data = pa.table(
        {
            "old": pa.array([old, DAY], pa.date32()),
            "early": pa.array([early, None], pa.timestamp("us", tz="UTC")),
            "unsigned": pa.array([1, 2], pa.uint32()),
            "nano": pa.array([1, 2], pa.timestamp("ns")),
        }
    )
    assert zones_of(tmp_path, data, "old", "early", "unsigned", "nano") == (None, None, None, None)


def test_int96_and_missing_statistics_are_unknown(tmp_path):
    data = pa.table({"t": pa.array([1, 2], pa.timestamp("us")), "a": [1, 2]})
    assert zones_of(tmp_path, data, "t", use_deprecated_int96_timestamps=True) == (None,)
    assert zones_of(tmp_path, data, "a", write_statistics=False) == (None,)


def test_a_file_of_an_other_type_is_unknown_and_one_without_the_column_holds_nulls(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "c": [1, 1]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "b.parquet")
    found = opened(tmp_path)
    blocks = table.blocks(found, [0, 1])
    assert [b.whole.zones for b in blocks] == [((1, 2), (1, 1)), (None, ())]


def test_a_column_or_struct_in_two_spellings_is_unknown(tmp_path):
    parquet.write_table(pa.table({"a": [1], "s": [{"f": 1}]}), tmp_path / "a.parquet")
    rows = pa.table([[1], [2], [{"f": 1}], [{"g": 2}]], names=["a", "A", "s", "S"])
    parquet.write_table(rows, tmp_path / "b.parquet")
    found = opened(tmp_path)
    blocks = table.blocks(found, [0, 1])
    assert [b.whole.zones for b in blocks] == [((1, 1), (1, 1)), (None, None)]


def test_spark_files_tell_their_types_and_calendar(tmp_path):
    """As Spark's writer notes them; created_by is pyarrow's."""
    row = (
        '{"type":"struct","fields":[{"name":"c","type":"string","nullable":true,'
        '"metadata":{"__CHAR_VARCHAR_TYPE_STRING":"char(3)"}},'
        '{"name":"d","type":"date","nullable":true,"metadata":{}}]}'
    )
    notes = {"org.apache.spark.version": "4.0.1", "org.apache.spark.sql.parquet.row.metadata": row}
    old = datetime.date(1500, 1, 1)
    data = pa.table({"c": ["a  "], "d": pa.array([old], pa.date32())}).replace_schema_metadata(notes)
    zones = zones_of(tmp_path, data, "c", "d")
    days = (old - DAY).days
    assert zones == (None, (days, days))


@pytest.mark.parametrize(
    "name",
    ["_SUCCESS.parquet", ".hidden.parquet", "_temporary/0/a.parquet", "part=1/_x/b.parquet", "c._COPYING_"],
)
def test_what_spark_does_not_list_is_left_out(tmp_path, name):
    below = tmp_path / "part=1"
    below.mkdir()
    parquet.write_table(pa.table({"a": [1]}), below / "a.parquet")
    hidden = tmp_path / name
    hidden.parent.mkdir(parents=True, exist_ok=True)
    hidden.write_bytes(b"no Parquet")
    (below / "empty.parquet").write_bytes(b"")
    assert [f.rel for f in listing.list_files(listing.place(str(tmp_path))).files] == ["part=1/a.parquet"]


def test_links_to_nothing_and_what_goes_meanwhile_are_left_out(tmp_path, monkeypatch):
    for name in ("part=1", "part=2"):
        (tmp_path / name).mkdir()
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "part=1" / "a.parquet")
    (tmp_path / "part=1" / "b.parquet").symlink_to(tmp_path / "nowhere.parquet")
    (tmp_path / "part=1" / "c.parquet").symlink_to("c.parquet")
    scandir = os.scandir

    def later(path):
        if path.endswith("/part=2/"):
            (tmp_path / "part=2").rmdir()
        return scandir(path)

    monkeypatch.setattr(os, "scandir", later)
    assert [f.rel for f in listing.list_files(listing.place(str(tmp_path))).files] == ["part=1/a.parquet"]


@pytest.mark.parametrize(
    ("name", "what"),
    [("x/a.parquet", "not a partition directory"), ("q=1/a.parquet", "do not have the same columns")],
)
def test_what_is_no_table_is_refused(tmp_path, name, what):
    for file in ("p=1/a.parquet", name):
        (tmp_path / file).parent.mkdir()
        parquet.write_table(pa.table({"a": [1]}), tmp_path / file)
    with pytest.raises(AuditError, match=what):
        listing.list_files(listing.place(str(tmp_path)))


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("_delta_log/0.json", "Delta"),
        (".hoodie/hoodie.properties", "Hudi"),
        ("metadata/v1.metadata.json", "Iceberg"),
        ("_spark_metadata/0", "streaming output"),
    ],
)
def test_tables_of_other_formats_are_noticed(tmp_path, name, format):
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("{}")
    assert listing.list_files(listing.place(str(tmp_path))).format == format


NAN = {"float": normalized.of_float(math.nan), "double": normalized.of_double(math.nan)}
VECTORS = json.loads(footer_cases.GOLDEN.read_text())


def test_the_golden_footers_are_those_of_the_cases():
    assert list(footer_cases.golden()) == VECTORS, "python tests/python/footer_cases.py writes them anew"


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: case["name"])
def test_which_statistics_are_believed(tmp_path, case):
    """The JVM's reader is asked the same in BelievedStatisticsSuite."""
    (tmp_path / "a.parquet").write_bytes(footer_cases.file(bytes.fromhex(case["footer"])))
    found = opened(tmp_path)
    assert [c.type.sql.lower() for c in found.columns.all] == [case["type"]]
    group = table.blocks(found, [0])[0].groups[0]
    zone = {"unknown": None, "only NULL": ()}.get(str(case["zone"]), case["zone"])
    if zone:
        zone = tuple(bytes.fromhex(w) if isinstance(w, str) else w for w in zone)
        if case["type"] in NAN and zone[1] == NAN[case["type"]]:
            # the audit believes the bound beside which a NaN may hide
            zone = (zone[0], group.zones[0][1])
    assert (group.rows, group.zones, group.nulls) == (10, (zone,), (case["nulls"],))


@pytest.mark.parametrize("columns", [1, 14, 15, 200])
def test_the_usual_end_of_a_footer_is_known(tmp_path, columns):
    """Else every footer would be read field by field."""
    parquet.write_table(pa.table({f"c{n}": [1] for n in range(columns)}), tmp_path / "a.parquet")
    found = listing.list_files(listing.place(str(tmp_path)))
    assert footers.opened(found.place, found.files[0]).in_order


def test_keys_and_parameters_of_a_uri_are_not_shown():
    assert listing.shown("s3://KEY:SECRET@bucket/t?endpoint_override=x") == "s3://bucket/t"
    assert listing.shown("/tmp/what?") == "/tmp/what?"


def test_bounds_of_fixed_bytes_that_arrow_rs_has_cut(tmp_path):
    low, high = bytes(range(1, 129)), bytes(range(101, 229))
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": pa.array([low, high], pa.binary(128))}), path)
    data = path.read_bytes()
    at = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    # 64 bytes with their length in place of 128
    footer = data[at:-8].replace(b"\x80\x01" + low, b"\x40" + low[:64])
    footer = footer.replace(b"\x80\x01" + high, b"\x40" + high[:63] + bytes([high[63] + 1]))
    path.write_bytes(data[:at] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    # in a process of its own, since pyarrow would end this one
    code = "from spark_zorder.audit import plain\n"
    code += f"audit = plain.audit(plain.listed({str(tmp_path)!r}), 'a')\n"
    code += "print(audit.rows()[0]['files_without_statistics'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


def test_columns_that_are_encrypted_behind_a_plain_footer(tmp_path):
    pe = pytest.importorskip("pyarrow.parquet.encryption")

    class Keys(pe.KmsClient):
        def wrap_key(self, key, _):
            return key

    how = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"k": ["a"]}, plaintext_footer=True, double_wrapping=False
    )
    properties = pe.CryptoFactory(lambda _: Keys()).file_encryption_properties(pe.KmsConnectionConfig(), how)
    data = pa.table({"a": [1, 2, 3], "b": [4, 5, 6]})
    with parquet.ParquetWriter(
        tmp_path / "a.parquet", data.schema, encryption_properties=properties
    ) as writer:
        writer.write_table(data)
    parquet.write_table(data, tmp_path / "b.parquet")
    found = opened(tmp_path)
    blocks = table.blocks(found, [0, 1])
    assert [(b.whole.rows, b.whole.zones) for b in blocks] == [(3, (None, None)), (3, ((1, 3), (4, 6)))]
    notes = plain.audit(plain.listed(str(tmp_path)), "a").rows()[0]["notes"]
    assert notes[0] == "Columns of 1 file are encrypted: nothing is known of them."


@pytest.mark.parametrize(
    ("number", "as_double", "as_float"),
    [
        (0.0, "0.0", "0.0"), (-0.0, "0.0", "0.0"), (5.0, "5.0", "5.0"), (0.1, "0.1", "0.1"),
        (-123456.5, "-123456.5", "-123456.5"), (1e7, "1.0E7", "1.0E7"), (9999999.0, "9999999.0", "9999999.0"),
        (1e-3, "0.001", "0.001"), (0.00025, "2.5E-4", "2.5E-4"), (1.5e300, "1.5E300", "Infinity"),
        (-math.inf, "-Infinity", "-Infinity"), (math.nan, "NaN", "NaN"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_spark_writes_them(number, as_double, as_float):
    assert texts.value_text(normalized.of_double(number), SparkType("double")) == as_double
    assert texts.value_text(normalized.of_float(number), SparkType("float")) == as_float


@pytest.mark.parametrize(
    ("unscaled", "scale", "wanted"),
    [
        (99999999999999999999999999999999999999, 0, "99999999999999999999999999999999999999"),
        (-99999999999999999999999999999999999999, 18, "-99999999999999999999.999999999999999999"),
        (10000000000000000000000000000000000001, 38, "0.10000000000000000000000000000000000001"),
        (1, 38, "0.00000000000000000000000000000000000001"), (-5, 2, "-0.05"), (0, 2, "0.00"),
        (10**38, 0, None),
    ],
)  # fmt: skip
def test_decimals_keep_all_their_digits(unscaled, scale, wanted):
    assert texts.value_text(unscaled, SparkType("decimal", 38, scale)) == wanted


DAY_MICROS, HOUR_NANOS = 86_400 * 10**6, 3600 * 10**9


@pytest.mark.parametrize(
    ("value", "name", "wanted"),
    [
        (-719162, "date", "0001-01-01"), (-719528, "date", "0000-01-01"), (-719529, "date", "-0001-12-31"),
        (2932896, "date", "9999-12-31"), (2932897, "date", "+10000-01-01"), (11016, "date", "2000-02-29"),
        (2**31 - 1, "date", "+5881580-07-11"), (-(2**31), "date", "-5877641-06-23"),
        (-719162 * DAY_MICROS, "timestamp", "0001-01-01 00:00:00"),
        (2932897 * DAY_MICROS + 60, "timestamp_ntz", "+10000-01-01 00:00:00.00006"),
        (-1, "timestamp", "1969-12-31 23:59:59.999999"),
        (2**63 - 1, "timestamp_ntz", "+294247-01-10 04:00:54.775807"),
        (-(2**63), "timestamp_ntz", "-290308-12-21 19:59:05.224192"),
        (HOUR_NANOS // 2, "time(6)", "00:30:00"), (HOUR_NANOS // 2, "time", "00:30:00"),
        (HOUR_NANOS + 10**6, "time(3)", "01:00:00.001"), (HOUR_NANOS + 1, "time(6)", None),
        (24 * HOUR_NANOS, "time(6)", None), (-1, "time(9)", None), (5, "time(9)", "00:00:00.000000005"),
        (14, "interval year to month", "INTERVAL '1-2' YEAR TO MONTH"),
        (-14, "interval year to month", "INTERVAL '-1-2' YEAR TO MONTH"),
        (24, "interval year", "INTERVAL '2' YEAR"), (14, "interval year", None),
        (-14, "interval month", "INTERVAL '-14' MONTH"),
        (1_800_000_000_000, "interval day to hour", "INTERVAL '20 20' DAY TO HOUR"),
        (90_061_500_000, "interval day to second", "INTERVAL '1 01:01:01.5' DAY TO SECOND"),
        (90_061_500_000, "interval day to minute", None), (90_061_500_000, "interval unknown", None),
        (-(2**63), "interval day to second", "INTERVAL '-106751991 04:00:54.775808' DAY TO SECOND"),
        (0, "interval hour to minute", "INTERVAL '00:00' HOUR TO MINUTE"),
        (-1_500_000, "interval second", "INTERVAL '-01.5' SECOND"), (-500_000, "interval second", None),
        (-500_000, "interval minute to second", "INTERVAL '-00:00.5' MINUTE TO SECOND"),
    ],
)  # fmt: skip
def test_times_and_intervals_are_written_as_spark_writes_them(value, name, wanted):
    """The texts are those of the JVM's ValueText."""
    assert texts.value_text(value, SparkType(name)) == wanted
