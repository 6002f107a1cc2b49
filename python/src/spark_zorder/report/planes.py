"""The section of the page that shows blocks as boxes in the plane of two columns, before and now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..view.parts import Table
from ..view.readings import LEVELS
from ..view.units import count, percent, things
from . import boxes
from .boxes import Box, Plane
from .sections import Picture, Section

if TYPE_CHECKING:
    from collections.abc import Sequence

    Rows = Sequence[dict[str, Any]]


def section(now: Rows, before: Rows) -> list[Section]:
    """Files as boxes, and row groups folded away; nothing where fewer than two columns have bounds."""
    names = _columns(now)
    if len(names) < 2:
        return []
    x, y = names[:2]
    made = [_level(level, x, y, now, before) for level in ("file", "row group")]
    found = [part for part in made if part]
    if not found:
        return []
    first, *rest = found
    folds = [
        Section(f"The same of {part.title}", part.texts, part.keys, part.pictures, part.tables)
        for part in rest
    ]
    keys = [("", "read by the look-up"), ("rest", "left out"), ("bound", "the value that is looked up")]
    texts = [
        f"Each box is a file: as wide as its values of {x}, as high as its values of {y}. A tenth of the "
        "width holds a tenth of the rows. Small boxes that do not overlap are good.",
        *first.texts,
    ]
    return [Section("Where the files lie", texts, keys, first.pictures, first.tables, folds)]


def _level(level: str, x: str, y: str, now: Rows, before: Rows) -> Section | None:
    own, old = _boxes(now, level, x, y), _boxes(before, level, x, y)
    if not own:
        return None
    name = LEVELS[level]
    plane = Plane.of(x, y, own, old)
    found = [("Before", old), ("Now", own)] if old else [("", own)]
    pictures = [
        _picture(f"{level.replace(' ', '-')}-{i}", head, name, plane, of)
        for i, (head, of) in enumerate(found)
    ]
    lines = [
        [head or "now", count(len(of)), count(len(plane.read(of))), percent(len(plane.read(of)) / len(of))]
        for head, of in found
    ]
    table = Table(f"A look-up of {plane.lookup}", ["", name, "read", "share"], lines, (1, 2, 3))
    left = sum(1 for row in now if row.get("level") == level) - len(own)
    texts = [f"{things(left, name[:-1])} without bounds of both columns cannot be drawn."] if left else []
    return Section(name, texts, pictures=pictures, tables=[table])


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


def _columns(rows: Rows) -> list[str]:
    """The columns that blocks have bounds of, in the order of the first block."""
    return [c["name"] for c in rows[0]["columns"]] if rows else []


def _boxes(rows: Rows, level: str, x: str, y: str) -> list[Box]:
    """The blocks of a level that have bounds of both columns."""
    found = []
    for row in rows:
        if row.get("level") != level:
            continue
        known = {c["name"]: (c["min"], c["max"]) for c in row["columns"]}
        ends = (known.get(x, (None, None)), known.get(y, (None, None)))
        if None not in ends[0] and None not in ends[1]:
            found.append(Box(*ends, float(row.get("rows") or 0)))
    return found
