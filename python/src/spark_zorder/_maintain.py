"""Clusters many tables in one call, the one with the largest gain first, until the time is up."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from ._errors import is_conflict, needs_consent, sentence
from ._table import ZOrderTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import Row, SparkSession

    Report = Callable[[dict[str, Any]], None]

_UNITS = {"ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|min|s|m|h|d)\s*")
_TIMES = re.compile(rf"(?:{_TIME.pattern})+")
_LONGEST = 2**63 / 1000
# a path may contain the sign
_COMMENT = re.compile(r"(?:^|\s)#.*")


@dataclass(frozen=True)
class Outcome:
    """The result for one table. ``gain`` is the forecast decrease of the mean share of files read."""

    table: str
    status: str
    reason: str
    gain: float | None = None

    def row(self) -> dict[str, Any]:
        """The outcome as a row to print."""
        return {"table": self.table, "status": self.status, "gain": self.gain, "reason": self.reason}


def tables_in(path: str) -> list[str]:
    """The tables of a file: a name or a path with a slash on each line.

    ``#`` begins a comment at the start of a line or after a space.
    """
    lines = (_COMMENT.sub("", line).strip() for line in Path(path).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def seconds(text: str) -> float:
    """Reads a time such as ``90m``, ``3h`` or ``1h30m``, as the options of a run are read."""
    wanted = text.strip().lower()
    found = sum(float(n) * _UNITS[u] for n, u in _TIME.findall(wanted))
    if not _TIMES.fullmatch(wanted) or found >= _LONGEST:
        raise ValueError(f"A time has its unit, such as 3h, 90m or 30s; it is not {text!r}.")
    return found


def maintain(
    spark: SparkSession, tables: Sequence[str], max_seconds: float | None, report: Report
) -> list[Outcome]:
    """Clusters every table by its own columns, and reports each outcome as soon as it is known.

    Every table has a dry run first. The tables with the largest gain are rewritten first. A table that fails
    does not stop the others. No table is begun after the time is up. Run it again to continue: finished
    tables are skipped.
    """
    end = float("inf") if max_seconds is None else time.monotonic() + max_seconds
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        report(outcome.row())

    worth: list[Outcome] = []
    for name in tables:
        if time.monotonic() >= end:
            tell(_late(name))
            continue
        outcome = _run(spark, name, dry_run=True)
        if outcome.status == "DRY_RUN":
            worth.append(outcome)
        else:
            tell(outcome)
    for planned in sorted(worth, key=lambda o: o.gain or 0.0, reverse=True):
        tell(_late(planned.table) if time.monotonic() >= end else _run(spark, planned.table, dry_run=False))
    return outcomes


def _late(table: str) -> Outcome:
    return Outcome(table, "NOT_STARTED", "The time was up. Run it again to continue.")


def _run(spark: SparkSession, name: str, dry_run: bool) -> Outcome:
    try:
        builder = ZOrderTable._named(spark, name).optimize()
        # a table that another scheduler is working on is skipped
        chosen = builder.dryRun() if dry_run else builder.option("skipIfRunning", True)
        row = chosen.execute().collect()[0]
        return Outcome(name, row["status"], row["reason"], _gain(row["columns"] or []))
    except Exception as error:
        status = "CONFLICT" if is_conflict(error) else "NEEDS_CONSENT" if needs_consent(error) else "FAILED"
        return Outcome(name, status, sentence(error))


def _gain(columns: Iterable[Row]) -> float | None:
    shares = [(c["files"]["now"], c["files"]["forecast"]) for c in columns]
    known = [(now, ahead) for now, ahead in shares if now is not None and ahead is not None]
    before = sum(now for now, _ in known)
    return None if before == 0 else 1.0 - sum(ahead for _, ahead in known) / before
