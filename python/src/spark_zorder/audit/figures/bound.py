"""The least that look-ups can read with so many blocks, whatever the layout (ADR 6), from boxes of blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .joint import measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.zones import Zone
    from .joint import Box
    from .scale import Scale


def masses(rows: Sequence[int], zones: Sequence[Zone], scale: Scale) -> dict[int, float]:
    """Per position the part of the rows in blocks of that one value, where there are such blocks."""
    all_rows = sum(rows)
    counts: dict[int, int] = {}
    for n, zone in zip(rows, zones):
        if zone and zone[0] == zone[1]:
            at = scale.span(zone)[0]
            counts[at] = counts.get(at, 0) + n
    return {at: n / all_rows for at, n in counts.items()} if all_rows else {}


def per_column(
    boxes: Sequence[Box], mass: Sequence[dict[int, float]], scales: Sequence[Scale]
) -> list[float]:
    """Share read of each column, 0.0 for a column of NULLs; their mean is the bound of all together."""
    points = [boxes[m.block] for m in measured(len(boxes))]
    columns = range(len(mass))
    valued = [c for c in columns if any(point[c] is not None for point in points)]
    sums = [0.0] * len(mass)
    whole = 0
    # a share of all rows is a larger share of those that have a value
    per_value = {c: len(points) / sum(1 for p in points if p[c] is not None) for c in valued}
    for point in points:
        sides = [(c, point[c]) for c in valued]
        known = [(c, side) for c, side in sides if side is not None]
        if len(known) < len(sides):
            continue
        whole += 1
        least = []
        for c, side in known:
            own = max(mass[c].get(scales[c].middle(side), 0.0), scales[c].least_mass)
            least.append(min(1.0, own * per_value[c]))
        for c, cover in zip(valued, _fill(least, 1.0 / max(1.0, len(boxes)))):
            sums[c] += cover
    return [s / whole if whole else 0.0 for s in sums]


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
