"""A directory of plain Parquet files as a table: its columns, and what the footers say about them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

from ... import _sql
from ..._errors import AmbiguousError, AuditError, UsageError
from . import footers, listing, sparktype
from .sparktype import SparkType
from .zones import ONLY_NULLS, UNKNOWN, Block, Zone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .listing import Entry, Listing


class Table(NamedTuple):
    """A listed directory with its columns as Spark would find them. Partition columns are last."""

    listing: Listing
    columns: Columns
    partitions: tuple[dict[str, str | None], ...]


def of(found: Listing) -> Table:
    """Reads the footer of the file that Spark takes the schema from. Raises AuditError without files."""
    text = found.place.text
    if not found.files:
        raise AuditError(f"{text} holds no Parquet files: give the directory of a table.")
    first = found.summary or found.files[0]
    footer = footers.opened(found.place, first)
    if footer is None:
        raise AuditError(f"{first.rel} in {text} is encrypted, so nothing is known of the columns.")
    data = _data_columns(footer.leaves, sparktype.declared(footer.meta.metadata))
    rows = tuple(partition_values(listing.partition_of(f.rel)) for f in found.files)
    directories = [Column((n,), kind, partition=True) for n, kind in _partition_types(rows).items()]
    own = {c.path[0].lower() for c in data}
    twice = next((c.path[0] for c in directories if c.path[0].lower() in own), None)
    if twice is not None:
        raise AuditError(
            f"The partition column {twice} is also stored in the files of {text}; "
            "write the table once by Spark (partitionBy), which leaves it out of the files."
        )
    return Table(found, Columns([*data, *directories]), rows)


def _data_columns(
    leaves: list[sparktype.Leaf], declared: dict[tuple[str, ...], SparkType | None]
) -> list[Column]:
    found = []
    for leaf in leaves:
        kind = None if leaf.repeated else declared.get(leaf.path, sparktype.of_leaf(leaf))
        found.append(Column(leaf.path, kind, leaf.text))
    return found


class FileBlocks(NamedTuple):
    """One file and its row groups. Zones are those of the requested columns, in that order.

    ``encrypted`` says that nothing is known of any column.
    """

    file: Entry
    whole: Block
    groups: tuple[Block, ...]
    encrypted: bool


def blocks(
    table: Table, wanted: Sequence[int], report: Callable[[int], None] | None = None
) -> list[FileBlocks]:
    """Reads the footers of all files, for the columns of these numbers.

    ``report`` is told how many files are done.
    """
    columns = [table.columns.all[i] for i in wanted]
    data = [c for c in columns if not c.partition]
    found = []
    for footer, values in zip(footers.read(table.listing, data, report), table.partitions):
        zones = {c.path[0]: _partition_zone(values[c.path[0]], c.type) for c in columns if c.partition}
        groups = footer.groups if footer.readable else (footer.block(len(data)),)
        found.append(
            FileBlocks(
                footer.file,
                _with(footer.block(len(data)), columns, zones),
                tuple(_with(group, columns, zones) for group in groups),
                not footer.readable,
            )
        )
    return found


def _with(block: Block, columns: Sequence[Column], directory: dict[str, Zone]) -> Block:
    """The block with the values of its directory in their places."""
    if not directory:
        return block
    zones, nulls = iter(block.zones), iter(block.nulls)
    row: list[tuple[Zone, int | None]] = []
    for column in columns:
        if column.partition:
            zone = directory[column.path[0]]
            row.append((zone, 0 if zone else None))
        else:
            row.append((next(zones), next(nulls)))
    return Block(block.rows, tuple(z for z, _ in row), tuple(n for _, n in row))


@dataclass(frozen=True)
class Column:
    """A column or a field of a struct.

    ``type`` is None if Spark has no type for it, or one without a fixed order. ``stored`` is its type in the
    files, as Parquet calls it. ``partition`` says that its values are in the names of directories.
    """

    path: tuple[str, ...]
    type: SparkType | None
    stored: str = ""
    partition: bool = False

    @property
    def name(self) -> str:
        """The path, with dots between the parts. A part that has dots is in backquotes."""
        return _joined(self.path)


def _joined(path: Sequence[str]) -> str:
    return ".".join(_sql.quoted(part) if set(part) & {".", "`"} else part for part in path)


class Columns:
    """The columns of a table. Names are found in any case, as in Spark by default."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Takes the columns in the order of the table."""
        self.all = tuple(columns)
        self._numbers: dict[tuple[str, ...], int] = {}
        for i, column in enumerate(self.all):
            self._numbers.setdefault(footers.in_lower_case(column.path), i)

    def number(self, path: Sequence[str]) -> int:
        """The place of a column in `all`; raises UsageError where it is not there, or not the only one.

        A struct or a list has no place, since it has no bounds of its own: ValueError.
        """
        wanted = footers.in_lower_case(path)
        self._check_one(path, wanted)
        found = self._numbers.get(wanted)
        if found is None:
            if any(known[: len(wanted)] == wanted for known in self._numbers):
                raise ValueError(f"{'.'.join(path)} is a struct or a list: it has no bounds of its own")
            names = [c.name for c in self.all]
            near = get_close_matches(_joined(path).lower(), [name.lower() for name in names], 1)
            meant = [name for name in names if [name.lower()] == near][:1]
            hint = f" Did you mean {meant[0]}?" if meant else ""
            tops = ", ".join(dict.fromkeys(_joined(c.path[:1]) for c in self.all))
            raise UsageError(f"The table has no column {_joined(path)}.{hint} Its columns are {tops}.")
        return found

    def _check_one(self, path: Sequence[str], wanted: tuple[str, ...]) -> None:
        """Raises AmbiguousError if a part of the path is the name of several columns or fields."""
        for end in range(1, len(wanted) + 1):
            same = [c.path[:end] for c in self.all if footers.in_lower_case(c.path[:end]) == wanted[:end]]
            spelled = [_joined(p) for p in dict.fromkeys(same)]
            if len(spelled) > 1:
                raise AmbiguousError(
                    f"Column {_joined(path)} is ambiguous: the table has {' and '.join(spelled)}, and names "
                    "are found in any case."
                )


# Values of partition columns are in the names of directories: ``day=2026-01-01/h=3``.

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}$")
# texts that Spark may take for a number or a time of some other type
_OTHER = re.compile(r"[+-]?[0-9.]|[+-]?(nan|infinity)", re.IGNORECASE)
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


def partition_values(directory: str) -> dict[str, str | None]:
    """The values of partition columns in the path of a directory. None is NULL."""
    found: dict[str, str | None] = {}
    for part in directory.split("/"):
        name, equals, value = part.partition("=")
        if equals:
            found[_plain(name)] = None if value == _NULL else _plain(value)
    return found


def _plain(text: str) -> str:
    """The text without escapes, each of which is one character for Spark, not a byte of UTF-8.

    A percent sign that begins no escape stays.
    """
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


def _partition_types(rows: Sequence[dict[str, str | None]]) -> dict[str, SparkType | None]:
    """The types that Spark infers from the values of each column. None for uncommon types."""
    return {name: _type({row[name] for row in rows} - {None}) for name in (rows[0] if rows else ())}


def _type(texts: set[str | None]) -> SparkType | None:
    known = [t for t in texts if t is not None]
    kinds = {_kind(t) for t in known}
    if kinds == {"int"}:
        small = all(-(2**31) <= int(t) < 2**31 for t in known)
        return SparkType("int" if small else "bigint")
    if kinds == {"date"}:
        return SparkType("date")
    return SparkType("string") if "string" in kinds or not kinds else None


def _kind(text: str) -> str:
    if _WHOLE.match(text):
        return "int"
    if _DATE.match(text) and _days(text) is not None:
        return "date"
    return "other" if _OTHER.match(text) else "string"


def _partition_zone(text: str | None, kind: SparkType | None) -> Zone:
    """The zone of a file that has this one value."""
    if text is None:
        return ONLY_NULLS
    if kind is None:
        return UNKNOWN
    value = text.encode() if kind.name == "string" else _days(text) if kind.name == "date" else int(text)
    return value, value


def _days(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
