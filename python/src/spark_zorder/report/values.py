"""Values of a column as numbers in the same order, and as short texts."""

from __future__ import annotations

import datetime
import decimal
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPOCH = datetime.datetime(1970, 1, 1)
# bytes that tell strings apart, behind those that all of them share
_BYTES = 8
_LONGEST = 14
# numbers beyond it would have no difference that is a number
_MOST = 1e300


@dataclass(frozen=True)
class Kind:
    """How values of one type are placed and written."""

    number: Callable[[Any], float]
    text: Callable[[Any], str]
    # the value nearest to a number, where there is one that people would know
    value: Callable[[float], Any] | None = None


def kind_of(values: Sequence[Any]) -> Kind:
    """The kind of values that are all of one type."""
    known = [v for v in values if v is not None]
    if all(isinstance(v, (int, float, decimal.Decimal)) for v in known):
        whole = all(isinstance(v, int) for v in known)
        return Kind(_float, _number_text, round if whole else float)
    if all(isinstance(v, datetime.date) for v in known):
        if all(isinstance(v, datetime.datetime) for v in known):
            return Kind(_seconds, _time_text, lambda n: _EPOCH + datetime.timedelta(seconds=n))
        return Kind(_days, str, lambda n: _EPOCH.date() + datetime.timedelta(days=round(n)))
    shared = _shared([_bytes(v) for v in known])
    return Kind(lambda v: _fraction(_bytes(v)[shared : shared + _BYTES]), lambda v: _ending(str(v), shared))


def _ending(text: str, shared: int) -> str:
    """A string, if it is long without what all of them begin with."""
    if len(text) <= _LONGEST or not shared:
        return short(text, _LONGEST)
    return short("…" + text.encode("utf-8", "replace")[shared:].decode("utf-8", "ignore"), _LONGEST)


def reader(texts: Sequence[str]) -> Callable[[str], Any]:
    """What makes values of texts that come in the order of their values.

    The texts are those of Spark, of one type that they do not tell: 10 before 9 are no numbers, but strings.
    """
    for read in _READERS:
        try:
            values = [read(text) for text in texts]
            if all(a <= b for a, b in zip(values, values[1:])):
                return read
        except (ValueError, ArithmeticError):
            continue
    return str


def _decimal(text: str) -> decimal.Decimal | float:
    """Any number; NaN is above all others, as Spark has it."""
    value = decimal.Decimal(text)
    return value if value.is_finite() else -math.inf if value == -decimal.Decimal("Infinity") else math.inf


def _float(value: Any) -> float:
    return max(-_MOST, min(_MOST, float(value)))


def _truth(text: str) -> bool:
    if text not in ("false", "true"):
        raise ValueError(text)
    return text == "true"


_READERS: tuple[Callable[[str], Any], ...] = (
    int,
    _decimal,
    datetime.date.fromisoformat,
    datetime.datetime.fromisoformat,
    _truth,
)


def short(text: str, most: int) -> str:
    """The beginning of a text that is too long."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _number_text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    number = float(value)
    return f"{number:,.0f}" if abs(number) >= 1_000 else f"{number:.4g}"


def _time_text(value: datetime.datetime) -> str:
    return f"{value:%Y-%m-%d}" if value.time() == datetime.time() else f"{value:%Y-%m-%d %H:%M}"


def _seconds(value: datetime.datetime) -> float:
    return (value.replace(tzinfo=None) - _EPOCH).total_seconds()


def _days(value: datetime.date) -> float:
    return float((value - _EPOCH.date()).days)


def _bytes(value: Any) -> bytes:
    return bytes(value) if isinstance(value, (bytes, bytearray)) else str(value).encode("utf-8", "replace")


def _shared(texts: Sequence[bytes]) -> int:
    """How many bytes all texts have in common."""
    if not texts:
        return 0
    first, last = min(texts), max(texts)
    return next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), min(len(first), len(last)))


def _fraction(text: bytes) -> float:
    return int.from_bytes(text.ljust(_BYTES, b"\0"), "big") / 256.0**_BYTES
