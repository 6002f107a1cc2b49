"""The distinct bounds of a column, and the positions where its values may lie: at a bound, or between two."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from ..files.normalized import double_of, float_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..files.sparktype import SparkType
    from ..files.zones import Zone

# fractions and byte strings are placed on a scale of so many whole numbers
_BYTES = 6
_GRID = 2.0 ** (8 * _BYTES)
_HALF = 2**127


class Scale:
    """The bounds of one column, ``values``, ascending, with ``ranks``, their places.

    Position ``2 * i`` is the value of rank i, and ``2 * i + 1`` all values between it and the next one. Each
    has a width, how many values it stands for.
    """

    def __init__(self, zones: Iterable[Zone], kind: SparkType | None) -> None:
        """The bounds are those of the known zones; the column's type says how far apart they are."""
        bounds: set[Any] = set()
        for zone in zones:
            if zone:
                bounds.update(zone)
        self.values: list[Any] = sorted(bounds)
        self.ranks: dict[Any, int] = {value: i for i, value in enumerate(self.values)}
        self.positions = max(0, 2 * len(self.values) - 1)
        self._is_number = not _is_bytes(kind)
        self._places = self._placed(kind)
        self.widths: list[float] = []
        for i in range(len(self.values)):
            if i:
                self.widths.append(max(0.0, self._distance(i - 1, i) - 1.0))
            self.widths.append(1.0)
        self._until = [0.0, *accumulate(self.widths)]

    def width(self, zone: tuple[Any, ...]) -> float:
        """How many values a known zone may hold."""
        return max(1.0, self._distance(self.ranks[zone[0]], self.ranks[zone[1]]) + 1.0)

    def span(self, zone: tuple[Any, ...]) -> tuple[int, int]:
        """The first and the last position of a known zone."""
        return 2 * self.ranks[zone[0]], 2 * self.ranks[zone[1]]

    def box(self, zone: Zone) -> tuple[int, int] | None:
        """The positions of any zone: all if it is unknown, None if it holds only NULL."""
        if zone is None:
            return 0, max(0, self.positions - 1)
        return self.span(zone) if zone else None

    def middle(self, side: tuple[int, int]) -> int:
        """The position at which half of the width between two positions is reached."""
        low, high = side
        if low == high:
            return low
        begin = self._until[low]
        half = (self._until[high + 1] - begin) / 2
        first, last = low, high
        while first < last:
            p = (first + last) // 2
            if self._until[p + 1] - begin >= half:
                last = p
            else:
                first = p + 1
        return first

    @property
    def least_mass(self) -> float:
        """The least mass of a value, if all numbers between the outer bounds are equally frequent."""
        if not self._is_number or not self.values:
            return 0.0
        return 1.0 / (float(self.values[-1] - self.values[0]) + 1.0)

    def _placed(self, kind: SparkType | None) -> list[float] | None:
        """The place of each value on the grid. It is None for whole numbers, which need no grid."""
        if not self.values:
            return None
        if not self._is_number:
            return _places_of_bytes([_as_bytes(value) for value in self.values])
        real = _REALS.get(kind.name) if kind is not None else None
        if real is None:
            return None
        self._reals = [real(value) for value in self.values]
        self._range = self._reals[-1] - self._reals[0]
        return self._reals if 0.0 < self._range < float("inf") else None

    def _distance(self, low: int, high: int) -> float:
        if self._places is None:
            return float(self.values[high] - self.values[low])
        if self._is_number:
            return (self._places[high] - self._places[low]) / self._range * _GRID
        return self._places[high] - self._places[low]


_REALS: dict[str, Callable[[int], float]] = {"float": float_of, "double": double_of}


def _is_bytes(kind: SparkType | None) -> bool:
    """Whether values are byte strings. Decimals above 18 digits are, since the JVM treats them so."""
    if kind is None:
        return False
    return kind.name in ("string", "binary") or (kind.name == "decimal" and kind.precision > 18)


def _as_bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else (value + _HALF).to_bytes(16, "big")


def _places_of_bytes(values: list[bytes]) -> list[float]:
    """The bytes after the prefix that all values share, as numbers."""
    first, last = values[0], values[-1]
    most = min(len(first), len(last))
    shared = next((i for i in range(most) if first[i] != last[i]), most)
    return [float(int.from_bytes(v[shared : shared + _BYTES].ljust(_BYTES, b"\0"), "big")) for v in values]
