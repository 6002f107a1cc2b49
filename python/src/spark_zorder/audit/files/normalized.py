"""Bounds of Parquet files, normalized to Spark's order of the type (docs/spec.md, sections 1 and 7).

Bounds that are in doubt are unknown. The JVM has the same rules in ``ParquetZones``; a test compares the two.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Callable

from .sparktype import INTEGERS
from .zones import UNKNOWN, Normalized, Zone, between

if TYPE_CHECKING:
    from .footers import Origin
    from .sparktype import Leaf, SparkType

    # from a bound as pyarrow gives it to its normalized value, or to None if it has none
    _Normalize = Callable[[Any], "Normalized | None"]
    Decoder = Callable[[Any, Any], Zone]

# earlier values may be in an old calendar: 1582-10-15 in days, and 1900-01-01 in microseconds
FIRST_SURE_DAY = -141427
FIRST_SURE_MICROS = -2208988800000000
_BITS = {"tinyint": 8, "smallint": 16}
_BYTEWISE = frozenset({"None", "Undefined", "String", "Enum", "JSON", "BSON"})
_LONG = 2**63


def decoder(leaf: Leaf, kind: SparkType, origin: Origin) -> Decoder | None:
    """Finds how to read the bounds of a file's column as the table's type. None if the bounds say nothing.

    Writers other than parquet-mr leave NaN out of the bounds, so a file may have a NaN above its upper bound.
    The audit believes the bound nevertheless.
    """
    name, physical, annotation = kind.name, leaf.physical, leaf.annotation
    if name in INTEGERS:
        return _integers(leaf, name)
    if name == "boolean" and physical == "BOOLEAN":
        return _plain(int)
    if name == "date" and physical == "INT32" and annotation == "Date":
        return _calendar(int, FIRST_SURE_DAY, origin)
    if name in ("timestamp", "timestamp_ntz"):
        return _timestamps(leaf, name, origin)
    if name == "decimal":
        same = annotation == "Decimal" and int(leaf.logical["scale"]) == kind.scale
        return _plain(_unscaled) if same and int(leaf.logical["precision"]) <= kind.precision else None
    if name in ("float", "double"):
        return _floats(leaf, name)
    if name == "string" and physical == "BYTE_ARRAY" and annotation in _BYTEWISE:
        return _plain(bytes)
    if name == "binary" and physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") and annotation in _BYTEWISE:
        return _plain(bytes)
    return _others(leaf, name)


def of_double(value: float) -> int:
    """A whole number in Spark's order of DOUBLE: -0.0 is equal to 0.0, and NaN is the greatest."""
    if math.isnan(value):
        return 0x7FF8000000000000
    bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
    return bits ^ ((bits >> 63) & (_LONG - 1))


def of_float(value: float) -> int:
    """A whole number in Spark's order of FLOAT."""
    if math.isnan(value):
        return 0x7FC00000
    try:
        packed = struct.pack("<f", value + 0.0)
    except OverflowError:
        packed = struct.pack("<f", math.copysign(math.inf, value))
    bits: int = struct.unpack("<i", packed)[0]
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def float_of(value: int) -> float:
    """The FLOAT of a number that `of_float` made."""
    number: float = struct.unpack("<f", struct.pack("<i", value ^ ((value >> 31) & 0x7FFFFFFF)))[0]
    return number


def double_of(value: int) -> float:
    """The DOUBLE of a number that `of_double` made."""
    number: float = struct.unpack("<d", struct.pack("<q", value ^ ((value >> 63) & (_LONG - 1))))[0]
    return number


def _plain(normalize: _Normalize) -> Decoder:
    return lambda low, high: between(normalize(low), normalize(high))


def _integers(leaf: Leaf, name: str) -> Decoder | None:
    if not leaf.signed or leaf.physical not in ("INT32", "INT64"):
        return None
    if leaf.physical == "INT64":
        return _plain(int) if name == "bigint" else None
    bits = _BITS.get(name)
    if bits is None:
        return _plain(int)
    # values wrap around if the table's type is narrower; if both bounds fit, no value wraps
    end = 1 << (bits - 1)
    return _plain(lambda v: v if -end <= v < end else None)


def _calendar(normalize: _Normalize, first_sure: int, origin: Origin) -> Decoder:
    if origin.proleptic:
        return _plain(normalize)

    def zone(low: Any, high: Any) -> Zone:
        found = between(normalize(low), normalize(high))
        return UNKNOWN if found and found[0] < first_sure else found

    return zone


def _timestamps(leaf: Leaf, name: str, origin: Origin) -> Decoder | None:
    if leaf.physical != "INT64" or leaf.annotation != "Timestamp":
        return None
    factor = {"microseconds": 1, "milliseconds": 1000}.get(leaf.logical["timeUnit"])
    if factor is None or leaf.logical["isAdjustedToUTC"] != (name == "timestamp"):
        return None
    normalize = _times(factor)
    return _calendar(normalize, FIRST_SURE_MICROS, origin) if name == "timestamp" else _plain(normalize)


def _times(factor: int) -> _Normalize:
    """Multiplies by `factor`, if the product safely fits into 64 bits."""
    if factor == 1:
        return int
    end = (_LONG - 1) // factor
    return lambda v: v * factor if -end < v < end else None


def _unscaled(value: Any) -> Normalized | None:
    """The whole number as which a decimal is stored."""
    if isinstance(value, int):
        return value
    number = int.from_bytes(value, "big", signed=True)
    return number if value and -(2**127) <= number < 2**127 else None


def _floats(leaf: Leaf, name: str) -> Decoder | None:
    wanted = ("FLOAT",) if name == "float" else ("FLOAT", "DOUBLE")
    if leaf.physical not in wanted or leaf.annotation not in ("None", "Undefined"):
        return None
    normalize = of_float if name == "float" else of_double
    return _plain(lambda value: None if math.isnan(value) else normalize(value))


def _others(leaf: Leaf, name: str) -> Decoder | None:
    """Reads intervals and times of day. Spark counts times of day in nanoseconds."""
    if leaf.annotation in ("None", "Undefined") and name.startswith("interval"):
        stored = "INT32" if name.endswith(("year", "month")) else "INT64"
        return _plain(int) if leaf.physical == stored else None
    if leaf.physical == "INT64" and leaf.annotation == "Time" and name.startswith("time"):
        factor = {"microseconds": 1000, "nanoseconds": 1}.get(leaf.logical["timeUnit"])
        return None if factor is None else _plain(_times(factor))
    return None
