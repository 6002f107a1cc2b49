"""Footers of Parquet files, read by pyarrow in threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._errors import AuditError
from . import origin, sparktype
from .raw import RawFooter, in_order, tail
from .words import decoder
from .zones import ONLY_NULLS, UNKNOWN, Block, Zone, union

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .columns import Column
    from .listing import Listing
    from .origin import Origin
    from .places import Entry, Place
    from .sparktype import Leaf
    from .words import Decoder

# requests to a store wait most of the time
_THREADS_OF_STORE = 32
_MAGIC = b"PAR1"


class Footer(NamedTuple):
    """One file: its rows and those of its row groups, with zones and numbers of NULLs per column.

    ``readable`` is False where columns are encrypted and nothing is known of any.
    """

    file: Entry
    rows: int
    groups: tuple[Block, ...]
    readable: bool

    def block(self, columns: int) -> Block:
        """The whole file as one block."""
        if not self.readable:
            return Block(self.rows, (UNKNOWN,) * columns, (None,) * columns)
        zones = tuple(union(g.zones[c] for g in self.groups) for c in range(columns))
        return Block(self.rows, zones, tuple(self._nulls(c) for c in range(columns)))

    def _nulls(self, column: int) -> int | None:
        counts = [g.nulls[column] for g in self.groups]
        return None if None in counts else sum(c for c in counts if c is not None)


class Opened:
    """A footer that can be read; `meta` is pyarrow's view of it."""

    def __init__(self, meta: Any, footer: bytes) -> None:
        """`footer` holds the bytes that `meta` was made from."""
        self.meta = meta
        self.leaves = sparktype.leaves(meta.schema)
        self.origin = origin.of(meta.created_by, meta.metadata)
        self._footer = footer
        self._raw: RawFooter | None = None
        self.in_order = in_order(footer, meta.created_by or "", len(self.leaves))

    @property
    def raw(self) -> RawFooter:
        """The same field by field."""
        if self._raw is None:
            self._raw = RawFooter(self._footer, self.leaves, self.origin)
        return self._raw

    @property
    def encrypted(self) -> bool:
        """Whether columns may be encrypted: pyarrow must not be asked for them."""
        return not self.in_order and self.raw.encrypted

    @property
    def rows(self) -> int:
        """The rows of all row groups, whatever the file says of them in all."""
        return sum(self.meta.row_group(i).num_rows for i in range(self.meta.num_row_groups))


def opened(place: Place, file: Entry) -> Opened | None:
    """The footer of one file; None where it is encrypted."""
    import pyarrow
    from pyarrow import parquet

    try:
        last = tail(place, file)
        if last.encrypted:
            return None
        # bytes that are no footer are left to pyarrow, which says what is wrong
        end = _MAGIC + last.footer + last.end if last.footer else last.end
        found = Opened(parquet.read_metadata(pyarrow.BufferReader(end)), last.footer)
        found.encrypted  # noqa: B018 (fails where the bytes are no footer)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        path = place.path(file.rel)
        raise AuditError(f"{path} cannot be read without Spark: {reason}; try --spark.") from error
    return found


def read(
    listing: Listing,
    columns: Sequence[Column],
    report: Callable[[int], None] | None = None,
) -> list[Footer]:
    """The footers of all files, in their order.

    ``columns`` are those that zones are read of. ``report`` is told how many files are done. Raises
    AuditError at a file that cannot be read.
    """
    reader = _Reader(listing, columns)
    threads = min(32, 2 * (os.cpu_count() or 1)) if listing.place.filesystem is None else _THREADS_OF_STORE
    found = []
    with ThreadPoolExecutor(threads) as pool:
        for footer in pool.map(reader.read, listing.files):
            found.append(footer)
            if report is not None:
                report(len(found))
    return found


class _Plan(NamedTuple):
    """How one requested column is read from files of one schema; `place` is the number of the leaf."""

    place: int | None
    decoder: Decoder | None
    absent: Zone


class _Reader:
    def __init__(self, listing: Listing, columns: Sequence[Column]) -> None:
        self._listing = listing
        self._columns = columns
        # files of a table have few schemas: each is looked at once
        self._known: list[tuple[Any, Origin, list[_Plan]]] = []

    def read(self, file: Entry) -> Footer:
        found = opened(self._listing.place, file)
        if found is None or found.encrypted:
            return Footer(file, 0 if found is None else found.rows, (), readable=False)
        plans = self._plans(found)
        groups = tuple(_group(found, i, plans) for i in range(found.meta.num_row_groups))
        return Footer(file, found.rows, groups, readable=True)

    def _plans(self, found: Opened) -> list[_Plan]:
        schema = found.meta.schema
        for known, by, plans in self._known:
            if by == found.origin and known.equals(schema):
                return plans
        made = [_plan(found.leaves, column, found.origin) for column in self._columns]
        self._known.append((schema, found.origin, made))
        return made


def _plan(leaves: list[Leaf], column: Column, writer: Origin) -> _Plan:
    wanted = _folded(column.path)
    folded = [_folded(leaf.path) for leaf in leaves]
    found = [i for i, path in enumerate(folded) if path == wanted]
    if not found:
        inside = any(path[: len(wanted)] == wanted for path in folded)
        return _Plan(None, None, UNKNOWN if inside else ONLY_NULLS)
    if len(found) > 1 or leaves[found[0]].repeated:
        return _Plan(None, None, UNKNOWN)
    kind = column.type
    of_leaf = None if kind is None else decoder(leaves[found[0]], kind, writer)
    return _Plan(found[0], of_leaf, UNKNOWN)


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)


def _group(found: Opened, number: int, plans: list[_Plan]) -> Block:
    group = found.meta.row_group(number)
    zones: list[Zone] = []
    nulls: list[int | None] = []
    for plan in plans:
        if plan.place is None:
            zones.append(plan.absent)
            nulls.append(None)
        else:
            zone, count = _of_chunk(found, number, group, plan.place, plan.decoder)
            zones.append(zone)
            nulls.append(count)
    return Block(group.num_rows, tuple(zones), tuple(nulls))


def _of_chunk(
    found: Opened, number: int, group: Any, place: int, read: Decoder | None
) -> tuple[Zone, int | None]:
    chunk = group.column(place)
    statistics = chunk.statistics
    if found.in_order and statistics is not None and statistics.has_min_max:
        low, high = statistics.min_raw, statistics.max_raw
        nulls: int | None = statistics.null_count if statistics.has_null_count else None
    else:
        low, high, nulls = found.raw.statistics(number, place)
    rows = group.num_rows
    if nulls is not None and nulls < 0:
        nulls = None
    # a column without lists has as many values as the row group has rows, and no more NULLs
    if chunk.num_values != rows or (nulls is not None and nulls > rows):
        return UNKNOWN, None
    if low is None or high is None:
        return (ONLY_NULLS if nulls == rows else UNKNOWN), nulls
    return (read(low, high) if read else UNKNOWN), nulls
