"""Result rows as text that people can read, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row


def as_json(row: Row) -> str:
    """One row as one line of JSON. Dates, times and decimals become text."""
    return json.dumps(row.asDict(recursive=True), default=str)


def grid(rows: Sequence[dict[str, Any]]) -> str:
    """Rows with the same keys as a table. Numbers are aligned right, text left."""
    if not rows:
        return "(no rows)"
    names = list(rows[0])
    numeric = {n: all(isinstance(r.get(n), (int, float, type(None))) for r in rows) for n in names}
    cells = [names] + [[_cell(row.get(name)) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    lines = [
        "  ".join(c.rjust(w) if numeric[n] else c.ljust(w) for c, w, n in zip(line, widths, names)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def flat(fields: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Puts nested fields side by side, under names such as ``outer.inner``."""
    out: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            out.update(flat(value, f"{prefix}{name}."))
        else:
            out[f"{prefix}{name}"] = value
    return out


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}"
    return str(value)
