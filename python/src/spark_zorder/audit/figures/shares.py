"""Which part of the rows look-ups and ranges read, and the least that they could read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from .depth import measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.zones import Zone
    from .depth import Box
    from .scale import Scale


# so many ranges are asked for; each holds one hundredth of the values
_RANGES = 100
_SLACK = 1e-9


class Shares(NamedTuple):
    """The shares of the rows, not rounded, and for each block the part of the values for which it is read."""

    look_up: float
    range: float
    reach: list[float]


def of_column(rows: Sequence[int], zones: Sequence[Zone], scale: Scale) -> Shares:
    """The shares of one column, 0.0 without rows. ``rows`` and ``zones`` are those of the blocks."""
    all_rows = sum(rows)
    spans = [(n, *scale.span(zone)) for n, zone in zip(rows, zones) if zone]
    densities = _Densities(scale.positions)
    for n, zone in zip(rows, zones):
        if zone:
            densities.add(*scale.span(zone), n / scale.width(zone))
    until = list(accumulate(w * d for w, d in zip(scale.widths, densities.all())))
    total = until[-1] if until else 0.0
    unknown = sum(n for n, zone in zip(rows, zones) if zone is None)

    def reach(zone: Zone) -> float:
        if zone is None:
            return 1.0
        if not zone or total == 0.0:
            return 0.0
        low, high = scale.span(zone)
        return (until[high] - (until[low - 1] if low else 0.0)) / total

    reaches = [reach(zone) for zone in zones]
    if all_rows == 0:
        return Shares(0.0, 0.0, reaches)
    if total == 0.0:
        return Shares(unknown / all_rows, unknown / all_rows, reaches)
    look_up = sum(n * r for n, r in zip(rows, reaches)) / all_rows
    read = sum(_met(spans, until, total)) + _RANGES * unknown
    return Shares(look_up, read / _RANGES / all_rows, reaches)


class _Densities:
    """Adds amounts to stretches of places, and never subtracts.

    A block of one value weighs 10^12 times as much for each value as a block of many values. If it were
    subtracted again, only noise would be left. This is a tree of stretches, so that each takes O(log n).
    """

    def __init__(self, places: int) -> None:
        """All sums are 0."""
        self._places = places
        self._leaves = 1 << max(1, places - 1).bit_length()
        self._sums = [0.0] * (2 * self._leaves)

    def add(self, first: int, last: int, amount: float) -> None:
        """Adds the amount from `first` to `last`, both included."""
        low, high, sums = first + self._leaves, last + self._leaves + 1, self._sums
        while low < high:
            if low & 1:
                sums[low] += amount
                low += 1
            if high & 1:
                high -= 1
                sums[high] += amount
            low >>= 1
            high >>= 1

    def all(self) -> list[float]:
        """The sum at each place."""
        found = list(self._sums)
        for i in range(2, len(found)):
            found[i] += found[i >> 1]
        return found[self._leaves : self._leaves + self._places]


def _met(spans: Sequence[tuple[int, int, int]], until: Sequence[float], total: float) -> list[int]:
    """For each hundredth of the values, the rows of the known blocks that it meets."""
    by_low = sorted((low, rows) for rows, low, _ in spans)
    by_high = sorted((high, rows) for rows, _, high in spans)
    lows, highs = [low for low, _ in by_low], [high for high, _ in by_high]
    rows_low = [0, *accumulate(rows for _, rows in by_low)]
    rows_high = [0, *accumulate(rows for _, rows in by_high)]
    found = []
    for i in range(_RANGES):
        first = bisect_right(until, i / _RANGES * total + _SLACK * total)
        last = bisect_left(until, (i + 1) / _RANGES * total - _SLACK * total)
        last = min(last, len(until) - 1)
        found.append(rows_low[bisect_right(lows, last)] - rows_high[bisect_left(highs, first)])
    return found


# The least that look-ups can read with so many blocks, whatever the layout (ADR 6), from boxes of blocks.


def masses(rows: Sequence[int], zones: Sequence[Zone], scale: Scale) -> dict[int, float]:
    """For each position with blocks of that one value, the part of the rows in these blocks."""
    all_rows = sum(rows)
    counts: dict[int, int] = {}
    for n, zone in zip(rows, zones):
        if zone and zone[0] == zone[1]:
            at = scale.span(zone)[0]
            counts[at] = counts.get(at, 0) + n
    return {at: n / all_rows for at, n in counts.items()} if all_rows else {}


def bounds(
    boxes: Sequence[Box], mass: Sequence[dict[int, float]], scales: Sequence[Scale], count: int
) -> list[float]:
    """The least share of each column if there were ``count`` blocks, 0.0 for a column of NULLs.

    Points with a NULL are left out. If all have one, each counts for the columns that it has. The mean of
    the shares is the joint bound.
    """
    points = [boxes[m.block] for m in measured(len(boxes))]
    columns = range(len(mass))
    valued = [c for c in columns if any(point[c] is not None for point in points)]
    sums = [0.0] * len(mass)
    counts = [0] * len(mass)
    # a share of all rows is a larger share of the rows that have a value
    per_value = {c: len(points) / sum(1 for p in points if p[c] is not None) for c in valued}
    whole = [point for point in points if all(point[c] is not None for c in valued)]
    for point in whole or points:
        sides = [(c, point[c]) for c in valued]
        known = [(c, side) for c, side in sides if side is not None]
        least = []
        for c, side in known:
            own = max(mass[c].get(scales[c].middle(side), 0.0), scales[c].least_mass)
            least.append(min(1.0, own * per_value[c]))
        for (c, _), cover in zip(known, _fill(least, 1.0 / max(1.0, count))):
            sums[c] += cover
            counts[c] += 1
    return [s / n if n else 0.0 for s, n in zip(sums, counts)]


def _fill(least: Sequence[float], volume: float) -> list[float]:
    """The cheapest cover: equal sides whose product is `volume`, but none below its least."""
    fixed = [False] * len(least)
    while True:
        left, free = volume, 0
        for own, done in zip(least, fixed):
            if done:
                left /= own
            else:
                free += 1
        side = min(1.0, left) ** (1.0 / free) if free else 1.0
        short = [i for i, own in enumerate(least) if not fixed[i] and side < own]
        if not short:
            return [own if done else side for own, done in zip(least, fixed)]
        for i in short:
            fixed[i] = True
