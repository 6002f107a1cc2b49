"""The rows of an audit as objects, with the names that the texts use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from .._sql import unquoted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import DataFrame

    Fields = dict[str, Any]
    Rows = Union[DataFrame, Iterable[Any]]

# rows do not name their table
UNNAMED = "this table"
# from the name of a level in the rows to its plural
LEVELS = {"file": "files", "row group": "row groups", "page": "pages"}


@dataclass(frozen=True)
class Clustering:
    """The figures of one level by one column, or by all columns together if ``column`` is empty."""

    level: str
    column: str
    fields: Fields

    @property
    def blocks(self) -> str:
        """The plural of the level, as in "64 row groups"."""
        return LEVELS.get(self.level, self.level)

    @property
    def share(self) -> float | None:
        """The share of the table that a look-up of one value reads."""
        return self.number("look_up_share")

    @property
    def bound(self) -> float | None:
        """The least share that is possible with any layout."""
        return self.number("look_up_bound")

    @property
    def over_bound(self) -> float | None:
        """The share divided by the bound. 1 is the best."""
        return self.share / self.bound if self.share is not None and self.bound else None

    def number(self, name: str) -> float | None:
        """A figure by the name of its field."""
        found = self.fields.get(name)
        return None if found is None else found + 0

    @property
    def depths(self) -> list[tuple[str, int]]:
        """The number of blocks at each depth, such as ("3-4", 17), up to the deepest."""
        return by_powers(self.fields.get("depth_histogram") or {})


@dataclass(frozen=True)
class Scope:
    """A partition, or the whole table."""

    name: str
    fields: Fields
    clusterings: tuple[Clustering, ...]

    @property
    def files(self) -> int:
        """The number of files."""
        return int(self.fields.get("total_file_count") or 0)

    @property
    def verdict(self) -> str:
        """The verdict, such as OK or RECLUSTER."""
        return str(self.fields.get("verdict") or "")

    @property
    def columns(self) -> list[Clustering]:
        """The figures of each level and column, without the joint ones."""
        return [c for c in self.clusterings if c.column]

    def find(self, level: str, column: str = "") -> Clustering | None:
        """The figures of one level, by a column or jointly."""
        return next((c for c in self.clusterings if (c.level, c.column) == (level, column)), None)


@dataclass(frozen=True)
class Audit:
    """A table, and its partitions if it has some, the worst first."""

    name: str
    whole: Scope
    partitions: tuple[Scope, ...]


def read(rows: Rows, name: str | None = None) -> Audit:
    """Reads an audit from its rows. The first is that of the table. ``name`` is the table's, if known."""
    scopes = [_scope(row) for row in dicts(rows)]
    if not scopes:
        raise ValueError("An audit has at least one row, that of the table.")
    return Audit(name or UNNAMED, scopes[0], tuple(scopes[1:]))


def _scope(row: Fields) -> Scope:
    levels = row.get("levels") or []
    return Scope(
        str(row.get("partition") or ""),
        row,
        tuple(Clustering(str(c.get("level")), unquoted(str(c.get("name") or "")), c) for c in levels),
    )


def by_powers(histogram: dict[str, int]) -> list[tuple[str, int]]:
    """Gathers depths in buckets that double in width: 1, 2, 3-4, 5-8, up to the last that is filled."""
    counts: dict[int, int] = {}
    for key, count in histogram.items():
        power = (int(key) - 1).bit_length()
        counts[power] = counts.get(power, 0) + count
    filled = [power for power, count in counts.items() if count]
    span = range(min(filled), max(filled) + 1) if filled else range(0)
    return [(str(2**p) if p < 2 else f"{2 ** (p - 1) + 1}-{2**p}", counts.get(p, 0)) for p in span]


def dicts(rows: Rows) -> list[dict[str, Any]]:
    """Rows as dicts, from a DataFrame, from Rows or from dicts."""
    frame: Any = rows
    found = frame.collect() if hasattr(frame, "collect") else frame
    return [dict(row) if isinstance(row, dict) else row.asDict(recursive=True) for row in found]
