"""The parts of a result, and how they become plain text or a fragment of HTML."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Union

from .lines import columns, visible, width_of, wrapped

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


@dataclass(frozen=True)
class Said:
    """A sentence after a word such as a verdict."""

    word: str
    text: str


@dataclass(frozen=True)
class Statement:
    """A statement to run."""

    sql: str
    intro: str = "Run this first:"


@dataclass(frozen=True)
class Table:
    """A table of texts under their heads. ``numeric`` are the numbers of columns that are aligned right."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: Collection[int] = field(default=())
    note: str = ""

    @property
    def filled(self) -> Table:
        """The table without empty columns. Without rows it keeps them all."""
        if not self.rows:
            return self
        kept = [i for i, _ in enumerate(self.heads) if any(row[i] not in ("", "-") for row in self.rows)]
        rows = [[row[i] for i in kept] for row in self.rows]
        numeric = [at for at, i in enumerate(kept) if i in self.numeric]
        return Table(self.caption, [self.heads[i] for i in kept], rows, numeric, self.note)


Part = Union[Said, Statement, Table]


def as_text(parts: Sequence[Part], width: int | None = None) -> str:
    """The parts as text, with an empty line between them. Only sentences are broken at the width.

    Without a width it is 100, or that of the terminal if it is narrower.
    """
    found = columns() if width is None else width
    return "\n\n".join(_text(part, found) for part in parts)


def _text(part: Part, width: int) -> str:
    if isinstance(part, Said):
        return wrapped(f"{part.word}: {part.text}" if part.word else part.text, width)
    if isinstance(part, Statement):
        return "\n".join([*([part.intro] if part.intro else []), f"    {visible(part.sql)}"])
    heads, *rows = ([visible(cell) for cell in line] for line in (part.heads, *part.rows))
    lines = [heads, *rows]
    widths = [max(width_of(line[i]) for line in lines) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        placed = []
        for i, (cell, width) in enumerate(zip(cells, widths)):
            room = " " * (width - width_of(cell))
            placed.append(room + cell if i in part.numeric else cell + room)
        return "  ".join(placed).rstrip()

    table = [line(heads), "  ".join("-" * w for w in widths), *map(line, rows)]
    caption, note = ([visible(text)] if text else [] for text in (part.caption, part.note))
    return "\n".join(caption + table + note)


def as_html(parts: Sequence[Part]) -> str:
    """The parts as HTML that a notebook shows in its own colours and fonts, light or dark."""
    return f"<div>{''.join(_html(part) for part in parts)}</div>"


_CELL = "padding:0.2em 0.8em 0.2em 0;border-bottom:1px solid rgba(128,128,128,0.35);"
_SIDE = ("text-align:left;", "text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;")


def _escaped(text: str) -> str:
    """The text as HTML. A name cannot change the direction of what stands beside it."""
    return escape(visible(text))


def _html(part: Part) -> str:
    if isinstance(part, Said):
        word = f"<b>{_escaped(part.word)}</b>: " if part.word else ""
        return f"<p>{word}{_escaped(part.text)}</p>"
    if isinstance(part, Statement):
        intro = f"<p>{_escaped(part.intro)}</p>" if part.intro else ""
        return f'{intro}<pre style="white-space:pre-wrap">{_escaped(part.sql)}</pre>'

    def cells(kind: str, texts: Sequence[str]) -> str:
        made = [
            f'<{kind} style="{_CELL}{_SIDE[i in part.numeric]}">{_escaped(text)}</{kind}>'
            for i, text in enumerate(texts)
        ]
        return f"<tr>{''.join(made)}</tr>"

    body = "".join(cells("td", row) for row in part.rows)
    style = "text-align:left;white-space:normal"
    caption = f'<caption style="{style}">{_escaped(part.caption)}</caption>' if part.caption else ""
    note = f"<p>{_escaped(part.note)}</p>" if part.note else ""
    table = f"<table>{caption}<thead>{cells('th', part.heads)}</thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{table}</div>{note}'
