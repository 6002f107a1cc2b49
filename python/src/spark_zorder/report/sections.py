"""Makes the sections of the page, except the pictures of boxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..view import audited
from ..view.parts import Table
from ..view.results import history as table_of
from ..view.results import measured
from ..view.units import count, percent
from . import charts
from .texts import middle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..view.readings import Audit

_QUERIES = 10
_PARTITIONS = 15
_RUNS = 30
# a name of so many characters fits beside a bar, with the level after it
_LONGEST = 15

WORDS = (
    (
        "Share read",
        "Take any row, look its value up by one column, and count the rows in the blocks that may hold the "
        "value; the mean over all rows, as a share of the table. 100 % means that every look-up reads all.",
    ),
    (
        "Bound",
        "The least share that any layout of as many blocks could reach, for all of the columns together.",
    ),
    (
        "Blocks",
        "Files, the row groups inside them, and the pages inside these. A query leaves out blocks whose "
        "least and greatest value say that no row can match.",
    ),
    ("Depth", "How many blocks lie one on another: 1 is the best, and the number of all blocks the worst."),
)


@dataclass(frozen=True)
class Picture:
    """A chart with its heading and caption."""

    svg: str
    heading: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page, or one that is folded away inside another."""

    title: str
    texts: Sequence[str] = ()
    keys: Sequence[tuple[str, str]] = ()
    pictures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    folds: Sequence[Section] = ()


def shares(now: Audit, was: Audit | None) -> list[Section]:
    """The section about what look-ups read, by column and level."""
    bars, said = [], []
    for c in audited.worth_showing(now.whole, was.whole if was else None):
        old = was.whole.find(c.level, c.column) if was else None
        label = f"{middle(c.column, _LONGEST)} · {c.blocks}"
        bars.append(charts.Bar(label, c.share, c.bound, old.share if old else None))
        said.append(f"{c.column} · {c.blocks} {percent(c.share)}, bound {percent(c.bound)}")
    if not bars:
        return []
    title = "Share of the table that a look-up of one value reads"
    text = "Shorter is better. A bar that ends at its mark is as short as any layout could make it."
    return [
        Section(
            "What a look-up reads",
            [text],
            [*([("before", "before")] if was else []), ("", "now"), ("bound", "bound")],
            [Picture(charts.shares("shares", title, "; ".join(said), bars))],
            [audited.shares(now, was, "The same in numbers")],
        )
    ]


def depths(now: Audit, was: Audit | None) -> list[Section]:
    """The section about how many blocks lie over one another, by all columns together."""
    pictures, lines = [], []
    for i, c in enumerate(c for c in now.whole.clusterings if not c.column and c.depths):
        old = was.whole.find(c.level) if was else None
        said = audited.depth_line(c) + (f" Before: {audited.depth_line(old)}" if old else "")
        before = old.depths if old else []
        svg = charts.depths(f"depth-{i}", f"Depth of {c.blocks}", said, c.blocks, c.depths, before)
        caption = f"{audited.depth(c)} on average" + (f", {audited.depth(old)} before" if old else "")
        pictures.append(Picture(svg, c.blocks.capitalize(), caption))
        counts, past = dict(c.depths), dict(before)
        for label in charts.in_order([*counts, *past]):
            lines.append(
                [c.blocks, label, count(past.get(label, 0)) if old else "", count(counts.get(label, 0))]
            )
    if not pictures:
        return []
    first, *rest = pictures
    table = Table("Blocks by depth", ["level", "depth", "before", "now"], lines, (1, 2, 3)).filled
    text = (
        "The depth of a block is how many lie one on another there, itself included. Further left is better."
    )
    keys = [("before", "before"), ("", "now")] if was else []
    folds = [Section("The same of the other levels, and in numbers", pictures=rest, tables=[table])]
    return [Section("How deep files lie", [text], keys, [first], folds=folds)]


def partitions(now: Audit) -> list[Section]:
    """The section about the partitions, the worst first."""
    tables = [t for t in audited.worst(now, _PARTITIONS) if isinstance(t, Table)]
    return [Section("Which partitions are worst", tables=tables)] if tables else []


def asked(rows: Sequence[dict[str, Any]]) -> list[Section]:
    """The section about the queries of a log, the worst first."""
    if not rows:
        return []
    shown = list(rows)[:_QUERIES]
    bars = [
        charts.Bar(f"{i + 1}. {row.get('query') or ''}", row.get("share"), row.get("bound"))
        for i, row in enumerate(shown)
    ]
    title = "Share of the table that the worst queries read"
    said = "; ".join(f"{b.label}: {percent(b.share)}, bound {percent(b.bound)}" for b in bars)
    text = "The bound of a query is the least that a layout made for its columns alone could let it read."
    return [
        Section(
            "Which queries suffer",
            [text],
            [("", "now"), ("bound", "bound")],
            [Picture(charts.shares("queries", title, said, bars))],
            [audited.asked(rows, _QUERIES)],
        )
    ]


def history(rows: Sequence[dict[str, Any]]) -> list[Section]:
    """The section about runs, and what look-ups read after each."""
    if not rows:
        return []
    shown = list(rows)[-_RUNS:]
    runs = [dict(measured(row)) for row in shown]
    names = list(dict.fromkeys(name for run in runs for name in run))
    lines: dict[str, list[float | None]] = {name: [run.get(name) for run in runs] for name in names}
    pictures = []
    if len(shown) > 1 and names:
        title = "Share of the files that a look-up read after each run"
        said = "; ".join(f"{name}: {', '.join(percent(v) for v in values)}" for name, values in lines.items())
        numbers = [str(row["run"]) for row in shown]
        pictures.append(Picture(charts.trend("trend", title, said, lines, numbers), title))
    tables: list[Table] = [part for part in table_of(shown) if isinstance(part, Table)]
    text = [f"The last {_RUNS} of {len(rows):,} runs."] if len(rows) > _RUNS else []
    title = "What runs have done"
    if len(shown) <= _QUERIES:
        return [Section(title, text, pictures=pictures, tables=tables)]
    return [Section(title, text, pictures=pictures, folds=[Section("The runs in numbers", tables=tables)])]
