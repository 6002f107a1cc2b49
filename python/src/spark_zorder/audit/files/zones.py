"""Zones: what the statistics of a block (a file or a row group) say about one column.

A zone is ``UNKNOWN``, ``ONLY_NULLS``, or the pair of the least and the greatest value of the block. Values
are normalized: numbers or byte strings in Spark's order of the type, all of one kind in a column.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

if TYPE_CHECKING:
    from collections.abc import Iterable

Normalized = Union[int, bytes]
# a pair of values; the type is Any because a number and a byte string are never compared
Zone = Optional[tuple[Any, ...]]

# nothing is known, so every query must read the block
UNKNOWN: Zone = None
# the block has no value but NULL
ONLY_NULLS: Zone = ()


def between(low: Normalized | None, high: Normalized | None) -> Zone:
    """The zone of two bounds. It is unknown if one is missing or if they are out of order."""
    pair: tuple[Any, Any] = (low, high)
    return UNKNOWN if low is None or high is None or pair[0] > pair[1] else pair


def union(zones: Iterable[Zone]) -> Zone:
    """The smallest zone that covers all of these. Without any, it holds no value."""
    return reduce(_both, zones, ONLY_NULLS)


def _both(a: Zone, b: Zone) -> Zone:
    if a is None or b is None:
        return UNKNOWN
    if not a or not b:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


class Block(NamedTuple):
    """One block: its rows, and for each column its zone and number of NULLs (None if not known)."""

    rows: int
    zones: tuple[Zone, ...]
    nulls: tuple[int | None, ...]
