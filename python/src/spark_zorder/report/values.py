"""Places values of any type on a picture: as numbers in the same order, as ranks, and as short texts."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from .texts import fitted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy

    Extents = Sequence[tuple[Any, Any, float]]
    Read = Callable[[str], Any]


_EPOCH = datetime.date(1970, 1, 1)
_FRACTION = re.compile(r"\.\d+")
# as Spark writes them: a text of another form is a string, and shown as it is
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?(E[+-]?\d+)?|-?Infinity|NaN", re.ASCII)
_MOMENT = re.compile(r"([+-]\d{4,}|\d{4})-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", re.ASCII)
# the difference of greater numbers would not be a number
_MOST = 1e300
# holds the greatest double to the digits of the least one
_EXACT = decimal.Context(prec=1_000)
# a look-up need not have fewer digits
_DIGITS = 4


@dataclass(frozen=True)
class Kind:
    """The way to place and write values of one type.

    Numbers are for places only: values that differ may have the same number.
    """

    number: Callable[[Any], float]
    # the value nearest to a number
    value: Callable[[float], Any]
    # ways to write a value, the shortest first; the last one writes all of it
    forms: Sequence[Callable[[Any], str]]
    # a value that is shorter to write, if one lies between two bounds as the first one does
    plain: Callable[[Any, Any, Any], Any] = lambda value, low, high: value

    def text(self, value: Any) -> str:
        """The value in its shortest form."""
        return self.forms[0](value)

    def whole(self, value: Any) -> str:
        """The value with all that it has."""
        return self.forms[-1](value)

    def texts(self, values: Sequence[Any]) -> list[str]:
        """The values in the shortest form that tells all of them apart."""
        different = len(set(values))
        tries = ([form(v) for v in values] for form in self.forms)
        return next((t for t in tries if len(set(t)) == different), [self.whole(v) for v in values])


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind of these values, which all have one type."""
    known = [v for v in values if v is not None]
    if known and all(isinstance(v, bool) for v in known):
        return Kind(float, lambda n: round(n) > 0, [lambda v: str(v).lower()])
    if all(isinstance(v, (int, float, decimal.Decimal)) for v in known):
        return _numbers(known)
    if all(isinstance(v, datetime.datetime) for v in known):
        return _moments(known)
    if all(isinstance(v, datetime.date) for v in known):
        return Kind(_days, lambda n: _EPOCH + datetime.timedelta(days=round(n)), [str])
    return _ranked(known)


def _numbers(known: Sequence[Any]) -> Kind:
    """Numbers are placed by their distance from a middle one, since floats are exact only near zero."""
    finite = sorted(d for d in map(_decimal_of, known) if d.is_finite())
    base = finite[len(finite) // 2] if finite else decimal.Decimal(0)
    step = decimal.Decimal(1).scaleb(min((int(d.as_tuple().exponent) for d in finite), default=0))

    def number(value: Any) -> float:
        return _float(_EXACT.subtract(_decimal_of(value), base))

    def value(number: float) -> Any:
        return _EXACT.add(base, decimal.Decimal(number))

    if all(isinstance(v, int) for v in known):
        return Kind(number, lambda n: int(value(n).to_integral_value()), [_number_text])
    longer = [partial(_digits_text, more=more) for more in range(1, 14)]
    least = min(step, decimal.Decimal(1))
    return Kind(
        number,
        lambda n: _EXACT.quantize(value(n), least),
        [_number_text, *longer, _all_digits],
        _plain_number,
    )


def _moments(known: Sequence[datetime.datetime]) -> Kind:
    base = sorted(known)[len(known) // 2]
    least, most = datetime.datetime.min - base, datetime.datetime.max - base

    def value(seconds: float) -> datetime.datetime:
        # a number may be rounded to beyond the first or last moment
        return base + max(least, min(most, datetime.timedelta(seconds=seconds)))

    return Kind(lambda v: (v - base).total_seconds(), value, [_time_text, _seconds_text, str], _plain_moment)


def _ranked(known: Sequence[Any]) -> Kind:
    """Strings are placed by their rank, since the distance between two of them tells nothing."""
    order = sorted(set(known))
    return Kind(
        lambda v: float(bisect_left(order, v)),
        lambda n: order[max(0, min(len(order) - 1, round(n)))],
        [str],
    )


def reader(*lists: Sequence[str]) -> Read:
    """Finds the function that turns texts into values. Each list is in the order of its values.

    Spark wrote the texts, all of one unknown type. If 10 comes before 9, they are strings and not numbers.
    """
    for read in _READERS:
        try:
            if all(_in_order([read(text) for text in texts]) for texts in lists):
                return read
        except (ValueError, ArithmeticError):
            continue
    return str


def _in_order(values: Sequence[Any]) -> bool:
    return all(a <= b for a, b in zip(values, values[1:]))


def _same(read: Read) -> Read:
    """Reads only what is written as the value itself is: 00067 is a string."""

    def checked(text: str) -> Any:
        value = read(text)
        if str(value) != text:
            raise ValueError(text)
        return value

    return checked


def _decimal(text: str) -> decimal.Decimal | float:
    """Reads any number. NaN is above all others, as in Spark."""
    value = decimal.Decimal(_matched(_NUMBER, text))
    return value if value.is_finite() else -math.inf if value == -decimal.Decimal("Infinity") else math.inf


def _time(text: str) -> datetime.datetime:
    """Reads a timestamp. Python 3.9 and 3.10 take no fraction of a second but one of three or six digits.

    A year that Python does not have is read as the first or last moment: 9999-12-31 of another time zone.
    """
    found = _matched(_MOMENT, text)
    if found[0] in "+-":
        return datetime.datetime.max if found[0] == "+" else datetime.datetime.min
    return datetime.datetime.fromisoformat(_FRACTION.sub(lambda m: m[0][:7].ljust(7, "0"), found, count=1))


def _matched(form: re.Pattern[str], text: str) -> str:
    if not form.fullmatch(text):
        raise ValueError(text)
    return text


def _truth(text: str) -> bool:
    if text not in ("false", "true"):
        raise ValueError(text)
    return text == "true"


_READERS: tuple[Read, ...] = (
    _same(int),
    _decimal,
    _same(datetime.date.fromisoformat),
    _time,
    _truth,
)


def _decimal_of(value: Any) -> decimal.Decimal:
    return decimal.Decimal(repr(value) if isinstance(value, float) else value)


def _float(value: Any) -> float:
    return max(-_MOST, min(_MOST, float(value)))


def _number_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    number = float(value)
    # the greatest numbers have hundreds of digits
    return f"{number:,.0f}" if _has_groups(number) else f"{number:.{_DIGITS}g}"


def _digits_text(value: Any, more: int) -> str:
    number = _decimal_of(value)
    return f"{number:,.{more}f}" if _has_groups(number) else f"{number:.{_DIGITS + more}g}"


def _all_digits(value: Any) -> str:
    number = _decimal_of(value)
    plain = number.is_finite() and (not number or -7 <= number.adjusted() <= 38)
    return f"{number:,f}" if plain else str(number)


def _has_groups(number: Any) -> bool:
    return bool(1_000 <= abs(number) < 1e20)


def _plain_number(value: decimal.Decimal, low: Any, high: Any) -> decimal.Decimal:
    rounded = (decimal.Context(prec=digits).plus(value) for digits in range(_DIGITS, 40))
    return next((r for r in rounded if low < r < high), value)


def _time_text(value: datetime.datetime) -> str:
    return str(value.date()) if value.time() == datetime.time() else value.isoformat(" ", "minutes")


def _seconds_text(value: datetime.datetime) -> str:
    return value.isoformat(" ", "seconds")


def _plain_moment(value: datetime.datetime, low: Any, high: Any) -> datetime.datetime:
    second = value.replace(microsecond=0)
    minute = second.replace(second=0)
    return next((v for v in (minute.replace(hour=0, minute=0), minute, second) if low < v < high), value)


def _days(value: datetime.date) -> float:
    return float((value - _EPOCH).days)


# Values are placed by the share of rows below them, whatever their type and skew.

# four texts of so many characters fit beside one another
_SHORT = 10
# a time up to its minutes, and longer texts leave the picture no room
_WIDEST = 16
# the rows between two bounds are counted for so many, and taken as evenly spread between these
_POINTS = 2_000


def _evenly(items: Sequence[float], most: int) -> list[float]:
    """At most so many items, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    step = (len(items) - 1) / (most - 1)
    return [items[round(i * step)] for i in range(most)]


def _spread(
    points: numpy.ndarray, low: numpy.ndarray, high: numpy.ndarray, rows: numpy.ndarray
) -> numpy.ndarray:
    """The rows below each point: one pass over all blocks for each."""
    import numpy as np

    width = high - low
    return np.array([(np.clip(p - low, 0.0, width) / width * rows).sum() for p in points])


@dataclass(frozen=True)
class Scale:
    """The ranks of one column: 0 is below all rows and 1 above them.

    The rows of a block are assumed to lie evenly between its min and its max. A block of a single value takes
    the whole width of its rows.
    """

    kind: Kind
    # the bounds of all blocks as they were read, each once, ascending
    ends: Sequence[Any]
    # numbers of bounds, ascending, and the rows that blocks with several values have below each
    points: numpy.ndarray
    spread: numpy.ndarray
    # numbers of blocks with one value, ascending, and their rows below each and of all
    single: numpy.ndarray
    heaped: numpy.ndarray

    @classmethod
    def of(cls, extents: Extents, also: Iterable[Any] = ()) -> Scale:
        """Makes a scale from the min, max and rows of blocks. ``also`` are further values to be placed."""
        import numpy as np

        ends = sorted({v for low, high, _ in extents for v in (low, high)})
        kind = kind_of([*ends, *also])
        numbers = {v: kind.number(v) for v in ends}
        low = np.array([numbers[low] for low, _, _ in extents], dtype=float)
        high = np.array([numbers[high] for _, high, _ in extents], dtype=float)
        rows = np.array([max(rows, 0.0) for _, _, rows in extents], dtype=float)
        rows = rows if rows.sum() else np.ones(len(rows))
        points = np.array(_evenly(sorted(set(numbers.values())), _POINTS))
        one = low == high
        order = np.argsort(low[one])
        heaped = np.concatenate([[0.0], np.cumsum(rows[one][order])])
        return cls(
            kind, ends, points, _spread(points, low[~one], high[~one], rows[~one]), low[one][order], heaped
        )

    def below(self, value: Any) -> float:
        """The share of rows below a value."""
        return self.share(self.kind.number(value), own=0.0)

    def up_to(self, value: Any) -> float:
        """The share of rows up to a value."""
        return self.share(self.kind.number(value), own=1.0)

    def at(self, value: Any) -> float:
        """The share of rows below a value, with half of those in blocks with only this value."""
        return self.share(self.kind.number(value))

    def share(self, number: float, own: float = 0.5) -> float:
        """The share of rows below a number. Rows of blocks with only this value count by ``own``."""
        import numpy as np

        inside = np.interp(number, self.points, self.spread)
        first = self.heaped[np.searchsorted(self.single, number, "left")]
        last = self.heaped[np.searchsorted(self.single, number, "right")]
        total = self.spread[-1] + self.heaped[-1]
        return float((inside + first + own * (last - first)) / total)

    def value_at(self, share: float) -> Any:
        """A value that has this share of the rows below it: short to write, but between the same bounds."""
        value = self.kind.value(self.number_at(share))
        after = bisect_left(self.ends, value)
        if not 0 < after < len(self.ends) or self.ends[after] == value:
            return value
        return self.kind.plain(value, self.ends[after - 1], self.ends[after])

    def number_at(self, share: float) -> float:
        """The number that has this share of the rows below it."""
        after = self._first(share)
        end = self.kind.number(self.ends[after])
        if after == 0:
            return end
        start = self.kind.number(self.ends[after - 1])
        # the share grows evenly from one bound to the next one
        low, high = self.share(start, own=1.0), self.share(end, own=0.0)
        if share <= low:
            return start
        return end if share >= high else start + (end - start) * (share - low) / (high - low)

    def nearest(self, share: float) -> Any:
        """The bound of a block that is the nearest to a share of the rows."""
        after = self._first(share)
        around = self.ends[max(0, after - 1) : after + 1]
        return min(around, key=lambda value: abs(self.at(value) - share))

    def _first(self, share: float) -> int:
        """The place of the first bound with so many rows below it, or of the last one."""
        low, high = 0, len(self.ends) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.at(self.ends[middle]) < share else (low, middle)
        return low

    def ticks(self, most: int, along: bool) -> list[tuple[float, str]]:
        """Chooses bounds of blocks near even shares of the rows, as many as their texts fit.

        ``along`` says that the texts are beside one another.
        """
        found: list[tuple[float, Any]] = []
        for i in range(most):
            wanted = i / (most - 1)
            nearest = self.nearest(wanted)
            place = self.at(nearest)
            if abs(place - wanted) < 0.1 and all(place - at > 0.12 for at, _ in found):
                found.append((place, nearest))
        texts = fitted(self.kind.texts([value for _, value in found]), _WIDEST)
        if along and most > 2 and max(map(len, texts), default=0) > _SHORT:
            return self.ticks(2, along)
        return [(place, text) for (place, _), text in zip(found, texts)]
