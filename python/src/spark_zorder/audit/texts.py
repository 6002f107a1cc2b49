"""Bounds as texts, as Spark writes them. The JVM has the same rules in ``ValueText``."""

from __future__ import annotations

import math
import re
from datetime import date, timedelta
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from .files.normalized import double_of, float_of, of_float

if TYPE_CHECKING:
    from .files.sparktype import SparkType

# Spark's longest DECIMAL; Python's own context rounds to 28 digits
_DIGITS = Context(prec=38)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND


def value_text(value: Any, kind: SparkType) -> str | None:
    """The text that a cast to STRING in UTC gives, or the hexadecimal digits of BINARY.

    It is None if a cast of the text back to the type would not give the value.
    """
    name = kind.name
    if name == "string":
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            return None
    if name == "binary":
        return bytes(value).hex().upper()
    if name == "boolean":
        return "true" if value else "false"
    if name in ("float", "double"):
        return _floating(value, name)
    if name == "decimal":
        fits = abs(value) < 10**kind.precision
        return f"{Decimal(value).scaleb(-kind.scale, _DIGITS):f}" if fits else None
    return _whole(value, name)


def _whole(value: int, name: str) -> str | None:
    """The text of a date, a time, an interval or an integer."""
    if name == "date":
        return _day(value)
    if name in ("timestamp", "timestamp_ntz"):
        days, micros = divmod(value, _DAY)
        return f"{_day(days)} {_clock(micros, 6)}"
    if name.startswith("time"):
        return _time(value, name)
    return _interval(value, name) if name.startswith("interval") else str(value)


def _day(days: int) -> str:
    """The date so many days after 1970-01-01. A year of more than four digits has a sign."""
    # Python has no year after 9999, and the calendar repeats after 400 years
    cycles, rest = divmod(days, 146_097)
    found = date(1970, 1, 1) + timedelta(days=rest)
    year = found.year + 400 * cycles
    sign = "-" if year < 0 else "+" if year > 9999 else ""
    return f"{sign}{abs(year):04d}-{found:%m-%d}"


def _clock(parts: int, digits: int) -> str:
    """The time of day after so many parts of a second, which are decimal parts of so many digits."""
    seconds, rest = divmod(parts, 10**digits)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{_fraction(rest, digits)}"


def _fraction(parts: int, digits: int) -> str:
    return f".{parts:0{digits}d}".rstrip("0") if parts else ""


_TIME = re.compile(r"time\((\d)\)")


def _time(nanos: int, name: str) -> str | None:
    """The text of a TIME. It is None if the value has more digits than the type."""
    sized = _TIME.fullmatch(name)
    digits = int(sized[1]) if sized else 9
    fits = 0 <= nanos < 1000 * _DAY and nanos % 10 ** (9 - digits) == 0
    return _clock(nanos, 9) if fits else None


# the units of intervals: their sizes in months or microseconds, what stands before them, their fewest digits
_UNITS = {
    "year": (12, "", 1),
    "month": (1, "-", 1),
    "day": (_DAY, "", 1),
    "hour": (3600 * _SECOND, " ", 2),
    "minute": (60 * _SECOND, ":", 2),
    "second": (_SECOND, ":", 2),
}
_INTERVAL = re.compile(rf"interval ({'|'.join(_UNITS)})(?: to ({'|'.join(_UNITS)}))?")


def _interval(value: int, name: str) -> str | None:
    """The text of an interval. It is None if the value has parts of the last unit of the type."""
    found = _INTERVAL.fullmatch(name)
    if found is None:
        return None
    first, last = found[1], found[2] or found[1]
    units = list(_UNITS)
    text, rest = "", abs(value)
    for unit in units[units.index(first) : units.index(last) + 1]:
        size, before, digits = _UNITS[unit]
        count, rest = divmod(rest, size)
        text += f"{before if text else ''}{count:0{digits}d}"
    if last == "second":
        # Spark reads '-00.5' as a positive SECOND
        known = first != "second" or not -_SECOND < value < 0
        text += _fraction(rest, 6)
    else:
        known = rest == 0
    sign = "-" if value < 0 else ""
    return f"INTERVAL '{sign}{text}' {name.removeprefix('interval ').upper()}" if known else None


def _floating(value: int, name: str) -> str:
    """The text of a number as Java writes it: 0.5, 1.0E7."""
    if name == "double":
        number, digits = double_of(value), repr(double_of(value))
    else:
        number = float_of(value)
        # the fewest digits that give the same number again
        texts = (f"{number:.{n}g}" for n in range(1, 10))
        digits = next(t for t in texts if of_float(float(t)) == value)
    if not math.isfinite(number):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(number), "NaN")
    exact = Decimal(digits)
    if number and not 1e-3 <= abs(number) < 1e7:
        power = exact.adjusted()
        return f"{_with_point(exact.scaleb(-power))}E{power}"
    return _with_point(exact)


def _with_point(number: Decimal) -> str:
    text = f"{number:f}"
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"
