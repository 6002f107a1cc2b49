"""All numbers of one level of one partition: for each column, and for all columns together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import depth, shares
from .scale import Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..files.sparktype import SparkType
    from ..files.zones import Block, Zone
    from .depth import Depth


# a range share is about ranges that hold this part of the values
_RANGE_PART = 0.01


@dataclass(frozen=True)
class Level:
    """The numbers of one level.

    ``reach`` has a number for each block: the part of the values for which it is read, as the mean over the
    columns. ``largest_masses`` has for each column the greatest mass of a value.
    ``distinct`` has for each column the number of distinct bounds. ``bound_of`` gives the joint bound of
    look-ups if there were so many blocks.
    """

    joint: Numbers
    columns: tuple[Numbers, ...]
    reach: tuple[float, ...]
    largest_masses: tuple[float, ...]
    distinct: tuple[int, ...]
    bound_of: Callable[[int], float]


def of(blocks: Sequence[Block], kinds: Sequence[SparkType | None]) -> Level:
    """Measures the blocks. ``kinds`` are the types of the columns; there is at least one."""
    rows = [block.rows for block in blocks]
    zones = [[block.zones[c] for block in blocks] for c in range(len(kinds))]
    scales = [Scale(z, kind) for z, kind in zip(zones, kinds)]
    sides = [[p.box(zone) for zone in z] for p, z in zip(scales, zones)]
    boxes = list(zip(*sides))
    mass = [shares.masses(rows, z, p) for z, p in zip(zones, scales)]
    bounds = shares.bounds(boxes, mass, scales, len(boxes))
    measured = [depth.of_column(z, p) for z, p in zip(zones, scales)]
    read = [shares.of_column(rows, z, p) for z, p in zip(zones, scales)]
    columns = tuple(
        Numbers(
            _depths_of(m, sum(map(_constant, z)), 0.0),
            Reads(sum(rows), r.look_up, r.range, b, max(b, _RANGE_PART) if b else 0.0),
        )
        for m, z, r, b in zip(measured, zones, read, bounds)
    )
    own = measured[0] if len(columns) == 1 else depth.of_boxes(boxes, scales)
    constant = sum(1 for block in blocks if all(map(_constant, block.zones)))
    return Level(
        Numbers(_depths_of(own, constant, _error(own, len(blocks))), _mean([c.reads for c in columns])),
        columns,
        tuple(sum(r) / len(columns) for r in zip(*(r.reach for r in read))),
        tuple(max([*m.values(), p.least_mass]) for m, p in zip(mass, scales)),
        tuple(len(p.values) for p in scales),
        lambda count: sum(shares.bounds(boxes, mass, scales, count)) / len(columns),
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
    """The standard error of the mean depth, if some blocks stand for all."""
    k = len(measured)
    if k == blocks:
        return 0.0
    mean = sum(d.depth for d in measured) / k
    squares = sum((d.depth - mean) ** 2 for d in measured)
    return math.sqrt(squares / (k - 1) / k * (1 - k / blocks))


# The numbers of one level, jointly or of one column, and those of several partitions put together.

# up to this depth, each depth has its own bucket
_SINGLE = 16


def rounded(x: float) -> float:
    """Rounds to nine decimals, so that the order of additions does not matter."""
    return math.floor(x * 1e9 + 0.5) / 1e9


@dataclass(frozen=True)
class Depths:
    """How many blocks lie over one another.

    ``constant`` is the number of blocks with one value or none. ``overlaps`` is a sum over the blocks.
    ``counts`` has the number of blocks of each depth. ``error`` is the standard error of the average depth.
    """

    constant: int
    overlaps: int
    counts: dict[int, int]
    error: float

    @property
    def blocks(self) -> int:
        """The number of blocks."""
        return sum(self.counts.values())

    def average_overlaps(self) -> float | None:
        """The mean number of overlaps. It is None without blocks, as all these figures are."""
        return rounded(self.overlaps / self.blocks) if self.counts else None

    def average(self) -> float | None:
        """The mean depth."""
        return rounded(sum(d * n for d, n in self.counts.items()) / self.blocks) if self.counts else None

    def p95(self) -> int | None:
        """The depth that at least 95 of 100 blocks do not exceed."""
        least, seen = (95 * self.blocks + 99) // 100, 0
        for deep in sorted(self.counts):
            seen += self.counts[deep]
            if seen >= least:
                return deep
        return None

    def greatest(self) -> int | None:
        """The greatest depth."""
        return max(self.counts, default=None)

    def histogram(self) -> dict[str, int]:
        """The number of blocks in each of Snowflake's buckets, without gaps."""
        found: dict[int, int] = {}
        for deep, n in self.counts.items():
            found[_bucket(deep)] = found.get(_bucket(deep), 0) + n
        last, bucket, out = max(found, default=0), 1, {}
        while bucket <= last:
            out[f"{bucket:05d}"] = found.get(bucket, 0)
            bucket = bucket + 1 if bucket < _SINGLE else bucket * 2
        return out


def _bucket(depth: int) -> int:
    return depth if depth <= _SINGLE else 1 << (depth - 1).bit_length()


def _depths_of(measured: Sequence[Depth], constant: int, error: float) -> Depths:
    """Adds up the measured blocks, each with its weight."""
    counts: dict[int, int] = {}
    for d in measured:
        counts[d.depth] = counts.get(d.depth, 0) + d.weight
    return Depths(constant, sum(d.overlaps * d.weight for d in measured), counts, error)


@dataclass(frozen=True)
class Reads:
    """The shares of `rows` that are read, and the least that could be read. They are not rounded."""

    rows: int
    look_up: float
    range: float
    look_up_bound: float
    range_bound: float

    def least_look_up(self) -> float | None:
        """The bound of look-ups. None if less is read."""
        return unless_beaten(self.look_up_bound, self.look_up)

    def least_range(self) -> float | None:
        """The bound of ranges. None if less is read."""
        return unless_beaten(self.range_bound, self.range)

    def efficiency(self) -> float | None:
        """The bound divided by the share, from rounded numbers.

        None if nothing is read, without rows, or if no bound is known.
        """
        share, least = rounded(self.look_up), self.least_look_up()
        return None if self.rows == 0 or share == 0.0 or least is None else rounded(rounded(least) / share)


# a share that is lower than the bound by no more than this is taken for the bound: metadata is off by as much
_NOISE = 0.97


def unless_beaten(bound: float, read: float) -> float | None:
    """The bound, but None if less is read: then the columns depend on each other, and no bound is known."""
    return None if rounded(read) < _NOISE * rounded(bound) else min(bound, read)


@dataclass(frozen=True)
class Numbers:
    """The depths and reads of one level, for one column or for all together."""

    depths: Depths
    reads: Reads


def together(parts: Sequence[Numbers]) -> Numbers:
    """Puts the numbers of partitions together. Files of different partitions never overlap."""
    depths, reads = [p.depths for p in parts], [p.reads for p in parts]
    counts: dict[int, int] = {}
    for d in depths:
        for deep, n in d.counts.items():
            counts[deep] = counts.get(deep, 0) + n
    blocks = sum(counts.values())
    error = math.sqrt(sum((d.blocks * d.error) ** 2 for d in depths)) / blocks if blocks else 0.0
    return Numbers(
        Depths(sum(d.constant for d in depths), sum(d.overlaps for d in depths), counts, error),
        reads_together(reads),
    )


def reads_together(reads: Sequence[Reads]) -> Reads:
    """Puts what is read of partitions together, by their rows."""
    rows = sum(r.rows for r in reads)

    def mean(values: Iterable[float]) -> float:
        return sum(r.rows * v for r, v in zip(reads, values)) / rows if rows else 0.0

    return Reads(
        rows,
        mean(r.look_up for r in reads),
        mean(r.range for r in reads),
        mean(r.look_up_bound for r in reads),
        mean(r.range_bound for r in reads),
    )
