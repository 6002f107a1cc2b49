"""What a query would open, from the rows of ``clustering_boxes``: for tables that only Spark can read."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .audited import names_of
from .files import partitions
from .files.columns import Column, Columns
from .files.sparktype import INTEGERS, SparkType
from .files.words import of_double, of_float
from .files.zones import UNKNOWN, Block, Word, Zone, between
from .problem import Unanswered
from .query import opened, where
from .query.literals import days, micros

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .query.opened import Opened
    from .result import Rows

_NAN = {"float": of_float(float("nan")), "double": of_double(float("nan"))}


def would_open(
    types: dict[tuple[str, ...], SparkType | None],
    partitioned_by: Sequence[str],
    predicate: str,
    boxes: Callable[[str], Rows],
) -> tuple[list[Opened], int]:
    """Files first, then row groups where they are known; and the bytes of all files.

    ``types`` are those of the table's columns by their paths; ``boxes`` gives the rows for a list of them.
    """
    folders = {name.lower() for name in partitioned_by}
    columns = Columns([Column(p, kind, "", p[0].lower() in folders) for p, kind in types.items()])
    conjuncts = where.read(predicate, columns)
    asked = opened.columns_of(conjuncts)
    stored = [n for n in asked if not columns.all[n].partition]
    # without a condition on stored columns, any of them tells which files there are
    some = [n for n, c in enumerate(columns.all) if c.type and not c.partition][:1]
    names = names_of(columns, stored or some)
    files: list[Block] = []
    groups: list[Block] = []
    rows = boxes(", ".join(names))
    for row in rows:
        (files if row["row_group"] is None else groups).append(_block(row, columns, asked))
    whole = opened.Predicate(conjuncts, columns)
    found = opened.opened("file", files, whole)
    found += opened.opened("row group", groups, whole) if groups else []
    return found, sum(row["bytes"] or 0 for row in rows)


def _block(row: dict[str, Any], columns: Columns, asked: Sequence[int]) -> Block:
    ranges = iter(row["ranges"])
    folder = {name.lower(): text for name, text in partitions.values(row["partition"]).items()}
    zones: list[Zone] = []
    nulls: list[int | None] = []
    for number in asked:
        column = columns.all[number]
        if column.partition:
            zone = partitions.zone(folder[column.path[0].lower()], partitions.simple(column.type))
            zones.append(zone)
            nulls.append(0 if zone else None)
        else:
            found = next(ranges)
            zones.append(_zone(found, column.type))
            nulls.append(None if found["may_hold_null"] else 0)
    return Block(row["row_count"], tuple(zones), tuple(nulls))


def _zone(found: dict[str, Any], kind: SparkType | None) -> Zone:
    """Bounds that are no text, and files of only NULL, are not told from unknown ones."""
    if kind is None or found["low"] is None or found["high"] is None:
        return UNKNOWN
    try:
        low, high = _word(found["low"], kind), _word(found["high"], kind)
    except (Unanswered, ValueError):
        return UNKNOWN
    # the audit believes bounds beside which a NaN may hide; a query has to read it
    return between(low, _NAN.get(kind.name, high))


def _word(text: str, kind: SparkType) -> Word:
    """A value as a cast to STRING in UTC has it."""
    name = kind.name
    if name in INTEGERS:
        return int(text)
    if name == "string":
        return text.encode()
    if name == "binary":
        return bytes.fromhex(text)
    if name == "boolean":
        return int(text == "true")
    if name == "decimal":
        return int(Decimal(text).scaleb(kind.scale))
    if name in ("float", "double"):
        return (of_float if name == "float" else of_double)(float(text))
    if name == "date":
        return days(text)
    if name in ("timestamp", "timestamp_ntz"):
        return micros(f"{text}Z" if name == "timestamp" else text, local=name == "timestamp")
    raise Unanswered(f"no words of {kind.sql}")
