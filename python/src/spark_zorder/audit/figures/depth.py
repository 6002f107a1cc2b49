"""How many blocks lie one above the other in one column, exactly."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.zones import Zone
    from .scale import Scale

# of running maxima, so that a long stretch takes few steps
_STRIDE = 64


class Depth(NamedTuple):
    """Of one block: how many others it meets, how deep it lies, and for how many blocks it stands."""

    overlaps: int
    depth: int
    weight: int = 1


def of_column(zones: Sequence[Zone], scale: Scale) -> list[Depth]:
    """One element a block. Unknown meets everything but blocks of only NULL, which have depth 1."""
    spans = [scale.span(zone) for zone in zones if zone]
    unknown = sum(1 for zone in zones if zone is None)
    lows, highs = sorted(low for low, _ in spans), sorted(high for _, high in spans)
    tops = _Maxima(_covered(spans, scale.positions))
    highest = tops.of(0, scale.positions - 1) + unknown

    def depth(zone: Zone) -> Depth:
        if zone is None:
            return Depth(len(spans) + unknown - 1, highest)
        if not zone:
            return Depth(0, 1)
        low, high = scale.span(zone)
        others = bisect_right(lows, high) - bisect_left(highs, low) - 1
        return Depth(others + unknown, tops.of(low, high) + unknown)

    return [depth(zone) for zone in zones]


def _covered(spans: Sequence[tuple[int, int]], count: int) -> list[int]:
    """How many spans hold each position."""
    steps = [0] * (count + 1)
    for low, high in spans:
        steps[low] += 1
        steps[high + 1] -= 1
    return list(accumulate(steps))[:count]


class _Maxima:
    """The greatest number in any stretch of a list."""

    def __init__(self, numbers: list[int]) -> None:
        self._numbers = numbers
        self._blocks = [max(numbers[i : i + _STRIDE]) for i in range(0, len(numbers), _STRIDE)]

    def of(self, first: int, last: int) -> int:
        """Both ends included; 0 in an empty list."""
        begin, end = first // _STRIDE + 1, (last + 1) // _STRIDE
        if begin >= end:
            return max(self._numbers[first : last + 1], default=0)
        inside = max(self._blocks[begin:end])
        rest = self._numbers[first : begin * _STRIDE] + self._numbers[end * _STRIDE : last + 1]
        return max(inside, max(rest, default=0))
