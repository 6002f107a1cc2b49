"""The figures of a demonstration as rows, for the closing table, the result file and the README."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Row

LEVELS = {"files": "files", "row groups": "row_groups", "pages": "pages"}


@dataclass(frozen=True)
class Figure:
    """What look-ups on one column read of one layout, at one level."""

    layout: str
    level: str
    column: str
    blocks: int
    mean_read: float
    share: float
    bound: float

    @property
    def times_bound(self) -> float:
        """1.0 is the least that any layout could read."""
        return self.share / self.bound


def figures(layout: str, row: Row, kind: str, reads: dict[str, dict[str, tuple[float, int]]]) -> list[Figure]:
    """Shares of the result row (``kind`` is now or measured) beside counts by Parquet's own reader."""
    made = []
    for column in row["columns"]:
        name = column["name"].strip("`")
        for level, field in LEVELS.items():
            shares = column[field]
            mean, total = reads[name][level]
            made.append(Figure(layout, level, name, total, mean, shares[kind], shares["bound"]))
    return made


def with_bound_of(rows: list[Figure], others: list[Figure]) -> list[Figure]:
    """The same rows with the bounds of another layout's number of blocks."""
    bounds = {(o.level, o.column): o.bound for o in others}
    return [Figure(**{**asdict(r), "bound": bounds[r.level, r.column]}) for r in rows]


def closing_table(rows: list[Figure]) -> str:
    """One line a level, column and layout."""
    columns = list(dict.fromkeys(r.column for r in rows))
    ordered = sorted(rows, key=lambda r: (list(LEVELS).index(r.level), columns.index(r.column)))
    lines = [("level", "look-up on", "layout", "blocks read", "share", "x the bound")]
    for r in ordered:
        read = f"{r.mean_read:.1f} of {r.blocks}"
        lines.append((r.level, r.column, r.layout, read, f"{r.share:.3f}", f"{r.times_bound:.2f}"))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = [_line(line, widths) for line in lines]
    return "\n".join([text[0], "  ".join("-" * w for w in widths), *text[1:]])


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    left = [c.ljust(w) for c, w in zip(cells[:3], widths)]
    return "  ".join(left + [c.rjust(w) for c, w in zip(cells[3:], widths[3:])])


def as_text(body: dict[str, Any]) -> str:
    """A result file; each list of numbers on one line."""
    text = json.dumps(body, indent=1)
    return re.sub(r"\[[\d,\s]+\]", lambda found: " ".join(found[0].split()), text) + "\n"


def as_json(rows: list[Figure]) -> list[dict[str, Any]]:
    """For the result file: four digits say more than the sample knows."""
    return [{k: round(v, 4) if isinstance(v, float) else v for k, v in asdict(r).items()} for r in rows]
