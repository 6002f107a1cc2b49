"""Shows what a query would open: ``audit --where``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..view.readings import LEVELS
from ..view.units import figure, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIB = 2**40
_LEVELS = {**LEVELS, "page": "pages in these files"}


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


class Prices(NamedTuple):
    """What it costs to read every column of the kept blocks, and of the whole table."""

    price: float
    table_price: float

    @property
    def text(self) -> str:
        """A sentence about them."""
        whole = figure(self.table_price)
        return f"Reading every column of that costs {figure(self.price)}; of the whole table, {whole}."


def prices(level: Opened, bytes_in_all: int, price_per_tib: float) -> Prices:
    """What a level costs if reading 1 TiB has this price."""
    whole = bytes_in_all / _TIB * price_per_tib
    return Prices(level.share * whole, whole)


def pages_text(row: Opened) -> str:
    """A sentence about the pages alone."""
    return f"{row.kept:,} of {row.considered:,} {_LEVELS[row.level]} are read{_share(row)}."


def _share(row: Opened) -> str:
    return f" ({percent(row.share)} of the rows)"
