"""Reads the footers of Parquet files by pyarrow, in threads, and decides which statistics count."""

from __future__ import annotations

import os
import re
import struct
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._errors import AuditError
from . import sparktype, thrift
from .normalized import decoder
from .zones import ONLY_NULLS, UNKNOWN, Block, Zone, union

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .listing import Entry, Listing, Place
    from .normalized import Decoder
    from .sparktype import Leaf
    from .table import Column
    from .thrift import Struct


# many threads for a store, since requests wait most of the time
_THREADS_OF_STORE = 32
_MAGIC = b"PAR1"
# writers whose bounds always have the width of the type, but for fixed bytes, which any may cut
_OF_FULL_WIDTH = re.compile("parquet-(mr|cpp-arrow) ")


class Footer(NamedTuple):
    """One file, with the rows, zones and numbers of NULLs of its row groups that have rows.

    ``readable`` is False if columns are encrypted, so that nothing is known of any column.
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
    """A footer that is not encrypted. `meta` is pyarrow's view of it."""

    def __init__(self, meta: Any, footer: bytes) -> None:
        """`footer` holds the bytes that `meta` was made from."""
        self.meta = meta
        self.origin = _origin_of(meta.created_by, meta.metadata)
        self._footer = footer
        self.in_order = _in_order(footer, meta.created_by or "", len(meta.schema))
        self._of_full_width = _OF_FULL_WIDTH.match(meta.created_by or "") is not None

    @cached_property
    def leaves(self) -> list[Leaf]:
        """The columns of the file."""
        return sparktype.leaves(self.meta.schema, thrift.read(self._footer, _SCHEMA)[_SCHEMA])

    @cached_property
    def raw(self) -> _RawFooter:
        """The same footer, read field by field."""
        return _RawFooter(self._footer, self.leaves, self.origin)

    @property
    def encrypted(self) -> bool:
        """Whether columns may be encrypted. If so, pyarrow must not be asked for them."""
        return not self.in_order and self.raw.encrypted

    def shows_bounds(self, place: int) -> bool:
        """Whether pyarrow can be asked for the bounds of a leaf, and understands them as Spark does."""
        if not self.in_order:
            return False
        leaf = self.leaves[place]
        if leaf.physical == "FIXED_LEN_BYTE_ARRAY":
            return self._of_full_width and leaf.annotation == "Decimal"
        return self._of_full_width or leaf.physical == "BYTE_ARRAY"

    @property
    def rows(self) -> int:
        """The rows of all row groups. The total that the file gives does not count."""
        return sum(self.meta.row_group(i).num_rows for i in range(self.meta.num_row_groups))


def opened(place: Place, file: Entry) -> Opened | None:
    """Reads the footer of one file. The result is None if the footer is encrypted."""
    import pyarrow
    from pyarrow import parquet

    try:
        last = _footer_and_end(place, file)
        if last.encrypted:
            return None
        # if the bytes are no footer, pyarrow says what is wrong
        end = _MAGIC + last.footer + last.end if last.footer else last.end
        found = Opened(parquet.read_metadata(pyarrow.BufferReader(end)), last.footer)
        found.encrypted  # noqa: B018 (fails where the bytes are no footer)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        path = place.path(file.rel)
        if "magic bytes" in reason:
            raise AuditError(
                f"{path} is no Parquet file, or is cut off: give the directory of a Parquet table."
            ) from error
        raise AuditError(f"{path} cannot be read without Spark: {reason}; try --spark.") from error
    return found


def read(
    listing: Listing,
    columns: Sequence[Column],
    report: Callable[[int], None] | None = None,
) -> list[Footer]:
    """Reads the footers of all files, in their order.

    Zones are read for ``columns``. ``report`` is told how many files are done. Raises AuditError at a file
    that cannot be read.
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
    """How one column is read from files of one schema. `place` is the number of the leaf."""

    place: int | None
    decoder: Decoder | None
    absent: Zone


class _Reader:
    def __init__(self, listing: Listing, columns: Sequence[Column]) -> None:
        self._listing = listing
        self._columns = columns
        # the files of a table have few schemas, so a plan is made once for each schema
        self._known: list[tuple[Any, Origin, list[_Plan]]] = []

    def read(self, file: Entry) -> Footer:
        found = opened(self._listing.place, file)
        if found is None or found.encrypted:
            return Footer(file, 0 if found is None else found.rows, (), readable=False)
        plans = self._plans(found)
        # writers other than Spark write an empty file as one row group without rows and statistics
        filled = (i for i in range(found.meta.num_row_groups) if found.meta.row_group(i).num_rows != 0)
        groups = tuple(_group(found, i, plans) for i in filled)
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
    wanted = in_lower_case(column.path)
    if _is_spelled_twice(leaves, wanted):
        return _Plan(None, None, UNKNOWN)
    folded = [in_lower_case(leaf.path) for leaf in leaves]
    found = [i for i, path in enumerate(folded) if path == wanted]
    if not found:
        inside = any(path[: len(wanted)] == wanted for path in folded)
        return _Plan(None, None, UNKNOWN if inside else ONLY_NULLS)
    if leaves[found[0]].repeated:
        return _Plan(None, None, UNKNOWN)
    kind = column.type
    of_leaf = None if kind is None else decoder(leaves[found[0]], kind, writer)
    return _Plan(found[0], of_leaf, UNKNOWN)


def _is_spelled_twice(leaves: list[Leaf], wanted: tuple[str, ...]) -> bool:
    """Whether the column, or a struct around it, has several spellings, so that Spark cannot read it."""

    def spellings(depth: int) -> set[tuple[str, ...]]:
        tops = {leaf.path[:depth] for leaf in leaves}
        return {top for top in tops if in_lower_case(top) == wanted[:depth]}

    return any(len(spellings(depth)) > 1 for depth in range(1, len(wanted) + 1))


def in_lower_case(path: Sequence[str]) -> tuple[str, ...]:
    """The path in lower case: Spark finds columns in any case."""
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
    statistics = chunk.statistics if found.shows_bounds(place) else None
    if statistics is not None and statistics.has_min_max:
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


# The rest reads raw footers, for what pyarrow does not show, or understands in another way than Spark.
#
# The rules are in docs/spec.md, "Which statistics are believed". parquet-java has the same rules, and so
# have the JVM's reader and Spark. pyarrow has other rules for old writers. It also ends the process if a
# column is encrypted and the footer is not, and at bounds with fewer bytes than the type, such as those of
# fixed bytes that arrow-rs cuts at 64.

# the length of the footer, and four bytes that say whether it is encrypted
_TAIL = 8
# the first read has this size, as in pyarrow: most footers fit, and a request costs more than the bytes
_FIRST_READ = 64 * 1024
# numbers of fields in parquet.thrift: of FileMetaData, RowGroup, ColumnChunk, ColumnMetaData and Statistics
_SCHEMA, _GROUPS, _ORDERS, _ENCRYPTION = 2, 4, 7, 8
_CHUNKS = 1
_CHUNK_META = 3
_STATISTICS = 12
_OLD_MAX, _OLD_MIN, _NULLS, _MAX, _MIN = 1, 2, 3, 5, 6
# formats of the plain encoding
_FORMATS = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
_BYTES = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})
_SIGNED = frozenset({"Date", "Time", "Timestamp"})
# physical and logical types for which Parquet defines no order
_WITHOUT_ORDER = frozenset({"INT96", "Interval"})


class _Tail(NamedTuple):
    """The end of a file. `footer` comes before the last eight bytes, and is empty if there is none."""

    footer: bytes
    end: bytes

    @property
    def encrypted(self) -> bool:
        """Whether the footer is encrypted."""
        return self.end[4:] == b"PARE"


def _footer_and_end(place: Place, file: Entry) -> _Tail:
    """Reads the footer. From a store this takes a HEAD and one GET, or two GETs for a long footer."""
    path = place.path(file.rel)
    if place.filesystem is None:
        with Path(path).open("rb", buffering=0) as opened:
            return _tail(lambda at, n: _local(opened, at, n), opened.seek(0, 2))
    from pyarrow import dataset

    fragment = dataset.ParquetFileFormat().make_fragment(path, place.filesystem, file_size=file.length)
    with fragment.open() as opened:
        return _tail(lambda at, n: opened.read_at(n, at), file.length)


def _local(opened: Any, at: int, count: int) -> bytes:
    opened.seek(at)
    found: bytes = opened.read(count)
    return found


def _tail(read_at: Any, length: int) -> _Tail:
    first = min(length, _FIRST_READ)
    last = bytes(read_at(length - first, first))
    end = last[-_TAIL:]
    wanted = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or wanted > length - _TAIL:
        return _Tail(b"", end)
    if wanted > first - _TAIL:
        last = bytes(read_at(length - _TAIL - wanted, wanted)) + end
    return _Tail(last[-_TAIL - wanted : -_TAIL], end)


def _in_order(footer: bytes, created_by: str, leaves: int) -> bool:
    """Whether the footer ends with the usual order of every column, and therefore has no encryption.

    Such an end always has the same bytes. Most files have it, and need not be read field by field.
    """
    count = bytes([leaves << 4 | 12]) if leaves < 15 else b"\xfc" + _unsigned(leaves)
    return footer.endswith(created_by.encode() + b"\x19" + count + b"\x1c\0\0" * leaves + b"\0")


def _unsigned(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


class _RawFooter:
    """A footer that is read field by field, which is slow in Python."""

    def __init__(self, footer: bytes, leaves: list[Leaf], origin: Origin) -> None:
        """Raises ValueError if the bytes are no footer."""
        self._meta = thrift.read(footer)
        self._leaves = leaves
        self._origin = origin

    @property
    def encrypted(self) -> bool:
        """Whether columns may be encrypted although the footer is not."""
        return _ENCRYPTION in self._meta

    def statistics(self, group: int, leaf: int) -> tuple[Any, Any, int | None]:
        """The bounds of a chunk and its number of NULLs. Bounds that Spark would not believe are None."""
        chunk: Struct = self._meta[_GROUPS][group][_CHUNKS][leaf][_CHUNK_META]
        found: Struct = chunk.get(_STATISTICS, {})
        low, high = self._bounds(found, leaf)
        physical = self._leaves[leaf].physical
        return _value(low, physical), _value(high, physical), found.get(_NULLS)

    def _bounds(self, found: Struct, leaf: int) -> tuple[bytes | None, bytes | None]:
        if _MIN in found and _MAX in found:
            low, high, believed = found[_MIN], found[_MAX], self._ordered(leaf)
        elif self._leaves[leaf].physical in _BYTES and not self._origin.whole_bytes:
            return None, None
        else:
            low, high, believed = found.get(_OLD_MIN), found.get(_OLD_MAX), _signed(self._leaves[leaf])
        return (low, high) if believed or low == high else (None, None)

    def _ordered(self, leaf: int) -> bool:
        """Whether bounds are in the usual order. They are, too, if the file names no orders."""
        orders = self._meta.get(_ORDERS)
        kind = self._leaves[leaf]
        usual = orders is None or (leaf < len(orders) and 1 in orders[leaf])
        return usual and not _WITHOUT_ORDER.intersection((kind.physical, kind.annotation))


def _signed(leaf: Leaf) -> bool:
    """Whether old bounds are in the order of the type. They compare as signed numbers or bytes."""
    if leaf.annotation in ("None", "Undefined"):
        return leaf.physical in _FORMATS
    return leaf.annotation in _SIGNED or (leaf.annotation == "Int" and bool(leaf.logical["isSigned"]))


def _value(data: bytes | None, physical: str) -> Any:
    code = _FORMATS.get(physical)
    if data is None or code is None:
        return data
    return struct.unpack_from(code, data)[0] if len(data) >= struct.calcsize(code) else None


# The writer of a file matters for the meaning of its bounds.

_MAJOR = re.compile(rb"(\d+)(?:\.|$)")
_PARQUET_MR = re.compile(r"parquet-mr\s+version\s+(\d+)\.(\d+)\.(\d+)([^(\s]*)")
# the name of an application and its version, as Parquet's specification demands
_NAMED = re.compile(r"(.*?)\s+version\s*([^(]*?)\s*(\(\s*build\s*[^)]*\))?")
# these builds of 1.5.0 have the repair of 1.8.0
_REPAIRED = re.compile(r"-cdh5\.([5-9]|\d\d)")


class Origin(NamedTuple):
    """What is known about a writer.

    ``proleptic`` says that dates and times before the calendar changes are stored as Spark 3 reads them.
    Spark 2, legacy mode and unknown writers may use the Julian calendar, and then reading shifts the values.
    ``whole_bytes`` says that old bounds of byte strings are those of whole values. parquet-mr before 1.8
    wrote other bounds (PARQUET-251), sometimes without its name.
    """

    proleptic: bool
    whole_bytes: bool


def _origin_of(created_by: str | None, metadata: dict[bytes, bytes] | None) -> Origin:
    """Finds the origin in what a footer says."""
    notes = metadata or {}
    version = _MAJOR.match(notes.get(b"org.apache.spark.version", b""))
    new = version is not None and int(version[1]) >= 3
    proleptic = new and b"org.apache.spark.legacyDateTime" not in notes
    return Origin(proleptic, _whole_bytes(created_by or ""))


def _whole_bytes(created_by: str) -> bool:
    named = _NAMED.fullmatch(created_by)
    if named is None or named[1] != "parquet-mr":
        return named is not None
    found = _PARQUET_MR.match(created_by)
    if found is None:
        return False
    version = tuple(int(found[i]) for i in (1, 2, 3))
    if version < (1, 8, 0):
        return version == (1, 5, 0) and _REPAIRED.match(found[4]) is not None
    return version > (1, 8, 0) or not found[4].startswith("-")
