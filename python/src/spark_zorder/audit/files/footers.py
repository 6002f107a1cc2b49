"""Footers of Parquet files, read by pyarrow in threads."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from ..problem import AuditError
from . import origin, sparktype
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


class Footer(NamedTuple):
    """One file: its rows and those of its row groups, with zones and numbers of NULLs per column.

    ``readable`` is False where the file is encrypted and nothing is known of it.
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


def metadata(place: Place, file: Entry) -> Any:
    """The FileMetaData of one file, in one request where it lies in a store; None where it is encrypted."""
    from pyarrow import parquet

    path = place.path(file.rel)
    try:
        if place.filesystem is None:
            with parquet.ParquetFile(path) as opened:
                return opened.metadata
        return _of_store(place.filesystem, path, file.length)
    except Exception as error:
        if "ncrypt" in str(error):
            return None
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AuditError(f"{path} cannot be read without Spark: {reason}; try --spark.") from error


def _of_store(filesystem: Any, path: str, length: int) -> Any:
    """The length is known, so that nobody has to ask for it."""
    from pyarrow import dataset

    return dataset.ParquetFileFormat().make_fragment(path, filesystem, file_size=length).metadata


def read(
    listing: Listing,
    columns: Sequence[Column],
    overlook_nan: bool,
    report: Callable[[int], None] | None = None,
) -> list[Footer]:
    """The footers of all files, in their order.

    ``columns`` are those that zones are read of. ``report`` is told how many files are done. Raises
    AuditError at a file that cannot be read.
    """
    reader = _Reader(listing, columns, overlook_nan)
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
    def __init__(self, listing: Listing, columns: Sequence[Column], overlook_nan: bool) -> None:
        self._listing = listing
        self._columns = columns
        self._overlook_nan = overlook_nan
        # files of a table have few schemas: each is looked at once
        self._known: list[tuple[Any, Origin, list[_Plan]]] = []

    def read(self, file: Entry) -> Footer:
        meta = metadata(self._listing.place, file)
        if meta is None:
            return Footer(file, 0, (), readable=False)
        plans = self._plans(meta)
        groups = tuple(_group(meta.row_group(i), plans) for i in range(meta.num_row_groups))
        return Footer(file, meta.num_rows, groups, readable=True)

    def _plans(self, meta: Any) -> list[_Plan]:
        writer = origin.of(meta.created_by, meta.metadata)
        schema = meta.schema
        for known, by, plans in self._known:
            if by == writer and known.equals(schema):
                return plans
        leaves = sparktype.leaves(schema)
        made = [_plan(leaves, column, writer, self._overlook_nan) for column in self._columns]
        self._known.append((schema, writer, made))
        return made


def _plan(leaves: list[Leaf], column: Column, writer: Origin, overlook_nan: bool) -> _Plan:
    wanted = _folded(column.path)
    folded = [_folded(leaf.path) for leaf in leaves]
    found = [i for i, path in enumerate(folded) if path == wanted]
    if not found:
        inside = any(path[: len(wanted)] == wanted for path in folded)
        return _Plan(None, None, UNKNOWN if inside else ONLY_NULLS)
    if len(found) > 1 or leaves[found[0]].repeated:
        return _Plan(None, None, UNKNOWN)
    kind = column.type
    of_leaf = None if kind is None else decoder(leaves[found[0]], kind, writer, overlook_nan)
    return _Plan(found[0], of_leaf, UNKNOWN)


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)


def _group(group: Any, plans: list[_Plan]) -> Block:
    zones: list[Zone] = []
    nulls: list[int | None] = []
    for plan in plans:
        if plan.place is None:
            zones.append(plan.absent)
            nulls.append(None)
        else:
            zone, count = _of_chunk(group.column(plan.place), plan.decoder)
            zones.append(zone)
            nulls.append(count)
    return Block(group.num_rows, tuple(zones), tuple(nulls))


def _of_chunk(chunk: Any, read: Decoder | None) -> tuple[Zone, int | None]:
    statistics = chunk.statistics
    if statistics is None:
        return UNKNOWN, None
    nulls: int | None = statistics.null_count if statistics.has_null_count else None
    if not statistics.has_min_max:
        return (ONLY_NULLS if nulls == chunk.num_values else UNKNOWN), nulls
    return (read(statistics.min_raw, statistics.max_raw) if read else UNKNOWN), nulls
