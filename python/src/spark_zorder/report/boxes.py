"""Draws the section of the page that shows blocks as boxes in the plane of two columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..view.parts import Table
from ..view.readings import LEVELS
from ..view.units import count, percent, things
from . import svg as style
from .sections import Picture, Section
from .values import Scale, reader, short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    Rows = Sequence[dict[str, Any]]
    Readers = tuple[Callable[[str], Any], Callable[[str], Any]]


def section(now: Rows, before: Rows, partition: str) -> list[Section]:
    """The section with files as boxes, and row groups folded away. Empty if only one column has bounds.

    If the table has partitions, one of them is drawn, since files of different partitions may overlap.
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
    read = (_reader_of(x, now, before), _reader_of(y, now, before))
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
    shown = drawn(of)
    if len(shown) < len(of):
        said += f" {len(shown):,} of them are drawn, taken evenly."
    title = f"{len(of):,} {blocks} by {plane.x_name} and {plane.y_name}" + (
        f", {head.lower()}" if head else ""
    )
    return Picture(picture(f"boxes-{name}", title, said, plane, of), head, said)


def _reader_of(column: str, *times: Rows) -> Callable[[str], Any]:
    """The function that reads the texts of a column's bounds, by the type that fits all of them in order."""
    # ranks are those of one time, and tell nothing about the bounds of another
    return reader(*(_ends(rows, column) for rows in times))


def _ends(rows: Rows, column: str) -> list[str]:
    """The texts of a column's bounds, in the order of their values."""
    ends: list[tuple[int, str]] = []
    for row in rows:
        found = _range(row, column)
        for text, rank in ((found.get("low"), "low_rank"), (found.get("high"), "high_rank")):
            if text is not None:
                ends.append((found.get(rank) or 0, text))
    return [text for _, text in sorted(ends)]


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


# nobody can tell more boxes apart, and a page with more loads slowly
MOST = 2_000
# as a part of the picture, so that a block of one rare value is visible
_LEAST_WIDTH = 0.004
# the look-up of the pictures is at one of these ranks of x
_TRIED = [i / 40 for i in range(3, 38)]


@dataclass(frozen=True)
class Box:
    """The least and greatest value of two columns in one block, and its rows."""

    x: tuple[Any, Any]
    y: tuple[Any, Any]
    rows: float


@dataclass(frozen=True)
class Plane:
    """Two columns, with scales and a look-up that all pictures of a table share."""

    x_name: str
    y_name: str
    x: Scale
    y: Scale
    # the number of the value of x that is looked up
    at: float

    @classmethod
    def of(cls, x_name: str, y_name: str, boxes: Sequence[Box], others: Sequence[Box] = ()) -> Plane:
        """Makes the scales from ``boxes``, the present ones: narrow blocks show best where the rows are."""
        x = Scale.of([(*b.x, b.rows) for b in boxes], [v for b in others for v in b.x])
        y = Scale.of([(*b.y, b.rows) for b in boxes], [v for b in others for v in b.y])
        return cls(x_name, y_name, x, y, _typical(boxes, x))

    @property
    def lookup(self) -> str:
        """The look-up in words, as in ``customer = 4,711``."""
        value = self.x.kind.value
        shown = f"= {self.x.kind.text(value(self.at))}" if value else "= a value"
        return f"{self.x_name} {shown}"

    def read(self, boxes: Sequence[Box]) -> list[Box]:
        """The blocks that the look-up has to read."""
        return _holding(boxes, self.at, self.x)


def drawn(boxes: Sequence[Box]) -> list[Box]:
    """At most ``MOST`` boxes, taken evenly in the order that they come in."""
    if len(boxes) <= MOST:
        return list(boxes)
    step = len(boxes) / MOST
    return [boxes[int(i * step)] for i in range(MOST)]


def picture(name: str, title: str, description: str, plane: Plane, boxes: Sequence[Box]) -> str:
    """Draws boxes over ranks: a tenth of the picture's width holds a tenth of the rows."""

    def draw(axes: Axes) -> None:
        shown = drawn(boxes)
        read = {id(b) for b in plane.read(shown)}
        _fill(axes, plane, [b for b in shown if id(b) not in read], style.MUTED, 0.07, len(shown))
        _fill(axes, plane, [b for b in shown if id(b) in read], style.NOW, 0.26, len(shown))
        at = plane.x.share(plane.at)
        axes.plot([at, at], [-0.01, 1.01], color=style.INK, linewidth=1.3, dashes=(4, 2))
        axes.set(xlim=(-0.012, 1.012), ylim=(-0.012, 1.012))
        axes.set_xlabel(short(plane.x_name, 40))
        axes.set_ylabel(short(plane.y_name, 40))
        for axis, scale, most in ((axes.xaxis, plane.x, 4), (axes.yaxis, plane.y, 5)):
            ticks = scale.ticks(most, along=axis is axes.xaxis)
            axis.set_ticks([place for place, _ in ticks], [text for _, text in ticks])

    return style.svg(name, title, description, style.WIDTH * 0.84, draw)


def _fill(axes: Axes, plane: Plane, boxes: Sequence[Box], colour: str, strength: float, count: int) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    corners = [_corners(plane, b) for b in boxes]
    if not corners:
        return
    # all boxes together get one colour, and each box adds a little, so that overlaps are darker
    every = Path.make_compound_path(*(Path([*c, c[0]], closed=True) for c in corners))
    axes.add_patch(PathPatch(every, facecolor=colour, edgecolor="none", alpha=strength))
    layer = to_rgba(colour, 0.9 / max(count, 18))
    width = 0.8 if count <= 300 else 0.3
    axes.add_collection(
        PolyCollection(corners, facecolor=layer, edgecolor=to_rgba(colour, 0.75), linewidth=width)
    )


def _corners(plane: Plane, box: Box) -> list[tuple[float, float]]:
    left, right = _wide(plane.x.below(box.x[0]), plane.x.up_to(box.x[1]))
    low, high = _wide(plane.y.below(box.y[0]), plane.y.up_to(box.y[1]))
    return [(left, low), (right, low), (right, high), (left, high)]


def _wide(low: float, high: float) -> tuple[float, float]:
    missing = max(0.0, _LEAST_WIDTH - (high - low)) / 2
    return low - missing, high + missing


def _holding(boxes: Sequence[Box], at: float, scale: Scale) -> list[Box]:
    number = scale.kind.number
    return [b for b in boxes if number(b.x[0]) <= at <= number(b.x[1])]


def _typical(boxes: Sequence[Box], x: Scale) -> float:
    """A value that is in about as many blocks as the mean value, and far from the ends of these blocks."""
    found = []
    for share in _TRIED:
        number = x.number_at(share)
        known = x.kind.value
        number = x.kind.number(known(number)) if known else number
        read, place = _holding(boxes, number, x), x.share(number)
        edge = min((abs(x.share(x.kind.number(v)) - place) for b in read for v in b.x), default=0.0)
        found.append((number, len(read), edge))
    mean = sum(count for _, count, _ in found) / len(found)
    close = [f for f in found if abs(f[1] - mean) <= max(1.0, 0.1 * mean)] or found
    return max(close, key=lambda f: f[2])[0]
