"""Result rows as text that people can read, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Row


def as_json(row: Row) -> str:
    """One row as one line of JSON; dates, times and decimals as text."""
    return json.dumps(row.asDict(recursive=True), default=str)


def grid(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of the same keys as a table: numbers to the right, text to the left."""
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


def result(row: Row) -> str:
    """The result row of a clustering run: status and reason, counts, and what is read by whom."""
    fields = row.asDict(recursive=True)
    head = f"{fields.get('status')}: {fields.get('path')}"
    lines = [head + (f" ({fields['reason']})" if fields.get("reason") else "")]
    lines += [f"{name}: {fields[name]}" for name in ("layout_chosen", "run_id") if fields.get(name)]
    metrics = {k: v for k, v in flat(fields.get("metrics") or {}).items() if v is not None}
    if metrics:
        lines += ["", grid([{"metric": k, "value": _cell(v)} for k, v in metrics.items()])]
    for name, title in _SHARES.items():
        lines += _shares(title, fields.get(name) or [])
    return "\n".join(lines)


def advice(rows: Sequence[Row]) -> str:
    """Proposals: the figures of those that have some, and behind each rank its reason and statement."""
    fields = [row.asDict() for row in rows]
    counted = [f for f in fields if f["share_expected"] is not None]
    lines = [grid([_figures(f) for f in counted]), ""] if counted else []
    for f in fields:
        lines.append(f"{f['rank']}. {_proposal(f)}: {f['reason']}")
        if f["statement"]:
            lines.append(f"   {f['statement']}")
    return "\n".join(lines)


def _proposal(fields: dict[str, Any]) -> str:
    return f"{fields['verdict']} {', '.join(fields['columns'])}".rstrip()


def _figures(fields: dict[str, Any]) -> dict[str, Any]:
    shown = {"rank": fields["rank"], "proposal": _proposal(fields)}
    shown["bits"] = ", ".join(f"{b:.1f}" for b in fields["bits"])
    for name in ("now", "expected", "sorted", "bound"):
        shown[name] = fields[f"share_{name}"]
    shown["x bound"] = fields["x_bound"]
    shown["gain"] = fields["gain"]
    shown["loss"] = fields["loss_by_last_column"]
    return shown


_SHARES = {
    "columns": "Share of the table that a point look-up reads:",
    "queries": "Share of the table that the queries of the log read:",
    "others": "Columns that it is not clustered by, share of the files that a point look-up reads:",
    "alternatives": "The layouts that were compared, mean share that is read:",
}


def _shares(title: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """A title and a table without its empty columns; nothing without rows."""
    flats = [flat(row) for row in rows]
    shown = [k for k in flats[0] if any(row.get(k) is not None for row in flats)] if flats else []
    return ["", title, grid([{k: row.get(k) for k in shown} for row in flats])] if flats else []


def flat(fields: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested fields side by side, named ``outer.inner``."""
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
