"""Constants of a predicate as words of the column that they are compared with, by Spark's rules of types.

A constant that Spark would compare in another type, in which the order may differ, has no word:
the reason is raised as `Unanswered`, and such a comparison leaves nothing out.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ..files.sparktype import INTEGERS
from ..files.words import float_of, of_double, of_float
from ..problem import Unanswered
from . import time_zone

if TYPE_CHECKING:
    from ..files.sparktype import SparkType
    from ..files.zones import Word

_WHOLE = re.compile(r"[+-]?\d{1,18}$")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)$")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})$")
_TIME = re.compile(
    r"(\d{4}-\d{1,2}-\d{1,2})(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?)?"
    r"\s*(Z|UTC|[+-]\d{2}:\d{2})?$"
)
_EPOCH = datetime(1970, 1, 1)
# beyond this, a DOUBLE is not every whole number
_EXACT = 2**53
_MOST_DIGITS = 38
_NUMBERS = ("int", "decimal", "double")


class Constant(NamedTuple):
    """A constant of a predicate.

    ``kind`` is int, decimal, double, string, boolean, date, timestamp or null.
    """

    kind: str
    value: int | float | Decimal | str | bool


class Bound(NamedTuple):
    """The place of a constant among the words of a column.

    ``floor`` is the greatest word that is not above it, ``ceiling`` the least that is not below; they are
    equal where the constant itself is a word.
    """

    floor: Word
    ceiling: Word


def bound(constant: Constant, column: SparkType) -> Bound:
    """Raises Unanswered where the comparison says nothing of the column's words."""
    name, value = column.name, constant.value
    if constant.kind in _NUMBERS and name in (*INTEGERS, "decimal"):
        return _exact(constant, column)
    if constant.kind in _NUMBERS and name in ("float", "double"):
        return _rounded(constant, name)
    if constant.kind == "string":
        return _text(str(value), column)
    if constant.kind == "boolean" and name == "boolean":
        return _point(int(value))
    if constant.kind == "date" and name in ("date", "timestamp"):
        return _text(str(value), column)
    if constant.kind == "timestamp" and name == "timestamp":
        return _point(micros(str(value), local=True))
    raise Unanswered(f"type differs: the column is {column.sql}, the constant {constant.kind.upper()}")


def _point(word: Word) -> Bound:
    return Bound(word, word)


def _exact(constant: Constant, column: SparkType) -> Bound:
    """Among whole numbers and decimals."""
    value = constant.value
    if constant.kind == "double" and (column.name in ("bigint", "decimal") or abs(float(value)) >= _EXACT):
        raise Unanswered(f"type differs: Spark compares {column.sql} and this constant as DOUBLE")
    if constant.kind != "double" and not _fits(Decimal(value), column):
        raise Unanswered(f"type differs: {column.sql} and this constant have no common type without loss")
    exact = Fraction(value) * 10**column.scale
    floor = exact.numerator // exact.denominator
    return Bound(floor, floor if exact.denominator == 1 else floor + 1)


def _fits(constant: Decimal, column: SparkType) -> bool:
    """Whether one DECIMAL type holds the column's values and the constant."""
    digits, exponent = constant.as_tuple()[1:]
    scale = max(column.scale, -int(exponent), 0)
    own = column.precision - column.scale if column.name == "decimal" else 20
    return max(own, len(digits) + int(exponent)) + scale <= _MOST_DIGITS


def _rounded(constant: Constant, name: str) -> Bound:
    """Among floating-point numbers."""
    value = float(constant.value)
    if name == "double":
        return _point(of_double(value))
    word = of_float(value)
    near = float_of(word)
    # Spark makes a whole number a FLOAT, but compares with any other number as DOUBLE
    if constant.kind == "int" or near == value or math.isnan(value):
        return _point(word)
    return Bound(word, word + 1) if near < value else Bound(word - 1, word)


def _text(value: str, column: SparkType) -> Bound:
    """A string takes the type of the column."""
    name = column.name
    if name == "string":
        return _point(value.encode())
    stripped = value.strip()
    if name in INTEGERS and _WHOLE.match(stripped):
        return _point(int(stripped))
    if name == "double" and _NUMBER.match(stripped):
        return _point(of_double(float(stripped)))
    if name == "date":
        return _point(days(stripped))
    if name in ("timestamp", "timestamp_ntz"):
        return _point(micros(stripped, local=name == "timestamp"))
    raise Unanswered(f"type differs: the column is {column.sql}, the constant the text '{value}'")


def days(text: str) -> int:
    """A date as days since 1970-01-01."""
    found = _DATE.match(text)
    try:
        if found:
            return (date(int(found[1]), int(found[2]), int(found[3])) - _EPOCH.date()).days
    except ValueError:
        pass
    raise Unanswered(f"'{text}' is no date of the form 2026-01-31")


def micros(text: str, local: bool) -> int:
    """A timestamp as microseconds since 1970.

    Text without a zone is in that of the session. If not `local`, it has none.
    """
    found = _TIME.match(text)
    if not found or (found[6] and not local):
        raise Unanswered(f"'{text}' is no timestamp of the form 2026-01-31 12:00:00")
    fraction = (found[5] or "").ljust(6, "0")
    parts = [int(found[i] or 0) for i in (2, 3, 4)]
    try:
        time = _EPOCH + timedelta(days=days(found[1]))
        time = time.replace(hour=parts[0], minute=parts[1], second=parts[2], microsecond=int(fraction))
        if local:
            zone = _zone(found[6])
            time = (time_zone.placed(time) if zone is None else time.replace(tzinfo=zone)).astimezone(
                timezone.utc
            )
            time = time.replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        raise Unanswered(f"'{text}' is no timestamp") from None
    return (time - _EPOCH) // timedelta(microseconds=1)


def _zone(text: str | None) -> timezone | None:
    if text is None:
        return None
    if text in ("Z", "UTC"):
        return timezone.utc
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[4:6])))
