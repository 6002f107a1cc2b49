"""Turns an audit into parts: what to do, what look-ups read, how deep files lie, the worst partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parts import Part, Said, Statement, Table
from .readings import UNNAMED
from .units import UNKNOWN, count, percent, size, things, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .readings import Audit, Clustering, Scope

# a page or a terminal shows so many; the rows have all
PARTITIONS = 10
QUERIES = 10
_LONGEST_QUERY = 60


def audit(
    found: Audit,
    before: Audit | None = None,
    queries: Sequence[dict[str, Any]] = (),
    partitions: int = PARTITIONS,
) -> list[Part]:
    """All parts of an audit, the verdict first. If ``before`` is given, its shares are shown beside."""
    made: list[Part] = verdict(found.whole)
    made.append(shares(found, before, where(found)))
    deep = [depth_line(c) for c in found.whole.clusterings if not c.column and c.level == "file" and c.depths]
    made += [Said("", line) for line in deep]
    made += [Said("Note", note) for note in notes(found.whole)]
    made += worst(found, partitions)
    return made + ([asked(queries, QUERIES)] if queries else [])


def verdict(scope: Scope) -> list[Part]:
    """The verdict, its reason and the statement."""
    made: list[Part] = [Said(scope.verdict, str(scope.fields.get("reason") or ""))]
    statement = scope.fields.get("statement")
    return [*made, Statement(str(statement))] if statement else made


def where(found: Audit) -> str:
    """The table that the figures are about."""
    keys = found.whole.fields.get("cluster_by_keys")
    parts = [*([f"by {keys}"] if keys else []), things(found.whole.files, "file")]
    if found.whole.fields.get("total_bytes") is not None:
        parts.append(size(found.whole.fields["total_bytes"]))
    if found.partitions:
        parts.append(things(len(found.partitions), "partition"))
    text = f"{found.name} {', '.join(parts)}"
    return text[0].upper() + text[1:] if found.name == UNNAMED else text


def shares(now: Audit, before: Audit | None, caption: str) -> Table:
    """One line for each column and level: what a look-up and a range read, and the bound."""
    lines = []
    shown = worth_showing(now.whole, before.whole if before else None)
    for c in shown:
        old = before.whole.find(c.level, c.column) if before else None
        lines.append(
            [
                c.column,
                c.blocks,
                count(c.number("total_count")),
                percent(old.share if old else None),
                percent(c.share),
                percent(c.bound),
                times(c.over_bound),
                percent(c.number("range_share")),
                percent(c.number("range_bound")),
                depth(c),
            ]
        )
    heads = ["column", "level", "blocks", "before", "look-up reads", "bound", "x bound"]
    heads += ["1 % range reads", "range bound", "depth"]
    same = len(shown) < len(now.whole.columns)
    note = "Each file has one row group: figures of row groups are those of files." if same else ""
    return Table(caption, heads, lines, range(2, len(heads)), note).filled


def worth_showing(now: Scope, before: Scope | None) -> list[Clustering]:
    """The columns and levels to show. Row groups are left out if each file has one."""
    scopes = [scope for scope in (now, before) if scope]
    pairs = [(scope.find("file"), scope.find("row group")) for scope in scopes]
    same = all(a and b and a.number("total_count") == b.number("total_count") for a, b in pairs)
    return [c for c in now.columns if not (same and c.level == "row group")]


def depth(c: Clustering) -> str:
    """The mean depth, with its error if it is from a sample of blocks."""
    error = c.number("error")
    return count(c.number("average_depth")) + (f" ± {error:.1g}" if error else "")


def depth_line(c: Clustering) -> str:
    """The histogram of depths in one line."""
    name = c.blocks
    counts = ", ".join(f"{n:,} at {label}" for label, n in c.depths if n)
    return f"Depth of {name}: {depth(c)} on average, at most {count(c.number('max_depth'))} ({counts})."


def notes(scope: Scope) -> list[str]:
    """Further notes about the table."""
    fields = scope.fields
    found = [str(note) for note in fields.get("notes") or []]
    missing, cut = fields.get("files_without_statistics"), fields.get("files_with_truncated_statistics")
    if missing:
        found.append(f"{things(missing, 'file')} without statistics of some column are always read.")
    if cut:
        found.append(f"{things(cut, 'file')} may have shortened statistics of long texts.")
    late = fields.get("files_since_last_run")
    if late:
        amount = fields.get("bytes_since_last_run")
        found.append(
            f"{things(late, 'file')} came since the last run" + (f", {size(amount)}." if amount else ".")
        )
    avoidable = fields.get("avoidable_files")
    if avoidable and scope.verdict != "OK":
        amount = size(fields.get("avoidable_bytes"))
        found.append(f"{things(avoidable, 'file')} of {amount} cause four fifths of the unnecessary reads.")
    return found


def worst(found: Audit, most: int) -> list[Part]:
    """The partitions, those with the most avoidable reads first."""
    if not found.partitions:
        return []
    shown = found.partitions[:most]
    rest = len(found.partitions) - len(shown)
    note = f"and {things(rest, 'more partition')}, none of them worse" if rest else ""
    heads = ["partition", "files", "bytes", "look-up reads", "bound", "verdict"]
    return [Table("The worst partitions first", heads, [_line(s) for s in shown], range(1, 5), note).filled]


def _line(scope: Scope) -> list[str]:
    joint = scope.find("file")
    return [
        scope.name,
        count(scope.files),
        size(scope.fields.get("total_bytes")),
        percent(joint.share if joint else None),
        percent(joint.bound if joint else None),
        scope.verdict,
    ]


def asked(queries: Sequence[dict[str, Any]], most: int) -> Table:
    """The queries of a log, the worst first."""
    lines: list[list[str]] = []
    everything = sum(q.get("weight") or 0 for q in queries)
    for q in queries[:most]:
        share, bound = q.get("share"), q.get("bound")
        ratio = times(share / bound) if share is not None and bound else UNKNOWN
        text = str(q.get("query") or "")
        shown = text if len(text) <= _LONGEST_QUERY else text[: _LONGEST_QUERY - 3] + "..."
        alert = "ALERT" if q.get("alert") else ""
        weight = (q.get("weight") or 0) / everything if everything else None
        lines.append(
            [str(len(lines) + 1), shown, percent(weight), percent(share), percent(bound), ratio, alert]
        )
    rest = len(queries) - len(lines)
    note = f"and {things(rest, 'more query', 'more queries')}, none of them worse" if rest > 0 else ""
    heads = ["", "query", "of the log", "reads", "bound", "x bound", ""]
    return Table("The worst queries first", heads, lines, (0, *range(2, 6)), note).filled
