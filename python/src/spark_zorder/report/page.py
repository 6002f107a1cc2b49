"""Puts the page together: its sections, and the numbers at the top."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..view import audited
from ..view.lines import visible
from ..view.readings import Audit, dicts, read
from ..view.units import count, percent, size
from . import sections
from .boxes import section as boxes_section

if TYPE_CHECKING:
    from ..view.readings import Rows

GOOD = ("OK",)


@dataclass(frozen=True)
class Tile:
    """One of the few numbers at the top."""

    name: str
    value: str
    more: str = ""


def html(
    audit: Rows,
    before: Rows | None,
    boxes: Rows | None,
    boxes_before: Rows | None,
    queries: Rows | None,
    history: Rows | None,
    table: str | None,
) -> str:
    """The whole page as text."""
    now, was = read(audit, table), None if before is None else read(before, table)
    drawn = now.partitions[0].name if now.partitions else ""
    made = [
        *boxes_section(
            _rows(boxes), _rows(boxes_before), drawn, (is_complete(now, drawn), is_complete(was, drawn))
        ),
        *sections.shares(now, was),
        *sections.depths(now, was),
        *sections.partitions(now),
        *sections.asked(_rows(queries)),
        *sections.history(_rows(history)),
    ]
    text: str = _template().render(
        title=f"Is {now.name} clustered?",
        notes=audited.notes(now.whole),
        subtitle=f"{audited.where(now)}. {time.strftime('%Y-%m-%d %H:%M')}, spark-zorder {__version__}.",
        css=files(__package__).joinpath("page.css").read_text(encoding="utf-8"),
        verdict=now.whole,
        good=now.whole.verdict in GOOD,
        tiles=tiles(now, was),
        sections=made,
        words=sections.WORDS,
    )
    return text


def _rows(rows: Rows | None) -> list[dict[str, Any]]:
    return [] if rows is None else dicts(rows)


def is_complete(audit: Audit | None, partition: str) -> bool:
    """Whether all files of a partition, or of a table without partitions, are known to have statistics."""
    scopes = [] if audit is None else [audit.whole, *audit.partitions]
    return any(s.name == partition and s.fields.get("files_without_statistics") == 0 for s in scopes)


def _template() -> Any:
    import jinja2

    text = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    # names of tables and columns come from users, so everything but our own text is escaped
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=False, finalize=shown
    )
    environment.filters["together"] = together
    return environment.from_string(text)


def shown(value: Any) -> Any:
    """Escapes the characters that change the direction of a line, in all that is not our own markup."""
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def together(text: str | None) -> str:
    """Keeps a number on one line with its percent sign."""
    return (text or "").replace(" %", "\N{NO-BREAK SPACE}%")


def tiles(now: Audit, was: Audit | None) -> list[Tile]:
    """The few numbers at the top of the page."""
    amount = now.whole.fields.get("total_bytes")
    made = [Tile("Files", count(now.whole.files), "" if amount is None else size(amount))]
    for c in now.whole.columns:
        if c.level == "file" and c.share is not None:
            old = was.whole.find(c.level, c.column) if was else None
            more = [f"{percent(old.share)} before"] if old else []
            more += [f"bound {percent(c.bound)}"] if c.bound is not None else []
            made.append(Tile(f"A look-up by {c.column} reads", percent(c.share), ", ".join(more)))
    return made
