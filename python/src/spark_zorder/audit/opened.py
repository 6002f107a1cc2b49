"""Shows what a query would open: ``audit --where``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..view.units import figure, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIB = 2**40
_LEVELS = {"file": "files", "row group": "row groups", "page": "pages in these files"}


class Opened(NamedTuple):
    """What a filter leaves out at one level.

    ``pruned`` of ``considered`` blocks are left out, and ``kept`` blocks are read. ``rows`` are the rows in
    the kept blocks, and ``share`` is their part of all rows. ``filter`` and ``pruned_further`` are fields of
    ``ZORDER EXPLAIN``: a row about the whole filter has None, and the same number as ``pruned``. ``reason``
    says why the parts of the filter are not told apart.
    """

    filter: str | None
    level: str
    considered: int
    pruned: int
    pruned_further: int
    kept: int
    rows: int
    share: float
    reason: str


def text(levels: Sequence[Opened]) -> str:
    """A sentence about these levels."""
    counts = [f"{row.kept:,} of {row.considered:,} {_LEVELS[row.level]}{_share(row)}" for row in levels]
    return f"The query opens {', '.join(counts[:-1])} and {counts[-1]}."


def price_text(levels: Sequence[Opened], bytes_in_all: int, price_per_tib: float) -> str:
    """A sentence about what reading costs at this price."""
    everything = bytes_in_all / _TIB * price_per_tib
    read = levels[-1].share * everything
    return f"Reading every column of that costs {figure(read)}; of the whole table, {figure(everything)}."


def pages_text(row: Opened) -> str:
    """A sentence about the pages alone."""
    return f"{row.kept:,} of {row.considered:,} {_LEVELS[row.level]} are read{_share(row)}."


def _share(row: Opened) -> str:
    return f" ({percent(row.share)} of the rows)"
