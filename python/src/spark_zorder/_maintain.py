"""Clusters many tables in one call, the one with the largest gain first, until the time is up."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from ._errors import UsageError, is_conflict, needs_consent, sentence
from ._table import OptimizeBuilder, ZOrderTable
from .view.units import size, things

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
class Wish:
    """What is done with every table. ``options`` are those of its run."""

    options: dict[str, str] = field(default_factory=dict)
    vacuum: bool = False
    dry_run: bool = False


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

    ``#`` begins a comment at the start of a line or after a space. Raises UsageError if it cannot be read.
    """
    try:
        # editors of Windows put a mark before the first line
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"There is no file {path} with names of tables.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is no text in UTF-8: write a name or path on each line.") from None
    lines = (_COMMENT.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def seconds(text: str) -> float:
    """Reads a time such as ``90m``, ``3h`` or ``1h30m``, as the options of a run are read."""
    wanted = text.strip().lower()
    found = sum(float(n) * _UNITS[u] for n, u in _TIME.findall(wanted))
    if not _TIMES.fullmatch(wanted) or found >= _LONGEST:
        raise ValueError(f"A time has its unit, such as 3h, 90m or 30s; it is not {text!r}.")
    return found


def maintain(
    spark: SparkSession,
    tables: Sequence[str],
    wish: Wish,
    max_seconds: float | None,
    report: Report,
    said: Callable[[Exception], str] = sentence,
) -> list[Outcome]:
    """Clusters every table by its own columns, and reports each outcome as soon as it is known.

    Every table has a dry run first. Then what dead runs have left is finished, and the tables with the
    largest gain come next. Tables that are not in trouble are vacuumed at the end, if that is wished. A
    table that fails does not stop the others. No run is begun after the time is up: run it again to
    continue, and finished tables are skipped. Vacuums come all the same, since old files would stay for
    ever where each night fills its time. ``said`` makes a sentence of an error.
    """
    end = float("inf") if max_seconds is None else time.monotonic() + max_seconds
    outcomes: list[Outcome] = []

    def tell(outcome: Outcome) -> None:
        outcomes.append(outcome)
        report(outcome.row())

    def begin(name: str, job: Callable[[str, ZOrderTable, Wish], Outcome]) -> Outcome:
        if time.monotonic() >= end and job is not _vacuum:
            return Outcome(name, "NOT_STARTED", "The time was up. Run it again to continue.")
        try:
            return job(name, ZOrderTable._named(spark, name), wish)
        except Exception as error:
            status = (
                "CONFLICT" if is_conflict(error) else "NEEDS_CONSENT" if needs_consent(error) else "FAILED"
            )
            return Outcome(name, status, said(error))

    worth: list[Outcome] = []
    for name in tables:
        outcome = begin(name, _forecast)
        # only a run itself finishes what a dead one has left
        if outcome.status == "DRY_RUN" or (outcome.status == "CONFLICT" and not wish.dry_run):
            worth.append(outcome)
        else:
            tell(outcome)
    # what a dead run has left comes first: its table may lack a directory
    for planned in sorted(worth, key=lambda o: (o.status == "CONFLICT", o.gain or 0.0), reverse=True):
        tell(planned if wish.dry_run else begin(planned.table, _run))
    if wish.vacuum:
        # a table whose run was not begun may have old files, too
        kept = (o.table for o in outcomes if o.status == "NOT_STARTED" or o.status not in _TROUBLE)
        for name in dict.fromkeys(kept):
            tell(begin(name, _vacuum))
    return outcomes


_TROUBLE = ("FAILED", "CONFLICT", "NEEDS_CONSENT", "NOT_STARTED")


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line that counts the outcomes, those that need somebody first."""
    counts = Counter(outcome.status for outcome in outcomes)
    order = sorted(counts, key=lambda status: (status not in _TROUBLE, status))
    tables = len({outcome.table for outcome in outcomes})
    return f"{things(tables, 'table')}: " + (", ".join(f"{counts[s]} {s}" for s in order) or "none listed")


def _forecast(name: str, table: ZOrderTable, wish: Wish) -> Outcome:
    return _result(name, table.optimize().options(**wish.options).dryRun())


def _run(name: str, table: ZOrderTable, wish: Wish) -> Outcome:
    # a table that another scheduler is working on is skipped
    return _result(name, table.optimize().option("skipIfRunning", True).options(**wish.options))


def _result(name: str, run: OptimizeBuilder) -> Outcome:
    row = run.execute().collect()[0]
    return Outcome(name, row["status"], row["reason"], _gain(row["columns"] or []))


def _vacuum(name: str, table: ZOrderTable, wish: Wish) -> Outcome:
    rows = table.vacuum(dry_run=wish.dry_run).collect()
    deleted = sum(row["files_deleted"] or 0 for row in rows)
    amount = size(sum(row["bytes_deleted"] or 0 for row in rows))
    kept = sum(1 for row in rows if row["status"] == "KEPT")
    would = "would be deleted" if wish.dry_run else "deleted"
    more = f"; {things(kept, 'directory', 'directories')} of old files kept until the retention is over"
    return Outcome(
        name, "VACUUM", f"{things(deleted, 'old file')} of {amount} {would}{more if kept else ''}."
    )


def _gain(columns: Iterable[Row]) -> float | None:
    shares = [(c["files"]["now"], c["files"]["forecast"]) for c in columns]
    known = [(now, ahead) for now, ahead in shares if now is not None and ahead is not None]
    before = sum(now for now, _ in known)
    return None if before == 0 else 1.0 - sum(ahead for _, ahead in known) / before
