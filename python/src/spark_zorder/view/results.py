"""Turns the results of runs, dry runs, advice and histories into parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._sql import unquoted
from .parts import Part, Said, Statement, Table
from .readings import LEVELS
from .units import UNKNOWN, count, figure, percent, size, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    Fields = dict[str, Any]

# of its bound: what is read is below it, and not by rounding alone
_BEATEN = 0.995
# in the order of time, each with the head of its column
_STATES = {"now": "before", "forecast": "forecast", "measured": "measured", "bound": "bound"}
_METRICS = {
    "numFilesRemoved": ("files replaced", count),
    "numFilesAdded": ("files written", count),
    "targetFiles": ("files planned", count),
    "rows": ("rows", count),
    "inputBytes": ("bytes of input", size),
    "bytesToRead": ("bytes to read", size),
    "bytesToShuffle": ("bytes to shuffle, about", size),
    "localDiskBytes": ("local disk, all executors", size),
}


def run(fields: Fields) -> list[Part]:
    """The parts of a row of ``ZORDER TABLE``: status and reason, what look-ups read, what the run took."""
    head = f"{fields.get('path') or 'the table'}"
    reason = fields.get("reason")
    found: list[Part] = [Said(str(fields.get("status")), f"{head}. {reason}" if reason else head)]
    found += _shares("Share of the table that a look-up of one value reads", "column", fields.get("columns"))
    found += _shares("Share of the table that the queries of the log read", "query", fields.get("queries"))
    others = [
        [
            _name(o),
            *(percent(o["files"].get(s)) for s in _STATES),
            percent(o.get("as_one_more_column")),
            o["verdict"],
        ]
        for o in fields.get("others") or []
    ]
    if others:
        heads = ["column", *_STATES.values(), "as one more column", "it"]
        caption = "Columns that it is not clustered by: share of the files that a look-up reads"
        found.append(Table(caption, heads, others, range(1, 6)).filled)
    layouts = [
        [a["layout"], percent(a["files"]), percent(a["pages"])] for a in fields.get("alternatives") or []
    ]
    if layouts:
        caption = "The layouts that were compared: mean share that is read"
        found.append(Table(caption, ["layout", "files", "pages"], layouts, (1, 2)))
    return found + _took(fields)


def _took(fields: Fields) -> list[Part]:
    """A table of the counts that are not zero. A dry run writes nothing, so some are zero."""
    metrics = fields.get("metrics") or {}
    rows = [[name, show(metrics[key])] for key, (name, show) in _METRICS.items() if metrics.get(key)]
    start, end = metrics.get("startTimeMs"), metrics.get("endTimeMs")
    if start is not None and end is not None:
        rows.append(["seconds", f"{(end - start) / 1000:,.1f}"])
    found: list[Part] = [Table("", ["what the run needs", ""], rows, (1,))] if rows else []
    layout = fields.get("layout_chosen")
    return [*found, Said("Layout", str(layout))] if layout else found


def _shares(caption: str, head: str, rows: Sequence[Fields] | None) -> list[Part]:
    """A table with one line for each level. Unknown levels and states are left out."""
    lines = []
    for row in rows or []:
        for name in LEVELS.values():
            states = row.get(name.replace(" ", "_")) or {}
            before, forecast, measured, bound = (states.get(state) for state in _STATES)
            after = forecast if measured is None else measured
            if after is not None and bound and after < _BEATEN * bound:
                # the bound is one of the mean over the columns, and this column has more than its part
                bound = None
            shares = (before, forecast, measured, bound)
            if any(share is not None for share in shares):
                ratio = times(after / bound) if after is not None and bound else UNKNOWN
                lines.append([_name(row), name, *map(percent, shares), ratio])
    heads = [head, "level", *_STATES.values(), "x bound"]
    return [Table(caption, heads, lines, range(2, 7)).filled] if lines else []


def _name(row: Fields) -> str:
    return unquoted(str(row.get("name") or row.get("query") or ""))


def advice(rows: Sequence[Fields]) -> list[Part]:
    """A table of the proposals with figures, then the sentence and statement of each, the best first."""
    heads = ["rank", "proposal", "bits", "now", "expected", "sorted", "bound", "x bound", "gain", "loss"]
    lines = [
        [
            str(row["rank"]),
            _proposal(row),
            ", ".join(f"{bits:.1f}" for bits in row["bits"] or []),
            *(percent(row[f"share_{name}"]) for name in ("now", "expected", "sorted", "bound")),
            times(row["x_bound"]),
            percent(row["gain"]),
            percent(row["loss_by_last_column"]),
        ]
        for row in rows
        if row["share_expected"] is not None
    ]
    found: list[Part] = []
    for row in rows:
        found.append(Said(f"{row['rank']}. {_proposal(row)}", str(row["reason"])))
        found += [Statement(row["statement"], "")] if row["statement"] else []
    caption = "Share of the table that a query reads"
    return [*([Table(caption, heads, lines, (0, *range(3, 10))).filled] if lines else []), *found]


def history(rows: Sequence[Fields]) -> list[Part]:
    """A table of runs, the newest last: what each did, and what look-ups read after it."""
    heads = [
        "run",
        "what",
        "status",
        "finished",
        "seconds",
        "by",
        "files removed",
        "files added",
        "look-up reads",
        "id",
    ]
    lines = []
    for row in rows:
        after = [share for _, share in measured(row)]
        seconds = (row["finished"] - row["started"]).total_seconds()
        lines.append(
            [
                str(row["run"]),
                str(row["operation"]),
                str(row.get("status") or UNKNOWN),
                f"{row['finished']:%Y-%m-%d %H:%M}",
                f"{seconds:,.1f}",
                ", ".join(row["columns"] or []),
                count(row["files_removed"]),
                count(row["files_added"]),
                percent(sum(after) / len(after) if after else None),
                str(row["run_id"]),
            ]
        )
    note = "Look-ups on the clustering columns, mean share of the files."
    return [Table("", heads, lines, (0, 4, 6, 7, 8), note).filled]


def measured(run: Fields) -> list[tuple[str, float]]:
    """For each clustering column, the share of the files that a look-up read after this run."""
    try:
        columns = json.loads(run.get("report") or "{}").get("columns") or []
    except ValueError:
        return []
    shares = [(_name(c), (c.get("files") or {}).get("measured")) for c in columns]
    return [(name, share) for name, share in shares if share is not None]


def _proposal(row: Fields) -> str:
    return f"{row['verdict']} {', '.join(row['columns'])}".rstrip()


def brief(rows: Sequence[Fields]) -> list[Part]:
    """A table of short rows with their sentences below it. The JSON of full records is left out.

    They are those of ``ZORDER AUDIT``, ``HISTORY``, ``VACUUM`` and ``ZORDER TABLE ... AS ROWS``.
    """
    heads = [head for head in rows[0] if head not in ("record", *_SENTENCES)]
    lines = [[percent(row[h]) if h in _SHARES else _cell(row[h]) for h in heads] for row in rows]
    numeric = [i for i, h in enumerate(heads) if not any(isinstance(row[h], str) for row in rows)]
    found: list[Part] = [Table("", heads, lines, numeric).filled]
    for row in rows:
        what = row.get("verdict") or row.get("status") or ""
        where = row.get("partition") or row.get("path")
        said = f"{where}. {row['reason']}" if where and row.get("reason") else row.get("reason")
        found += [Said(str(what), str(said))] if said else []
        found += [Statement(str(row["statement"]), "")] if row.get("statement") else []
    return found


def explained(rows: Sequence[Fields]) -> list[Part]:
    """A sentence for each scan of a query, then a table of what its filters leave out."""
    found: list[Part] = [Said("", str(row["summary"])) for row in rows if row["summary"]]
    # the number of all files is a column only where it says more than that of the considered ones
    told = all(row["files"] in (None, row["considered"]) for row in rows)
    left = ("summary", "files") if told else ("summary",)
    counted = [{n: row[n] for n in row if n not in left} for row in rows if row["scan"] is not None]
    return found + (plain(counted) if counted else [])


_SENTENCES = ("reason", "statement")
_SHARES = ("now", "before", "forecast", "measured", "bound")


def plain(rows: Sequence[Fields]) -> list[Part]:
    """A table of any other result, with nested fields side by side."""
    flats = [_flat(row) for row in rows]
    if not flats:
        return [Said("", "No rows.")]
    # rows with maps need not have the same keys
    heads = list(dict.fromkeys(head for f in flats for head in f))
    numeric = [
        i for i, h in enumerate(heads) if all(isinstance(f.get(h), (int, float, type(None))) for f in flats)
    ]
    return [Table("", heads, [[_cell(f.get(h)) for h in heads] for f in flats], numeric)]


def _flat(fields: Fields, prefix: str = "") -> Fields:
    """Puts nested fields side by side, under names such as ``outer.inner``."""
    out: Fields = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            out.update(_flat(value, f"{prefix}{name}."))
        else:
            out[f"{prefix}{name}"] = value
    return out


def _cell(value: Any) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(_cell(v) for v in value)
    return str(value)
