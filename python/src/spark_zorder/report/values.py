"""Places values of any type on a picture: as numbers in the same order, as ranks, and as short texts."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy

    Extents = Sequence[tuple[Any, Any, float]]


_EPOCH = datetime.datetime(1970, 1, 1)
# so many bytes tell strings apart, after the prefix that all of them share
_BYTES = 8
_LONGEST = 14
_FRACTION = re.compile(r"\.\d+")
# the difference of greater numbers would not be a number
_MOST = 1e300


@dataclass(frozen=True)
class Kind:
    """The way to place and write values of one type."""

    number: Callable[[Any], float]
    text: Callable[[Any], str]
    # the value nearest to a number, if there is one that people would recognise
    value: Callable[[float], Any] | None = None


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind of these values, which all have one type."""
    known = [v for v in values if v is not None]
    if all(isinstance(v, (int, float, decimal.Decimal)) for v in known):
        whole = all(isinstance(v, int) for v in known)
        return Kind(_float, _number_text, round if whole else float)
    if all(isinstance(v, datetime.date) for v in known):
        if all(isinstance(v, datetime.datetime) for v in known):
            return Kind(_seconds, _time_text, _moment)
        return Kind(_days, str, lambda n: _EPOCH.date() + datetime.timedelta(days=round(n)))
    shared = _shared([_bytes(v) for v in known])
    return Kind(lambda v: _fraction(_bytes(v)[shared : shared + _BYTES]), lambda v: _ending(str(v), shared))


def _ending(text: str, shared: int) -> str:
    """The end of a long string, without the prefix that all of them share."""
    if len(text) <= _LONGEST or not shared:
        return short(text, _LONGEST)
    return short("…" + text.encode("utf-8", "replace")[shared:].decode("utf-8", "ignore"), _LONGEST)


def reader(*lists: Sequence[str]) -> Callable[[str], Any]:
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


def _decimal(text: str) -> decimal.Decimal | float:
    """Reads any number. NaN is above all others, as in Spark."""
    value = decimal.Decimal(text)
    return value if value.is_finite() else -math.inf if value == -decimal.Decimal("Infinity") else math.inf


def _float(value: Any) -> float:
    return max(-_MOST, min(_MOST, float(value)))


def _time(text: str) -> datetime.datetime:
    """Reads a timestamp. Python 3.9 and 3.10 take no fraction of a second but one of three or six digits."""
    return datetime.datetime.fromisoformat(_FRACTION.sub(lambda m: m[0][:7].ljust(7, "0"), text, count=1))


def _truth(text: str) -> bool:
    if text not in ("false", "true"):
        raise ValueError(text)
    return text == "true"


_READERS: tuple[Callable[[str], Any], ...] = (
    int,
    _decimal,
    datetime.date.fromisoformat,
    _time,
    _truth,
)


def short(text: str, most: int) -> str:
    """The text, or its beginning if it is too long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _number_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    number = float(value)
    # the greatest numbers have hundreds of digits
    return f"{number:,.0f}" if 1_000 <= abs(number) < 1e20 else f"{number:.4g}"


def _time_text(value: datetime.datetime) -> str:
    return f"{value:%Y-%m-%d}" if value.time() == datetime.time() else f"{value:%Y-%m-%d %H:%M}"


def _seconds(value: datetime.datetime) -> float:
    return (value.replace(tzinfo=None) - _EPOCH).total_seconds()


def _moment(seconds: float) -> datetime.datetime:
    # the number of the last moment is rounded up, and there is no year 10000
    return _EPOCH + min(datetime.timedelta(seconds=seconds), datetime.datetime.max - _EPOCH)


def _days(value: datetime.date) -> float:
    return float((value - _EPOCH.date()).days)


def _bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode("utf-8", "replace")


def _shared(texts: Sequence[bytes]) -> int:
    """The length of the prefix that all texts share, in bytes."""
    if not texts:
        return 0
    first, last = min(texts), max(texts)
    return next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))


def _fraction(text: bytes) -> float:
    return int.from_bytes(text.ljust(_BYTES, b"\0"), "big") / 256.0**_BYTES


# Values are placed by the share of rows below them, whatever their type and skew.

# four texts of so many characters fit beside one another
_SHORT = 10
# a time up to its minutes, and longer texts leave the picture no room
_WIDEST = 16


@dataclass(frozen=True)
class Scale:
    """The ranks of one column: 0 is below all rows and 1 above them.

    The rows of a block are assumed to lie evenly between its min and its max. A block of a single value takes
    the whole width of its rows.
    """

    kind: Kind
    low: numpy.ndarray
    high: numpy.ndarray
    rows: numpy.ndarray
    ends: tuple[Any, ...]

    @classmethod
    def of(cls, extents: Extents, also: Iterable[Any] = ()) -> Scale:
        """Makes a scale from the min, max and rows of blocks. ``also`` are further values to be placed."""
        import numpy as np

        ends = [v for low, high, _ in extents for v in (low, high)]
        kind = kind_of([*ends, *also])
        low = np.array([kind.number(low) for low, _, _ in extents], dtype=float)
        high = np.array([kind.number(high) for _, high, _ in extents], dtype=float)
        rows = np.array([max(rows, 0.0) for _, _, rows in extents], dtype=float)
        return cls(kind, low, high, rows if rows.sum() else np.ones(len(rows)), tuple(set(ends)))

    def below(self, value: Any) -> float:
        """The share of rows below a value."""
        return self.share(self.kind.number(value), own=0.0)

    def up_to(self, value: Any) -> float:
        """The share of rows up to a value."""
        return self.share(self.kind.number(value), own=1.0)

    def share(self, number: float, own: float = 0.5) -> float:
        """The share of rows below a number. Rows of blocks with only this value count by ``own``."""
        import numpy as np

        width = self.high - self.low
        wide = width > 0
        part = np.where(number > self.high, 1.0, 0.0)
        part[wide] = np.clip((number - self.low[wide]) / width[wide], 0.0, 1.0)
        part[~wide & (self.low == number)] = own
        return float((part * self.rows).sum() / self.rows.sum())

    def number_at(self, share: float) -> float:
        """The number that has this share of the rows below it."""
        low, high = float(self.low.min()), float(self.high.max())
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.share(middle) < share else (low, middle)
        return high

    def ticks(self, most: int, along: bool) -> list[tuple[float, str]]:
        """Chooses bounds of blocks near even shares of the rows, as many as their texts fit.

        ``along`` says that the texts are beside one another.
        """
        places = [(self.share(self.kind.number(v)), short(self.kind.text(v), _WIDEST)) for v in self.ends]
        if along and max(len(text) for _, text in places) > _SHORT:
            most = 2
        found: list[tuple[float, str]] = []
        for i in range(most):
            wanted = i / (most - 1)
            nearest = min(places, key=lambda place: abs(place[0] - wanted))
            if abs(nearest[0] - wanted) < 0.1 and all(nearest[0] - at > 0.12 for at, _ in found):
                found.append(nearest)
        return found
