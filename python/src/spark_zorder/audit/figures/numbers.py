"""The numbers of one level, jointly or of one column, and those of several partitions put together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .depth import Depth

# up to this depth each one has a bucket of its own
_SINGLE = 16


def rounded(x: float) -> float:
    """To nine decimals: the order of additions does not show."""
    return math.floor(x * 1e9 + 0.5) / 1e9


@dataclass(frozen=True)
class Depths:
    """How many blocks lie over one another.

    ``constant`` are blocks of one value, or of none. ``overlaps`` is a sum over the blocks. ``counts`` has
    the number of blocks of each depth. ``error`` is the standard error of the average depth.
    """

    constant: int
    overlaps: int
    counts: dict[int, int]
    error: float

    @property
    def blocks(self) -> int:
        """Their number."""
        return sum(self.counts.values())

    def average_overlaps(self) -> float | None:
        """None without blocks, as the others."""
        return rounded(self.overlaps / self.blocks) if self.counts else None

    def average(self) -> float | None:
        """The mean depth."""
        return rounded(sum(d * n for d, n in self.counts.items()) / self.blocks) if self.counts else None

    def p95(self) -> int | None:
        """The depth that at least 95 of 100 blocks do not exceed."""
        least, seen = (95 * self.blocks + 99) // 100, 0
        for depth in sorted(self.counts):
            seen += self.counts[depth]
            if seen >= least:
                return depth
        return None

    def greatest(self) -> int | None:
        """The greatest depth."""
        return max(self.counts, default=None)

    def histogram(self) -> dict[str, int]:
        """Numbers of blocks by Snowflake's buckets, without gaps."""
        found: dict[int, int] = {}
        for depth, n in self.counts.items():
            found[_bucket(depth)] = found.get(_bucket(depth), 0) + n
        last, bucket, out = max(found, default=0), 1, {}
        while bucket <= last:
            out[f"{bucket:05d}"] = found.get(bucket, 0)
            bucket = bucket + 1 if bucket < _SINGLE else bucket * 2
        return out


def _bucket(depth: int) -> int:
    return depth if depth <= _SINGLE else 1 << (depth - 1).bit_length()


def depths_of(measured: Sequence[Depth], constant: int, error: float) -> Depths:
    """Of the blocks that were measured, each with its weight."""
    counts: dict[int, int] = {}
    for d in measured:
        counts[d.depth] = counts.get(d.depth, 0) + d.weight
    return Depths(constant, sum(d.overlaps * d.weight for d in measured), counts, error)


@dataclass(frozen=True)
class Reads:
    """Shares of `rows` that are read, and the least that could be; not rounded."""

    rows: int
    look_up: float
    range: float
    look_up_bound: float
    range_bound: float

    def efficiency(self) -> float | None:
        """Of the rounded numbers; None where nothing is read, or nothing is there."""
        share = rounded(self.look_up)
        return None if self.rows == 0 or share == 0.0 else rounded(rounded(self.look_up_bound) / share)


@dataclass(frozen=True)
class Numbers:
    """Depths and reads of one level, jointly or of one column."""

    depths: Depths
    reads: Reads


def together(parts: Sequence[Numbers]) -> Numbers:
    """Of partitions, whose files never meet and which are asked for their own values."""
    depths, reads = [p.depths for p in parts], [p.reads for p in parts]
    counts: dict[int, int] = {}
    for d in depths:
        for depth, n in d.counts.items():
            counts[depth] = counts.get(depth, 0) + n
    blocks = sum(counts.values())
    error = math.sqrt(sum((d.blocks * d.error) ** 2 for d in depths)) / blocks if blocks else 0.0
    rows = sum(r.rows for r in reads)

    def mean(values: Iterable[float]) -> float:
        return sum(r.rows * v for r, v in zip(reads, values)) / rows if rows else 0.0

    return Numbers(
        Depths(sum(d.constant for d in depths), sum(d.overlaps for d in depths), counts, error),
        Reads(
            rows,
            mean(r.look_up for r in reads),
            mean(r.range for r in reads),
            mean(r.look_up_bound for r in reads),
            mean(r.range_bound for r in reads),
        ),
    )
