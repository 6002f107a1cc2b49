"""Whether two layouts give the same answer: the same rows in whatever order, doubles almost equal."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

Answer = list[tuple[Any, ...]]


def unlimited(text: str) -> str:
    """The query without its LIMIT: which of equal rows a limit keeps is up to the layout."""
    return re.sub(r"\s+LIMIT\s+\d+\s*\Z", "", text, flags=re.IGNORECASE)


def sorted_rows(rows: Sequence[Sequence[Any]]) -> Answer:
    """By what is compared exactly first, so that rounding does not change the order of unlike rows."""
    return sorted((tuple(row) for row in rows), key=_key)


def _key(row: tuple[Any, ...]) -> tuple[list[str], list[float]]:
    exact = [repr(v) for v in row if not isinstance(v, float)]
    return exact, [v for v in row if isinstance(v, float)]


def differ(one: Answer, other: Answer) -> str | None:
    """The first difference, in words."""
    if len(one) != len(other):
        return f"{len(one):,} rows and {len(other):,}"
    pairs = zip(one, other, strict=True)
    return next((f"{a} and {b}" for a, b in pairs if not _same_row(a, b)), None)


def _same_row(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        both_nan = math.isnan(one) and math.isnan(other)
        return both_nan or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)
