"""Footers of odd writers, and what both readers must believe of them (docs/spec.md, section 7).

python tests/python/footer_cases.py      writes tests/shared/golden/statistics.json anew
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1] / "shared/golden/statistics.json"
UNKNOWN, NULLS = "unknown", "only NULL"
MR, NEW, OLD, RS, IMPALA = (
    "parquet-mr version 1.13.1 (build abc)",
    "parquet-mr version 1.18.1 (build abc)",
    "parquet-mr version 1.8.2 (build abc)",
    "parquet-rs version 49.0.0",
    "impala version 2.9.0 (build abc)",
)
ONE = {"min_value": 3, "max_value": 9}
BEFORE = {"min": 3, "max": 9}
TEXT = {"min_value": b"ab", "max_value": b"c"}
TEXT_BEFORE = {"min": b"ab", "max": b"c"}
SAME_BEFORE = {"min": b"ab", "max": b"ab"}
AB_C, AB = [b"ab", b"c"], [b"ab", b"ab"]
NAN = float("nan")
ONE_DOUBLE, TWO_DOUBLE, NAN_DOUBLE = 0x3FF0000000000000, 0x4000000000000000, 0x7FF8000000000000

# name, writer, orders of columns, type in the file, type in Spark, statistics, zone; perhaps NULLs, values
CASES = [
    ("bounds as they should be", MR, "usual", "INT32", "int", ONE, [3, 9]),
    ("no orders", RS, None, "INT32", "int", ONE, [3, 9]),
    ("an order that is younger than the reader", RS, "other", "INT32", "int", ONE, UNKNOWN),
    ("such an order of one value", RS, "other", "INT32", "int", {"min_value": 3, "max_value": 3}, [3, 3]),
    ("old bounds of numbers", OLD, None, "INT32", "int", BEFORE, [3, 9]),
    ("old bounds of numbers beside an order", MR, "usual", "INT64", "bigint", BEFORE, [3, 9]),
    ("old bounds of numbers of nobody", None, None, "INT64", "bigint", BEFORE, [3, 9]),
    ("new bounds before old ones", MR, "usual", "INT32", "int", {**ONE, "min": 1, "max": 99}, [3, 9]),
    ("half of the new bounds", MR, "usual", "INT32", "int", {"min_value": 5, **BEFORE}, [3, 9]),
    ("half of the bounds", MR, "usual", "INT32", "int", {"min_value": 3}, UNKNOWN),
    ("bounds out of order", MR, "usual", "INT32", "int", {"min_value": 9, "max_value": 3}, UNKNOWN),
    ("old bounds of unsigned numbers", OLD, None, "INT32 UINT_32", "bigint", BEFORE, UNKNOWN),
    ("unsigned numbers", MR, "usual", "INT32 UINT_32", "bigint", ONE, UNKNOWN),
    ("old bounds of days", IMPALA, None, "INT32 DATE", "date", BEFORE, [3, 9]),
    ("old bounds of moments", OLD, None, "INT64 TIMESTAMP_MICROS", "timestamp", BEFORE, [3, 9]),
    ("texts", MR, "usual", "BYTE_ARRAY UTF8", "string", TEXT, AB_C),
    ("texts without orders", RS, None, "BYTE_ARRAY UTF8", "string", TEXT, AB_C),
    ("texts without a name", None, None, "BYTE_ARRAY UTF8", "string", TEXT, AB_C),
    ("texts in another order", RS, "other", "BYTE_ARRAY UTF8", "string", TEXT, UNKNOWN),
    ("old bounds of texts", OLD, None, "BYTE_ARRAY UTF8", "string", TEXT_BEFORE, UNKNOWN),
    ("old bounds of texts, not parquet-mr", IMPALA, None, "BYTE_ARRAY UTF8", "string", TEXT_BEFORE, UNKNOWN),
    ("old bounds of texts beside an order", MR, "usual", "BYTE_ARRAY UTF8", "string", TEXT_BEFORE, UNKNOWN),
    ("old bounds of bytes", OLD, None, "BYTE_ARRAY", "binary", TEXT_BEFORE, UNKNOWN),
    ("old bounds of one text", OLD, None, "BYTE_ARRAY UTF8", "string", SAME_BEFORE, AB),
    ("old bounds of one text, not parquet-mr", IMPALA, None, "BYTE_ARRAY UTF8", "string", SAME_BEFORE, AB),
]
CASES += [
    (f"old bounds of one text: {writer}", writer, None, "BYTE_ARRAY UTF8", "string", SAME_BEFORE, zone)
    for writer, zone in [
        (None, UNKNOWN),
        ("somebody", UNKNOWN),
        ("parquet-mr", UNKNOWN),
        ("parquet-mr version", UNKNOWN),
        ("parquet-mr version 1.7.0 (build abc)", UNKNOWN),
        ("parquet-mr version 1.8.0-SNAPSHOT (build abc)", UNKNOWN),
        ("parquet-mr version 1.8.0 (build abc)", AB),
        ("parquet-mr version 1.5.0-cdh5.4.9 (build abc)", UNKNOWN),
        ("parquet-mr version 1.5.0-cdh5.7.1 (build abc)", AB),
        ("parquet-mr version 1.6.0rc3", UNKNOWN),
        ("parquet-cpp version 1.0.0", AB),
    ]
]
CASES += [
    ("decimals", MR, "usual", "INT32 DECIMAL", "decimal(9,2)", ONE, [3, 9]),
    ("decimals without orders", RS, None, "INT64 DECIMAL", "decimal(9,2)", ONE, [3, 9]),
    ("old bounds of decimals", OLD, None, "INT32 DECIMAL", "decimal(9,2)", BEFORE, UNKNOWN),
    ("old bounds of one decimal", OLD, None, "INT64 DECIMAL", "decimal(9,2)", {"min": 3, "max": 3}, [3, 3]),
    ("decimals as bytes", RS, None, "BYTE_ARRAY DECIMAL", "decimal(9,2)",
     {"min_value": b"\xff\x01", "max_value": b"\x05"}, [-255, 5]),
    ("old bounds of decimals as bytes", OLD, None, "BYTE_ARRAY DECIMAL", "decimal(9,2)",
     {"min": b"\x01", "max": b"\x05"}, UNKNOWN),
    ("truth values", MR, "usual", "BOOLEAN", "boolean", {"min_value": False, "max_value": True}, [0, 1]),
    ("old bounds of truth values", OLD, None, "BOOLEAN", "boolean", {"min": False, "max": False}, [0, 0]),
    ("numbers among which a NaN would show", MR, "usual", "DOUBLE", "double",
     {"min_value": 1.0, "max_value": 2.0}, [ONE_DOUBLE, TWO_DOUBLE]),
    ("numbers by parquet-mr 1.18: a NaN may be", NEW, "usual", "DOUBLE", "double",
     {"min_value": 1.0, "max_value": 2.0}, [ONE_DOUBLE, NAN_DOUBLE]),
    ("one number by it in an order of its own: a NaN may be", NEW, "other", "DOUBLE", "double",
     {"min_value": 1.0, "max_value": 1.0}, [ONE_DOUBLE, NAN_DOUBLE]),
    ("numbers among which a NaN may be", RS, None, "DOUBLE", "double",
     {"min_value": 1.0, "max_value": 2.0}, [ONE_DOUBLE, NAN_DOUBLE]),
    ("old bounds of such numbers", OLD, None, "DOUBLE", "double",
     {"min": 1.0, "max": 2.0}, [ONE_DOUBLE, NAN_DOUBLE]),
    ("NaN as a bound", MR, "usual", "DOUBLE", "double", {"min_value": 1.0, "max_value": NAN}, UNKNOWN),
    ("NaN as both bounds", RS, None, "DOUBLE", "double", {"min_value": NAN, "max_value": NAN}, UNKNOWN),
    ("moments of 12 bytes", MR, "usual", "INT96", "timestamp",
     {"min_value": bytes(12), "max_value": bytes(11) + b"\1"}, UNKNOWN),
    ("one moment of 12 bytes", MR, "usual", "INT96", "timestamp",
     {"min_value": bytes(12), "max_value": bytes(12)}, UNKNOWN),
    ("12 bytes that are all NULL", MR, "usual", "INT96", "timestamp", {"null_count": 10}, NULLS, 10),
    ("all NULL", MR, "usual", "INT32", "int", {"null_count": 10}, NULLS, 10),
    ("texts that are all NULL, without orders", RS, None, "BYTE_ARRAY UTF8", "string",
     {"null_count": 10}, NULLS, 10),
    ("texts of an old writer, all NULL", "parquet-mr version 1.7.0", None, "BYTE_ARRAY UTF8", "string",
     {"null_count": 10}, NULLS, 10),
    ("some NULL", MR, "usual", "INT32", "int", {**ONE, "null_count": 4}, [3, 9], 4),
    ("no NULL, without orders", RS, None, "INT32", "int", {**ONE, "null_count": 0}, [3, 9], 0),
    ("no NULL and no bounds", MR, "usual", "INT32", "int", {"null_count": 0}, UNKNOWN, 0),
    ("no statistics", MR, "usual", "INT32", "int", {}, UNKNOWN),
    ("fewer than no NULL", MR, "usual", "INT32", "int", {**ONE, "null_count": -1}, [3, 9]),
    ("more NULL than values", MR, "usual", "INT32", "int", {**ONE, "null_count": 11}, UNKNOWN),
    ("fewer values than rows", MR, "usual", "INT32", "int", {**ONE, "null_count": 0}, UNKNOWN, None, 9),
    ("as many NULL as values, more rows", MR, "usual", "INT32", "int", {"null_count": 9}, UNKNOWN, None, 9),
    ("more values than rows", RS, None, "INT32", "int", ONE, UNKNOWN, None, 11),
]  # fmt: skip

ROWS = 10
_TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_CONVERTED = {"UTF8": 0, "DECIMAL": 5, "DATE": 6, "TIMESTAMP_MICROS": 10, "UINT_32": 13}
_FORMATS = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
_STATISTICS = {"max": 1, "min": 2, "null_count": 3, "max_value": 5, "min_value": 6}


class Long(int):
    """A number that is written as one of 64 bits."""


def footer(writer, orders, stored, statistics, values=ROWS):
    """The footer of a file of ten rows and one column, `c`."""
    physical, _, annotation = stored.partition(" ")
    kind = _TYPES.index(physical)
    column = {1: kind, 3: 1, 4: b"c"}
    if annotation:
        column[6] = _CONVERTED[annotation]
    if annotation == "DECIMAL":
        column |= {7: 2, 8: 9}
    meta = {1: kind, 2: [0], 3: [b"c"], 4: 0, 5: Long(values), 6: Long(99), 7: Long(99), 9: Long(4)}
    if statistics:
        meta[12] = {_STATISTICS[name]: _bound(name, value, physical) for name, value in statistics.items()}
    group = {1: [{2: Long(4), 3: meta}], 2: Long(99), 3: Long(ROWS)}
    whole = {1: 1, 2: [{4: b"schema", 5: 1}, column], 3: Long(ROWS), 4: [group]}
    if writer is not None:
        whole[6] = writer.encode()
    if orders is not None:
        whole[7] = [{1 if orders == "usual" else 2: {}}]
    return _thrift(whole)[1]


def file(data):
    """The bytes of a file with this footer and no data."""
    return b"PAR1" + data + struct.pack("<I", len(data)) + b"PAR1"


def golden():
    """The lines of the file of cases."""
    for name, writer, orders, stored, kind, statistics, zone, *more in CASES:
        nulls, values = (*more, None, None)[:2]
        data = footer(writer, orders, stored, statistics, ROWS if values is None else values)
        words = zone if isinstance(zone, str) else [w.hex() if isinstance(w, bytes) else w for w in zone]
        yield {"name": name, "type": kind, "footer": data.hex(), "zone": words, "nulls": nulls}


def _bound(name, value, physical):
    if name == "null_count":
        return Long(value)
    return value if isinstance(value, bytes) else struct.pack(_FORMATS[physical], value)


def _thrift(value):
    """The type and the bytes of a value in the compact protocol: of numbers, bytes, lists and structs."""
    if isinstance(value, int):
        return (6 if isinstance(value, Long) else 5), _unsigned((value << 1) ^ (value >> 63))
    if isinstance(value, bytes):
        return 8, _unsigned(len(value)) + value
    if isinstance(value, list):
        items = [_thrift(v) for v in value]
        return 9, bytes([len(value) << 4 | items[0][0]]) + b"".join(data for _, data in items)
    body, last = b"", 0
    for field in sorted(value):
        kind, data = _thrift(value[field])
        body += bytes([(field - last) << 4 | kind]) + data
        last = field
    return 12, body + b"\0"


def _unsigned(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case) for case in golden())
    GOLDEN.write_text(f"[\n{lines}\n]\n")
