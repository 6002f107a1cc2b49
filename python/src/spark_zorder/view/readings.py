"""The rows of an audit as objects, under the names that the words around them have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    Fields = dict[str, Any]
    Rows = Union[DataFrame, Iterable[Any]]

# rows do not say whose they are
UNNAMED = "this table"
# as the rows name a level -> as people speak of many of it
LEVELS = {"file": "files", "row group": "row groups", "page": "pages"}


@dataclass(frozen=True)
class Clustering:
    """How the blocks of one level lie by one column; by all of them jointly where ``column`` is empty."""

    level: str
    column: str
    fields: Fields

    @property
    def blocks(self) -> str:
        """As in "64 row groups"."""
        return LEVELS.get(self.level, self.level)

    @property
    def share(self) -> float | None:
        """Of the table, what a look-up of one value reads."""
        return self.number("look_up_share")

    @property
    def bound(self) -> float | None:
        """The least that any layout could let it read."""
        return self.number("look_up_bound")

    @property
    def over_bound(self) -> float | None:
        """1 is as good as it can be."""
        return self.share / self.bound if self.share is not None and self.bound else None

    def number(self, name: str) -> float | None:
        """Any figure by the name of its field."""
        found = self.fields.get(name)
        return None if found is None else found + 0

    @property
    def depths(self) -> list[tuple[str, int]]:
        """How many blocks lie how deep, as ("3-4", 17), up to the deepest."""
        return by_powers(self.fields.get("depth_histogram") or {})


@dataclass(frozen=True)
class Scope:
    """A partition, or the whole table."""

    name: str
    fields: Fields
    clusterings: tuple[Clustering, ...]

    @property
    def files(self) -> int:
        """How many there are."""
        return int(self.fields.get("total_file_count") or 0)

    @property
    def verdict(self) -> str:
        """Such as OK or RECLUSTER."""
        return str(self.fields.get("verdict") or "")

    @property
    def columns(self) -> list[Clustering]:
        """Each level and column; nothing jointly."""
        return [c for c in self.clusterings if c.column]

    def find(self, level: str, column: str = "") -> Clustering | None:
        """Of one level, by a column or jointly."""
        return next((c for c in self.clusterings if (c.level, c.column) == (level, column)), None)


@dataclass(frozen=True)
class Audit:
    """A table, and its partitions if it has some, the worst first."""

    name: str
    whole: Scope
    partitions: tuple[Scope, ...]


def read(rows: Rows, name: str | None = None) -> Audit:
    """An audit from its rows: the first is that of the table, which rows do not name."""
    scopes = [_scope(row) for row in dicts(rows)]
    if not scopes:
        raise ValueError("An audit has at least one row, that of the table.")
    return Audit(name or UNNAMED, scopes[0], tuple(scopes[1:]))


def _scope(row: Fields) -> Scope:
    levels = row.get("levels") or []
    return Scope(
        str(row.get("partition") or ""),
        row,
        tuple(Clustering(str(c.get("level")), str(c.get("name") or "").strip("`"), c) for c in levels),
    )


def by_powers(histogram: dict[str, int]) -> list[tuple[str, int]]:
    """Buckets that double in width, 1, 2, 3-4, 5-8, ..., from the first to the last that is filled."""
    counts: dict[int, int] = {}
    for key, count in histogram.items():
        power = (int(key) - 1).bit_length()
        counts[power] = counts.get(power, 0) + count
    filled = [power for power, count in counts.items() if count]
    span = range(min(filled), max(filled) + 1) if filled else range(0)
    return [(str(2**p) if p < 2 else f"{2 ** (p - 1) + 1}-{2**p}", counts.get(p, 0)) for p in span]


def dicts(rows: Rows) -> list[dict[str, Any]]:
    """Rows as dicts, of a DataFrame, of Rows or of dicts."""
    frame: Any = rows
    found = frame.collect() if hasattr(frame, "collect") else frame
    return [dict(row) if isinstance(row, dict) else row.asDict(recursive=True) for row in found]
