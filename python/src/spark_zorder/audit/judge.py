"""Decides the verdict on a partition and its statement (docs/spec.md, section 8), in the JVM's words."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from .. import _sql
from .figures.level import rounded
from .files.table import partition_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .figures.scope import Scope
    from .files.table import Column, Table


OK, RECLUSTER, USE_SORT, NO_STATISTICS = "OK", "RECLUSTER", "USE SORT", "NO STATISTICS"
# if partitions differ, the first of these is the verdict on the table
SEVERITY = (NO_STATISTICS, USE_SORT, RECLUSTER, OK)
_FILES_FOR_INDEX = 100
# fewer files cannot be cut by two columns
_FEWEST_WORST = 4


class Cure(NamedTuple):
    """The statement to run: a clustering by ``columns``, or an index if there are none.

    ``curve`` is the curve to name, if any. ``options`` are names and values as SQL. ``full`` says that the
    run must take files that are in their places already. ``worst`` says that an option restricts the run to
    the avoidable files.
    """

    columns: tuple[str, ...] = ()
    curve: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    full: bool = False
    worst: bool = False


class Judgement(NamedTuple):
    """A verdict, its reason in one or two sentences, and the statement to run, if one helps."""

    verdict: str
    reason: str
    cure: Cure | None


class Judge:
    """Judges partitions by the audited columns, whose names are given as SQL.

    ``may_index`` says that an index would save queries from reading the footers. ``total_bytes`` are the
    bytes of all partitions.
    """

    def __init__(
        self, columns: Sequence[Column], names: Sequence[str], may_index: bool, total_bytes: int
    ) -> None:
        """Only stores what is given."""
        self._bytes = total_bytes
        self._columns = columns
        self._names = tuple(names)
        self._all = ", ".join(names)
        self._may_index = may_index

    def of(self, scope: Scope, laid_out: bool, unchanged: bool) -> Judgement:
        """Judges one partition.

        ``laid_out`` says that a run by the same columns has laid it out. ``unchanged`` says that no file came
        after the last run.
        """
        if len(scope.files) < 2:
            return Judgement(OK, f"{_count(len(scope.files), 'file')}: nothing to skip.", None)
        settled = laid_out and unchanged
        worst = not laid_out and _is_worst(scope)
        return self._asked(
            scope, self._no_statistics(scope, settled) or self._by_reads(scope, settled, worst)
        )

    def _asked(self, scope: Scope, found: Judgement) -> Judgement:
        """Adds the number of files to the statement if a run would not begin without it."""
        cure = found.cure
        if cure is None or not cure.columns:
            return found
        taken = scope.avoidable if cure.worst else scope.files
        size = sum(f.file.length for f in taken)
        if not _leaves_alone(size, self._bytes, sum(f.whole.rows for f in taken)):
            return found
        files = ("fileCount", str(len(taken)))
        more = f" It is small ({_bytes(size)}): a run leaves it alone without fileCount."
        return Judgement(found.verdict, found.reason + more, cure._replace(options=(*cure.options, files)))

    def _no_statistics(self, scope: Scope, settled: bool) -> Judgement | None:
        for i, name in enumerate(self._names):
            unknown = scope.unknown_share(i)
            if unknown <= 0.5:
                continue
            kind = self._columns[i].type
            why = f"{_percent(unknown)} of the rows are in files without min and max of {name}"
            if kind is None:
                reason = (
                    f"{why}, and files never have such of its type {self._columns[i].stored}: leave it out."
                )
                return Judgement(NO_STATISTICS, reason, None)
            # Spark writes timestamps as INT96 by default, and INT96 has no bounds
            options = (("timestampType", "'micros'"),) if kind.name == "timestamp" else ()
            reason = f"{why}, so that every query reads them; a rewrite gives them statistics."
            return Judgement(NO_STATISTICS, reason, Cure(self._names, None, options, not options and settled))
        return None

    def _by_reads(self, scope: Scope, settled: bool, worst: bool) -> Judgement:
        level = scope.of_files
        useful = [i for i, distinct in enumerate(level.distinct) if distinct > 1]
        if not useful:
            return Judgement(OK, f"All files have the same single value of {self._all}.", None)
        options = (("worstFiles", "0.8"),) if worst else ()
        if len(useful) > 1:
            now, least = level.joint.reads.look_up, level.joint.reads.look_up_bound
            if not _needs(now, least):
                return self._well(scope, now, least)
            reason = self._reads(now, least, f"a layout by {self._all}") + _avoidable(scope, worst)
            return Judgement(RECLUSTER, reason, Cure(self._names, None, options, settled, worst))
        only = useful[0]
        now, least = level.columns[only].reads.look_up, scope.bound_of_sort(only)
        if not _needs(now, least):
            return self._well(scope, now, least)
        name = self._names[only]
        others = "" if len(self._names) == 1 else " The other columns have one value and cannot help."
        reason = self._reads(now, least, f"a sort by {name}") + others
        reason += _avoidable(scope, worst) if worst else ""
        return Judgement(USE_SORT, reason, Cure((name,), "lexical", options, settled, worst))

    def _reads(self, now: float, least: float, layout: str) -> str:
        return (
            f"Looking up one value of {self._all} reads {_percent(now)} of the rows on average, "
            f"and {layout} can bring it to {_percent(least)}."
        )

    def _well(self, scope: Scope, now: float, least: float) -> Judgement:
        good = (
            f"Looking up one value of {self._all} reads {_percent(now)} of the rows on average; "
            f"the least possible is about {_percent(least)}."
        )
        if not self._may_index or len(scope.files) < _FILES_FOR_INDEX:
            return Judgement(OK, good, None)
        index = f" An index spares each query the footers of the {len(scope.files)} files."
        return Judgement(OK, good + index, Cure())


def _needs(now: float, least: float) -> bool:
    """Whether the share is so far above the bound that a run pays."""
    return rounded(now) > 1.5 * rounded(least) and rounded(now) - rounded(least) >= 0.05


def _is_worst(scope: Scope) -> bool:
    """Whether to take only the avoidable files: a few files among many that are in order."""
    size = sum(f.file.length for f in scope.avoidable)
    return len(scope.avoidable) >= _FEWEST_WORST and 2 * size <= scope.bytes


def _avoidable(scope: Scope, worst: bool) -> str:
    files = _count(len(scope.avoidable), "file")
    size = _bytes(sum(f.file.length for f in scope.avoidable))
    these = f" The statement takes just these, {size} of {_bytes(scope.bytes)}." if worst else ""
    return f" {files} of {len(scope.files)} cause four fifths of the unnecessary reads.{these}"


def _percent(x: float) -> str:
    """The share in percent with one decimal, rounded as in the JVM."""
    return f"{Decimal(repr(x * 100)).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def _bytes(n: int) -> str:
    power = 0 if n <= 0 else min(5, (n.bit_length() - 1) // 10)
    if power == 0:
        return f"{n} B"
    size = Decimal(repr(n / 1024**power)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{size} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


_NUMBERS = frozenset({"int", "bigint"})


def statement_of(cure: Cure, table: Table, only: Sequence[str]) -> str:
    """The text of the statement. ``only`` are the partition directories to restrict it to, or none."""
    target = _sql.literal(table.listing.place.text)
    if not cure.columns:
        return f"ZORDER INDEX {target}"
    conditions = [_condition(table, directory) for directory in only]
    said = [c for c in conditions if c]
    where = f" WHERE {' OR '.join(said)}" if said and len(said) == len(conditions) else ""
    full = " FULL" if cure.full else ""
    using = f" USING CURVE {cure.curve}" if cure.curve is not None else ""
    options = ", ".join(f"{name} = {value}" for name, value in cure.options)
    settings = f" WITH ({options})" if options else ""
    return f"ZORDER TABLE {target}{full}{where} BY ({', '.join(cure.columns)}){using}{settings}"


def _condition(table: Table, directory: str) -> str:
    """The condition that holds in this partition only. Empty if the table has no partitions."""
    types = {c.path[0]: c.type for c in table.columns.all if c.partition}
    tests = []
    for name, text in partition_values(directory).items():
        kind = types.get(name)
        column = _sql.name(name)
        if text is None:
            tests.append(f"{column} IS NULL")
        elif kind is not None and kind.name in _NUMBERS:
            tests.append(f"{column} = {int(text)}{'L' if kind.name == 'bigint' else ''}")
        else:
            date = "DATE " if kind is not None and kind.name == "date" else ""
            tests.append(f"{column} = {date}{_sql.literal(text)}")
    return tests[0] if len(tests) == 1 else f"({' AND '.join(tests)})" if tests else ""


# A clustering run begins only if it would make enough files (docs/spec.md, section 2).

_DEFAULT_TARGET = 256 << 20
_SMALLEST_TARGET = 8 << 20
_WANTED_FILES = 16
_MOST = 1 << 20
# with fewer files than this, a run gains almost nothing
_TOO_SMALL = 4


def _leaves_alone(size: int, total: int, rows: int) -> bool:
    """Whether a run leaves a partition of `size` bytes alone, if no option sets the number or size of files.

    ``total`` are the bytes of all partitions.
    """
    return _files(size, _target(total), rows) < _TOO_SMALL


def _target(total: int) -> int:
    if total // _DEFAULT_TARGET >= _WANTED_FILES:
        return _DEFAULT_TARGET
    return min(_DEFAULT_TARGET, max(_SMALLEST_TARGET, total // _WANTED_FILES))


def _files(size: int, target: int, rows: int) -> int:
    n = max(1, min(_MOST, math.floor(size / target + 0.5)))
    below = 1 << (n.bit_length() - 1)
    asked = next((p for p in (below, 2 * below) if 0.75 * n <= p <= 1.5 * n), n)
    return max(1, min(asked, rows))
