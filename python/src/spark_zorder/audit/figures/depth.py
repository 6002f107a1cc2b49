"""How many blocks lie one above the other: in one column exactly, and in all columns together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..files.zones import Zone
    from .scale import Scale


# maxima are kept for stretches of this length, so that a long stretch takes few steps
_STRIDE = 64


class Depth(NamedTuple):
    """How many other blocks one block meets, how deep it lies, and for how many blocks it stands."""

    overlaps: int
    depth: int
    weight: int = 1


def of_column(zones: Sequence[Zone], scale: Scale) -> list[Depth]:
    """One element for each block. An unknown block meets all but those of only NULL, which have depth 1."""
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
        """The maximum from `first` to `last`, both included. It is 0 for an empty list."""
        begin, end = first // _STRIDE + 1, (last + 1) // _STRIDE
        if begin >= end:
            return max(self._numbers[first : last + 1], default=0)
        inside = max(self._blocks[begin:end])
        rest = self._numbers[first : begin * _STRIDE] + self._numbers[end * _STRIDE : last + 1]
        return max(inside, max(rest, default=0))


# How many blocks lie one above the other in all columns together, at the middles of some of them.

# at most so many blocks are measured
_MOST = 1000

# for each column the first and the last position, or None if the block holds only NULL in it
Box = tuple["tuple[int, int] | None", ...]


class _Measured(NamedTuple):
    """One of the blocks that stand for all: its number, and for how many it stands."""

    block: int
    weight: int


def measured(blocks: int) -> list[_Measured]:
    """Chooses at most 1,000 of so many blocks, evenly."""
    k = min(blocks, _MOST)
    return [_Measured(i * blocks // k, (i + 1) * blocks // k - i * blocks // k) for i in range(k)]


def of_boxes(boxes: Sequence[Box], scales: Sequence[Scale]) -> list[Depth]:
    """Depth and overlaps of the measured blocks; an empty box meets nothing and has depth 1."""
    chosen = measured(len(boxes))
    whole = [(m, _whole(boxes[m.block])) for m in chosen]
    asked = [box for _, box in whole if box is not None]
    everything = (1 << len(boxes)) - 1
    there = _mask((b for b, sides in enumerate(boxes) if None not in sides), len(boxes))
    at_point = [there] * len(asked)
    meets = [there] * len(asked)
    for c in range(len(boxes[0]) if boxes else 0):
        known = [(b, side) for b, side in enumerate(sides[c] for sides in boxes) if side is not None]
        lows = _AtMost([(side[0], b) for b, side in known], len(boxes))
        highs = _AtMost([(side[1], b) for b, side in known], len(boxes))
        points = [scales[c].middle(box[c]) for box in asked]
        low_until = lows.masks({*points, *(box[c][1] for box in asked)})
        high_below = highs.masks({p - 1 for p in (*points, *(box[c][0] for box in asked))})
        for i, (box, at) in enumerate(zip(asked, points)):
            low, high = box[c]
            at_point[i] &= low_until[at] & (everything ^ high_below[at - 1])
            meets[i] &= low_until[high] & (everything ^ high_below[low - 1])
    found = iter(zip(at_point, meets))
    depths = []
    for m, sides in whole:
        if sides is None:
            depths.append(Depth(0, 1, m.weight))
        else:
            point, others = next(found)
            depths.append(Depth(_ones(others) - 1, _ones(point), m.weight))
    return depths


def _whole(box: Box) -> tuple[tuple[int, int], ...] | None:
    sides = tuple(side for side in box if side is not None)
    return sides if len(sides) == len(box) else None


class _AtMost:
    """Tells which blocks have an end at or below a position, as bits."""

    def __init__(self, ends: list[tuple[int, int]], blocks: int) -> None:
        self._ends = sorted(ends)
        self._blocks = blocks

    def masks(self, wanted: set[int]) -> dict[int, int]:
        """A mask for each of these positions."""
        bits = bytearray(self._blocks // 8 + 1)
        found: dict[int, int] = {}
        at = 0
        for number in sorted(wanted):
            while at < len(self._ends) and self._ends[at][0] <= number:
                block = self._ends[at][1]
                bits[block >> 3] |= 1 << (block & 7)
                at += 1
            found[number] = int.from_bytes(bits, "little")
        return found


def _mask(blocks: Iterable[int], count: int) -> int:
    bits = bytearray(count // 8 + 1)
    for block in blocks:
        bits[block >> 3] |= 1 << (block & 7)
    return int.from_bytes(bits, "little")


def _ones(mask: int) -> int:
    return bin(mask).count("1")
