"""What clustering runs have left beside a table: ``_zorder/runs/<n>.json``. It may be gone at any time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .listing import Listing
    from .places import Entry


class State(NamedTuple):
    """What is left of the newest run that stands, and of the others.

    ``columns`` as SQL, ``curve``, and ``started_ms`` are of the newest. ``ours`` are the files that standing
    runs wrote, by their paths, and ``laid_out`` the partitions with a layout by the same columns.
    """

    columns: tuple[str, ...]
    curve: str
    started_ms: int
    ours: frozenset[str]
    laid_out: frozenset[str]

    def since(self, files: Sequence[Entry]) -> list[Entry]:
        """Those that came after the newest run."""
        return [
            f for f in files if (f.modified == 0 or f.modified > self.started_ms) and f.rel not in self.ours
        ]


def of(found: Listing) -> State | None:
    """None for a table that was never clustered."""
    texts = (_text(found, rel) for rel in found.records)
    records = [r for r in map(_record, texts) if r is not None]

    def ids(operation: str) -> set[Any]:
        return {r["runId"] for r in records if r.get("operation") == operation}

    undone = ids("ROLLBACK") & ids("OPTIMIZE")
    standing = [r for r in records if r["runId"] not in undone]
    runs = [r for r in standing if r.get("operation") == "OPTIMIZE"]
    if not runs:
        return None
    newest = runs[-1]
    ours = frozenset(file["path"] for r in standing for file in r.get("files") or ())
    columns = tuple(newest.get("columns") or ())
    same = (r for r in standing if tuple(r.get("columns") or ()) == columns)
    laid_out = frozenset(partition for r in same for partition in r.get("layoutIds") or ())
    return State(columns, str(newest.get("curve", "")), int(newest.get("startedMs", 0)), ours, laid_out)


def _text(found: Listing, rel: str) -> str:
    try:
        return found.place.text_of(rel)
    except OSError:
        # a run that is rolled back or removed meanwhile
        return ""


def _record(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "number" in found and found.get("runId") else None
