"""All numbers of one level of one partition: of its blocks column by column, and together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import bound, depth, joint, shares
from .numbers import Numbers, Reads, depths_of
from .scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.sparktype import SparkType
    from ..files.zones import Block, Zone
    from .depth import Depth

# a range of this part of the values is the least that a range share is of
_RANGE_PART = 0.01


@dataclass(frozen=True)
class Level:
    """What is found of one level.

    ``reach`` is, for each block, the mean over the columns of the part of the values for which it is read.
    ``largest_masses`` and ``distinct`` are, per column, the greatest part of the rows in blocks of one value,
    and the number of distinct bounds.
    """

    joint: Numbers
    columns: tuple[Numbers, ...]
    reach: tuple[float, ...]
    largest_masses: tuple[float, ...]
    distinct: tuple[int, ...]


def of(blocks: Sequence[Block], kinds: Sequence[SparkType | None]) -> Level:
    """``kinds`` are the types of the columns, of which there is one at least."""
    rows = [block.rows for block in blocks]
    zones = [[block.zones[c] for block in blocks] for c in range(len(kinds))]
    scales = [Scale(z, kind) for z, kind in zip(zones, kinds)]
    sides = [[p.box(zone) for zone in z] for p, z in zip(scales, zones)]
    boxes = list(zip(*sides))
    mass = [bound.masses(rows, z, p) for z, p in zip(zones, scales)]
    bounds = bound.per_column(boxes, mass, scales)
    measured = [depth.of_column(z, p) for z, p in zip(zones, scales)]
    read = [shares.of_column(rows, z, p) for z, p in zip(zones, scales)]
    columns = tuple(
        Numbers(
            depths_of(m, sum(map(_constant, z)), 0.0),
            Reads(sum(rows), r.look_up, r.range, b, max(b, _RANGE_PART) if b else 0.0),
        )
        for m, z, r, b in zip(measured, zones, read, bounds)
    )
    own = measured[0] if len(columns) == 1 else joint.of_boxes(boxes, scales)
    constant = sum(1 for block in blocks if all(map(_constant, block.zones)))
    return Level(
        Numbers(depths_of(own, constant, _error(own, len(blocks))), _mean([c.reads for c in columns])),
        columns,
        tuple(sum(r) / len(columns) for r in zip(*(r.reach for r in read))),
        tuple(max(m.values(), default=0.0) for m in mass),
        tuple(len(p.values) for p in scales),
    )


def _constant(zone: Zone) -> bool:
    return zone is not None and (not zone or zone[0] == zone[1])


def _mean(reads: Sequence[Reads]) -> Reads:
    n = len(reads)
    return Reads(
        reads[0].rows,
        sum(r.look_up for r in reads) / n,
        sum(r.range for r in reads) / n,
        sum(r.look_up_bound for r in reads) / n,
        sum(r.range_bound for r in reads) / n,
    )


def _error(measured: Sequence[Depth], blocks: int) -> float:
    """The standard error of the mean depth, where some blocks stand for all."""
    k = len(measured)
    if k == blocks:
        return 0.0
    mean = sum(d.depth for d in measured) / k
    squares = sum((d.depth - mean) ** 2 for d in measured)
    return math.sqrt(squares / (k - 1) / k * (1 - k / blocks))
