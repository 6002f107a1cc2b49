"""Footers as they are in the files, for what pyarrow does not show or takes in another way than Spark.

The table of rules is in docs/spec.md, "Which statistics are believed". They are those of parquet-java, which
the JVM's reader and Spark itself go by. pyarrow has others for old writers, and it ends the process at
columns that are encrypted behind a footer that is not.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import thrift

if TYPE_CHECKING:
    from .origin import Origin
    from .places import Entry, Place
    from .sparktype import Leaf
    from .thrift import Struct

# the length of the footer, and four bytes that say whether it is encrypted
_TAIL = 8
# what pyarrow and others ask for at first: most footers fit, and a request costs more than the bytes
_FIRST_READ = 64 * 1024
# numbers of fields in parquet.thrift: of FileMetaData, RowGroup, ColumnChunk, ColumnMetaData and Statistics
_GROUPS, _ORDERS, _ENCRYPTION = 4, 7, 8
_CHUNKS = 1
_CHUNK_META = 3
_STATISTICS = 12
_OLD_MAX, _OLD_MIN, _NULLS, _MAX, _MIN = 1, 2, 3, 5, 6
# in plain encoding
_FORMATS = {"BOOLEAN": "<?", "INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d"}
_BYTES = frozenset({"BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"})
_SIGNED = frozenset({"Date", "Time", "Timestamp"})
# physical and logical types of which Parquet defines no order
_WITHOUT_ORDER = frozenset({"INT96", "Interval"})


class Tail(NamedTuple):
    """The end of a file: `footer` stands before the last eight bytes, and is empty where there is none."""

    footer: bytes
    end: bytes

    @property
    def encrypted(self) -> bool:
        """Whether nobody can read the footer without a key."""
        return self.end[4:] == b"PARE"


def tail(place: Place, file: Entry) -> Tail:
    """Reads the footer: of a store by a HEAD and one GET, or two where it is long."""
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


def _tail(read_at: Any, length: int) -> Tail:
    first = min(length, _FIRST_READ)
    last = bytes(read_at(length - first, first))
    end = last[-_TAIL:]
    wanted = int.from_bytes(end[:4], "little")
    if end[4:] != b"PAR1" or wanted > length - _TAIL:
        return Tail(b"", end)
    if wanted > first - _TAIL:
        last = bytes(read_at(length - _TAIL - wanted, wanted)) + end
    return Tail(last[-_TAIL - wanted : -_TAIL], end)


def in_order(footer: bytes, created_by: str, leaves: int) -> bool:
    """Whether the footer surely ends with the usual order of every column, and so without encryption.

    That end is always the same bytes, so that the many files that have it need not be read field by field.
    """
    count = bytes([leaves << 4 | 12]) if leaves < 15 else b"\xfc" + _unsigned(leaves)
    return footer.endswith(created_by.encode() + b"\x19" + count + b"\x1c\0\0" * leaves + b"\0")


def _unsigned(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


class RawFooter:
    """A footer read field by field, which takes a while in Python."""

    def __init__(self, footer: bytes, leaves: list[Leaf], origin: Origin) -> None:
        """Raises ValueError where the bytes are no footer."""
        self._meta = thrift.read(footer)
        self._leaves = leaves
        self._origin = origin

    @property
    def encrypted(self) -> bool:
        """Whether columns may be encrypted although the footer is not."""
        return _ENCRYPTION in self._meta

    def statistics(self, group: int, leaf: int) -> tuple[Any, Any, int | None]:
        """Bounds of a chunk that Spark would believe, None where it would not, and the number of NULLs."""
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
        """Where a file says nothing of orders, its bounds are in the usual one."""
        orders = self._meta.get(_ORDERS)
        kind = self._leaves[leaf]
        usual = orders is None or (leaf < len(orders) and 1 in orders[leaf])
        return usual and not _WITHOUT_ORDER.intersection((kind.physical, kind.annotation))


def _signed(leaf: Leaf) -> bool:
    """Whether the old bounds, which compare as signed numbers or bytes, are in the order of the type."""
    if leaf.annotation in ("None", "Undefined"):
        return leaf.physical in _FORMATS
    return leaf.annotation in _SIGNED or (leaf.annotation == "Int" and bool(leaf.logical["isSigned"]))


def _value(data: bytes | None, physical: str) -> Any:
    code = _FORMATS.get(physical)
    if data is None or code is None:
        return data
    return struct.unpack_from(code, data)[0] if len(data) >= struct.calcsize(code) else None
