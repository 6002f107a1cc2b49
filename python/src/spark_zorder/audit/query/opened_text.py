"""What a query would open, as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .opened import Opened

_TIB = 2**40
_LEVELS = {"file": "files", "row group": "row groups", "page": "pages in these files"}


def text(rows: Sequence[Opened], bytes_in_all: int, price_per_tib: float | None) -> str:
    """A sentence, the price where one is given, and a table of the parts of the predicate."""
    whole = [row for row in rows if row.filter is None]
    parts = [row for row in rows if row.filter is not None]
    counts = [f"{row.kept:,} of {row.considered:,} {_LEVELS[row.level]}{_share(row.share)}" for row in whole]
    lines = [f"The query opens {_joined(counts)}."]
    if price_per_tib is not None and whole:
        read = whole[-1].share * bytes_in_all / _TIB * price_per_tib
        everything = bytes_in_all / _TIB * price_per_tib
        lines.append(f"Reading every column of that costs {read:.4g}; of the whole table, {everything:.4g}.")
    return "\n".join([*lines, "", _text.grid([_shown(row) for row in parts])])


def of_pages(row: Opened) -> str:
    """A sentence about the pages alone."""
    return f"{row.kept:,} of {row.considered:,} {_LEVELS[row.level]} are read{_share(row.share)}."


def _share(share: float) -> str:
    return f" ({100 * share:.1f} % of the rows)"


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _shown(row: Opened) -> dict[str, str | int]:
    return {
        "filter": row.filter or "",
        "of": _LEVELS[row.level],
        "considered": row.considered,
        "pruned": row.pruned,
        "further": row.pruned_further,
        "kept": row.kept,
        "why not fewer": row.reason or "-",
    }
