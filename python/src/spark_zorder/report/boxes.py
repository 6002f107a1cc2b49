"""Draws the section of the page that shows blocks as boxes in the plane of two columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..view.parts import Table
from ..view.readings import LEVELS
from ..view.units import count, percent, things
from . import svg as style
from .sections import Picture, Section
from .texts import middle, short
from .values import Scale, reader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    Rows = Sequence[dict[str, Any]]
    Readers = tuple[Callable[[str], Any], Callable[[str], Any]]
    # of now and before: whether a block without bounds is known to hold nothing but NULL
    Complete = tuple[bool, bool]


def section(now: Rows, before: Rows, partition: str, complete: Complete = (False, False)) -> list[Section]:
    """The section with files as boxes, and row groups folded away. Empty if only one column has bounds.

    If the table has partitions, one of them is drawn, since files of different partitions may overlap.
    ``complete`` says of now and before whether no file lacks statistics. Then a block without bounds holds
    nothing but NULL, and no look-up reads it. Otherwise each look-up has to.
    """
    own, old = ([row for row in rows if (row.get("partition") or "") == partition] for rows in (now, before))
    names = [column["name"] for column in own[0]["ranges"]] if own else []
    if len(names) < 2:
        return []
    x, y = names[:2]
    parts = [part for level in LEVELS for part in _level(level, x, y, own, old, complete)]
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


def _level(level: str, x: str, y: str, now: Rows, before: Rows, complete: Complete) -> list[Section]:
    read = (_reader_of(x, now, before), _reader_of(y, now, before))
    own, old = (_boxes(rows, level, (x, y), read, c) for rows, c in zip((now, before), complete))
    if not any(box.is_placed for box in own):
        return []
    name = LEVELS[level]
    plane = Plane.of(x, y, own, old)
    found = [("Before", old), ("Now", own)] if old else [("", own)]
    pictures = [
        _picture(f"{level}-{i}".replace(" ", "-"), head, level, plane, of)
        for i, (head, of) in enumerate(found)
    ]
    lines = []
    for head, of in found:
        opened = len(plane.read(of))
        lines.append([head or "Now", count(len(of)), count(opened), percent(opened / len(of))])
    table = Table(f"A look-up of {plane.lookup}", ["", name, "read", "share"], lines, (1, 2, 3))
    return [Section(name, pictures=pictures, tables=[table])]


def _picture(name: str, head: str, level: str, plane: Plane, of: Sequence[Box]) -> Picture:
    read, blocks = len(plane.read(of)), LEVELS[level]
    said = f"A look-up of {plane.lookup} reads {read:,} of {len(of):,} {blocks}."
    placed = [box for box in of if box.is_placed]
    if len(placed) < len(of):
        left = things(len(of) - len(placed), level)
        said += f" {left} without bounds of both columns cannot be drawn."
    shown = drawn(placed)
    if len(shown) < len(placed):
        others = "them" if len(placed) == len(of) else "the others"
        said += f" {len(shown):,} of {others} are drawn, taken evenly."
    title = f"{len(of):,} {blocks} by {plane.x_name} and {plane.y_name}" + (
        f", {head.lower()}" if head else ""
    )
    return Picture(picture(f"boxes-{name}", title, said, plane, placed), head, said)


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


def _boxes(rows: Rows, level: str, names: tuple[str, str], read: Readers, complete: bool) -> list[Box]:
    """The blocks of a level, with the bounds that they have."""
    made = []
    for row in rows:
        if _is(row, level):
            ranges = [_range(row, name) for name in names]
            x, y = (_bounds(value, found) for value, found in zip(read, ranges))
            only_nulls = complete and x is None and ranges[0].get("low_rank") is None
            made.append(Box(x, y, float(row.get("row_count") or 0), only_nulls))
    return made


def _bounds(value: Callable[[str], Any], found: dict[str, Any]) -> tuple[Any, Any] | None:
    low, high = found.get("low"), found.get("high")
    return None if low is None or high is None else (value(low), value(high))


# nobody can tell more boxes apart, and a page with more loads slowly
MOST = 2_000
# as a part of the picture, so that a block of one rare value is visible
_LEAST_WIDTH = 0.004
# a longer value is shortened where the look-up is named
_LONGEST = 60
# the look-up of the pictures is at one of these ranks of x
_TRIED = [i / 40 for i in range(3, 38)]


@dataclass(frozen=True)
class Box:
    """The least and greatest value of two columns in one block, and its rows. None is not known."""

    x: tuple[Any, Any] | None
    y: tuple[Any, Any] | None
    rows: float
    # x has no value but NULL
    only_nulls: bool = False

    @property
    def is_placed(self) -> bool:
        """Whether the bounds of both columns are known, so that the box can be drawn."""
        return self.x is not None and self.y is not None

    def may_hold(self, value: Any) -> bool:
        """Whether a look-up of this value of x has to read the block: if its bounds do not exclude it."""
        return not self.only_nulls if self.x is None else bool(self.x[0] <= value <= self.x[1])


@dataclass(frozen=True)
class Plane:
    """Two columns, with scales and a look-up that all pictures of a table share."""

    x_name: str
    y_name: str
    x: Scale
    y: Scale
    # the value of x that is looked up
    at: Any

    @classmethod
    def of(cls, x_name: str, y_name: str, boxes: Sequence[Box], others: Sequence[Box] = ()) -> Plane:
        """Makes the scales from ``boxes``, the present ones: narrow blocks show best where the rows are."""
        x = _scale([(b.x, b.rows) for b in boxes], [b.x for b in others])
        y = _scale([(b.y, b.rows) for b in boxes], [b.y for b in others])
        return cls(x_name, y_name, x, y, _typical(boxes, x))

    @property
    def lookup(self) -> str:
        """The look-up in words, as in ``customer = 4,711``."""
        shown = middle(self.x.kind.whole(self.at), _LONGEST)
        return f"{self.x_name} = '{shown}'" if isinstance(self.at, str) else f"{self.x_name} = {shown}"

    def read(self, boxes: Sequence[Box]) -> list[Box]:
        """The blocks that the look-up has to read."""
        return [b for b in boxes if b.may_hold(self.at)]


def _scale(known: Sequence[tuple[Any, float]], others: Sequence[Any]) -> Scale:
    """The scale of one column from the bounds and rows of blocks; those of some are not known."""
    extents = [(*bounds, rows) for bounds, rows in known if bounds is not None]
    return Scale.of(extents, [v for bounds in others if bounds is not None for v in bounds])


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
        at = plane.x.at(plane.at)
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

    corners = [_corners(plane, b.x, b.y) for b in boxes if b.x and b.y]
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


def _corners(plane: Plane, x: tuple[Any, Any], y: tuple[Any, Any]) -> list[tuple[float, float]]:
    left, right = _wide(plane.x.below(x[0]), plane.x.up_to(x[1]))
    low, high = _wide(plane.y.below(y[0]), plane.y.up_to(y[1]))
    return [(left, low), (right, low), (right, high), (left, high)]


def _wide(low: float, high: float) -> tuple[float, float]:
    missing = max(0.0, _LEAST_WIDTH - (high - low)) / 2
    return low - missing, high + missing


def _typical(boxes: Sequence[Box], x: Scale) -> Any:
    """A value that is in about as many blocks as the mean value, and far from the ends of these blocks."""
    known = [b.x for b in boxes if b.x]
    found = []
    for share in _TRIED:
        value = x.value_at(share)
        read = [(low, high) for low, high in known if low <= value <= high]
        if not read:
            # it lies between two blocks, and the files have no such value
            value = x.nearest(share)
            read = [(low, high) for low, high in known if low <= value <= high]
        found.append((value, len(read), _room(value, read, x), -abs(share - 0.5)))
    mean = sum(count for _, count, _, _ in found) / len(found)
    close = [f for f in found if abs(f[1] - mean) <= max(1.0, 0.1 * mean)] or found
    return max(close, key=lambda f: (f[2], -abs(f[1] - mean), f[3]))[0]


def _room(value: Any, holding: Sequence[tuple[Any, Any]], x: Scale) -> float:
    """The share of rows between a value and the next bound of the blocks that hold it."""
    place = x.at(value)
    if not holding:
        return 0.0
    return min(place - x.at(max(low for low, _ in holding)), x.at(min(high for _, high in holding)) - place)
