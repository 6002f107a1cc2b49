"""The section of the page that shows blocks as boxes in the plane of two columns, before and now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..view.parts import Table
from ..view.readings import LEVELS
from ..view.units import count, percent, things
from . import boxes
from .boxes import Box, Plane
from .sections import Picture, Section
from .values import reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Rows = Sequence[dict[str, Any]]
    Readers = tuple[Callable[[str], Any], Callable[[str], Any]]


def section(now: Rows, before: Rows, partition: str) -> list[Section]:
    """Files as boxes, and row groups folded away; nothing where fewer than two columns have bounds.

    Of a table with partitions, those of one of them: files of others overlap without harm.
    """
    own, old = ([row for row in rows if (row.get("partition") or "") == partition] for rows in (now, before))
    names = [column["name"] for column in own[0]["ranges"]] if own else []
    if len(names) < 2:
        return []
    x, y = names[:2]
    parts = [part for level in LEVELS for part in _level(level, x, y, own, old)]
    if not parts:
        return []
    first, *rest = parts
    folds = [replace(part, title=f"The same of {part.title}") for part in rest]
    keys = [("", "read by the look-up"), ("rest", "left out"), ("bound", "the value that is looked up")]
    texts = [
        f"Each box is a file: as wide as its values of {x}, as high as its values of {y}. A tenth of the "
        "width holds a tenth of the rows. Small boxes that do not overlap are good.",
        *([f"These are the files of the partition {partition}."] if partition else []),
        *first.texts,
    ]
    return [Section("Where the files lie", texts, keys, first.pictures, first.tables, folds)]


def _level(level: str, x: str, y: str, now: Rows, before: Rows) -> list[Section]:
    read = (reader_of(now, x), reader_of(now, y))
    all_of = [row for row in now if _is(row, level)]
    own, old = (_boxes(rows, level, (x, y), read) for rows in (now, before))
    if not own:
        return []
    name = LEVELS[level]
    plane = Plane.of(x, y, own, old)
    found = [("Before", old), ("Now", own)] if old else [("", own)]
    pictures = [
        _picture(f"{level}-{i}".replace(" ", "-"), head, name, plane, of)
        for i, (head, of) in enumerate(found)
    ]
    lines = [
        [head or "Now", count(len(of)), count(len(plane.read(of))), percent(len(plane.read(of)) / len(of))]
        for head, of in found
    ]
    table = Table(f"A look-up of {plane.lookup}", ["", name, "read", "share"], lines, (1, 2, 3))
    left = len(all_of) - len(own)
    texts = [f"{things(left, level)} without bounds of both columns cannot be drawn."] if left else []
    return [Section(name, texts, pictures=pictures, tables=[table])]


def _picture(name: str, head: str, blocks: str, plane: Plane, of: Sequence[Box]) -> Picture:
    read = len(plane.read(of))
    said = f"A look-up of {plane.lookup} reads {read:,} of {len(of):,} {blocks}."
    shown = boxes.drawn(of)
    if len(shown) < len(of):
        said += f" {len(shown):,} of them are drawn, taken evenly."
    title = f"{len(of):,} {blocks} by {plane.x_name} and {plane.y_name}" + (
        f", {head.lower()}" if head else ""
    )
    return Picture(boxes.picture(f"boxes-{name}", title, said, plane, of), head, said)


def reader_of(rows: Rows, column: str) -> Callable[[str], Any]:
    """What makes values of the texts of a column's bounds: the type that they have in common and in order."""
    ends: list[tuple[int, str]] = []
    for row in rows:
        found = _range(row, column)
        for text, rank in ((found.get("low"), "low_rank"), (found.get("high"), "high_rank")):
            if text is not None:
                ends.append((found.get(rank) or 0, text))
    return reader([text for _, text in sorted(ends)])


def _is(row: dict[str, Any], level: str) -> bool:
    return (row.get("row_group") is None) == (level == "file") and level != "page"


def _range(row: dict[str, Any], column: str) -> dict[str, Any]:
    return next((found for found in row["ranges"] if found["name"] == column), {})


def _boxes(rows: Rows, level: str, names: tuple[str, str], read: Readers) -> list[Box]:
    """The blocks of a level that have bounds of both columns."""
    made = []
    for row in rows:
        if _is(row, level):
            ranges = [_range(row, name) for name in names]
            if all(r.get("low") is not None and r.get("high") is not None for r in ranges):
                x, y = ((value(r["low"]), value(r["high"])) for value, r in zip(read, ranges))
                made.append(Box(x, y, float(row.get("row_count") or 0)))
    return made
