"""A directory of plain Parquet files as a table: its columns, and what the footers say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..._errors import AuditError
from . import footers, listing, partitions, sparktype
from .columns import Column, Columns
from .zones import Block

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .listing import Entry, Listing
    from .sparktype import SparkType
    from .zones import Zone


class Table(NamedTuple):
    """A listed directory with the columns that Spark would give it, those of partitions last."""

    listing: Listing
    columns: Columns
    partitions: tuple[dict[str, str | None], ...]


def of(found: Listing) -> Table:
    """Reads one footer, of the file that Spark takes the schema from; raises AuditError without any."""
    text = found.place.text
    if not found.files:
        raise AuditError(f"{text} holds no Parquet files: give the directory of a table.")
    first = found.summary or found.files[0]
    footer = footers.opened(found.place, first)
    if footer is None:
        raise AuditError(f"{first.rel} in {text} is encrypted, so nothing is known of the columns.")
    data = _data_columns(footer.leaves, sparktype.declared(footer.meta.metadata))
    rows = tuple(partitions.values(listing.partition_of(f.rel)) for f in found.files)
    directories = [Column((n,), kind, partition=True) for n, kind in partitions.types(rows).items()]
    own = {c.path[0].lower() for c in data}
    twice = next((c.name for c in directories if c.name.lower() in own), None)
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
    """One file and its row groups; zones are those of the columns that were asked for, in that order.

    ``encrypted`` tells that nothing can be known of them.
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
        zones = {c.path[0]: partitions.zone(values[c.path[0]], c.type) for c in columns if c.partition}
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
