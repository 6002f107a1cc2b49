"""Decides the verdict on a partition and its statement (docs/spec.md, section 8), in the JVM's words."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from .. import _sql
from .figures.level import rounded, unless_beaten
from .files.table import partition_values

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from .figures.scope import Scope
    from .files.table import Column, FileBlocks, Table


OK, RECLUSTER, USE_SORT, NO_STATISTICS = "OK", "RECLUSTER", "USE SORT", "NO STATISTICS"
TOO_FEW_FILES, TOO_SMALL = "TOO FEW FILES", "TOO SMALL"
# another order of the rows helps
MENDED_BY_ORDER = (NO_STATISTICS, USE_SORT, RECLUSTER)
# if partitions differ, the first of these is the verdict on the table
SEVERITY = (*MENDED_BY_ORDER, TOO_FEW_FILES, TOO_SMALL, OK)
# files that are read more have no use for look-ups; four files by two columns are read less
_MOST_READ = 0.6
_FILES_FOR_INDEX = 100
# fewer files cannot be cut by two columns
_FEWEST_WORST = 4


class Fix(NamedTuple):
    """The statement to run: a clustering by ``columns``, or an index if there are none.

    ``curve`` is the curve to name, if any. ``options`` are names and values as SQL. ``full`` says that the
    run must take files that are in their places already. ``worst`` says that an option restricts the run to
    the avoidable files. ``files`` is the number of files to make of each partition, if a run would not choose
    it.
    """

    columns: tuple[str, ...] = ()
    curve: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    full: bool = False
    worst: bool = False
    files: int | None = None


INDEX = Fix()


class Finding(NamedTuple):
    """A verdict, its reason in one or two sentences, and the statement to run, if one helps.

    ``with_files`` gives the reason if the statement has another number of files. None means the same reason.
    """

    verdict: str
    reason: str
    fix: Fix | None
    with_files: Callable[[int], str] | None = None


class Past(NamedTuple):
    """What runs have done with a partition.

    ``laid_out`` says that a run by the same columns has laid it out, ``unchanged`` that no file came after
    its last run. ``curve`` is the one that the run was told to use. ``purpose`` is what the layout was made
    for, if not for look-ups of all columns alike.
    """

    laid_out: bool
    unchanged: bool
    curve: str | None
    purpose: str | None

    @property
    def settled(self) -> bool:
        """Whether a further run would take nothing."""
        return self.laid_out and self.unchanged


class AuditRules:
    """Finds what to say of partitions by the audited columns, whose names are given as SQL.

    ``by`` are these names with those of the expressions that were left out. ``may_index`` says that an index
    would save queries from reading the footers. ``ours`` are the paths of the files that runs in force wrote.
    ``runs`` says how many files a run makes.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        names: Sequence[str],
        by: Sequence[str],
        may_index: bool,
        ours: Collection[str],
        runs: FilesOfRun,
    ) -> None:
        """Only stores what is given."""
        self._runs = runs
        self._by = tuple(by)
        # an expression orders rows as well, and no file tells how: statements keep it
        self._leaves_out = len(by) > len(names)
        self._ours = ours
        self._columns = columns
        self._names = tuple(names)
        self._all = ", ".join(names)
        self._may_index = may_index

    def of(self, scope: Scope, past: Past) -> Finding:
        """The finding on one partition, with what is known of its past."""
        if len(scope.files) < 2 and (self._runs.of(scope.files) or 0) < 2:
            return Finding(OK, f"{_count(len(scope.files), 'file')}: nothing to skip.", None)
        return self._with_file_count(scope, self._no_statistics(scope, past) or self._by_reads(scope, past))

    def _with_file_count(self, scope: Scope, found: Finding) -> Finding:
        """Adds the number of files to the statement if a run would not begin without it."""
        fix = found.fix
        if fix is None or fix == INDEX:
            return found
        taken = scope.avoidable if fix.worst else scope.files
        if self._runs.of(taken) is not None:
            return found
        note = f" It is small ({_size(taken)}): a run leaves it alone without fileCount."
        beside = len(scope.files) - len(taken)
        said = found.with_files or (lambda _: found.reason)
        return Finding(
            found.verdict,
            found.reason + note,
            fix._replace(files=len(taken)),
            # a run makes so many files of those that it takes
            lambda n: said(beside + n) + note,
        )

    def _no_statistics(self, scope: Scope, past: Past) -> Finding | None:
        for i, name in enumerate(self._names):
            unknown = scope.unknown_share(i)
            if unknown <= 0.5:
                continue
            what = "rows are in files" if scope.counts_rows(i) else "files are"
            why = f"{_percent(unknown)} of the {what} without min and max of {name}"
            because = self._helpless(scope, i)
            if because is not None:
                return Finding(NO_STATISTICS, why + because, None)
            # Spark writes timestamps as INT96 by default, and INT96 has no bounds
            options = (("timestampType", "'micros'"),) if self._is_timestamp(i) else ()
            reason = f"{why}, so that every query reads them; a rewrite gives them statistics."
            fix = Fix(self._by, past.curve, options, not options and past.settled)
            return Finding(NO_STATISTICS, reason, fix)
        return None

    def _is_timestamp(self, column: int) -> bool:
        kind = self._columns[column].type
        return kind is not None and kind.name == "timestamp"

    def _helpless(self, scope: Scope, column: int) -> str | None:
        """Why no rewrite gives files statistics of this column. None if one does."""
        if self._columns[column].type is None:
            return f", and files never have such of its type {self._columns[column].stored}: leave it out."
        if any(f.encrypted for f in scope.files):
            return ": a run refuses encrypted files."
        if not self._is_timestamp(column) and all(f.file.rel in self._ours for f in scope.unknown(column)):
            return (
                ", though a run wrote them: Parquet keeps no bounds that are NaN or too long. Leave it out."
            )
        return None

    def _one_value(self, scope: Scope) -> str:
        known = " with min and max" if any(map(scope.unknown, range(len(self._names)))) else ""
        return f"All files{known} have the same single value of {self._all}."

    def _by_reads(self, scope: Scope, past: Past) -> Finding:
        level = scope.of_files
        worst = not past.laid_out and _is_worst(scope)
        useful = [i for i, distinct in enumerate(level.distinct) if distinct > 1]
        if not useful:
            return Finding(OK, self._one_value(scope), None)
        options = (("worstFiles", "0.8"),) if worst else ()
        if len(useful) > 1 or self._leaves_out:
            now = level.joint.reads.look_up
            # of files that are in their places already, another curve may make more
            curve = None if past.settled else past.curve
            fix = Fix(self._by, curve, options, past.settled, worst)
            if past.purpose is not None and past.settled:
                return Finding(OK, f"{reading(self._names, now)}. The last run {past.purpose}.", None)
            # what the last run made by an expression as well is not judged without it
            judged = not (self._leaves_out and past.laid_out)
            if not judged or not _needs(now, level.bound_of(len(scope.files))):
                return self._well(scope, now, level.bound_of, fix, past)
            layout, more = f"a layout by {self._all}", _avoidable(scope, worst)

            def reclustered(files: int) -> str:
                return self._reads(now, level.bound_of(files), layout) + more

            return self._needing(RECLUSTER, scope, fix, now, level.bound_of, reclustered)
        only = useful[0]
        name, now = self._names[only], level.columns[only].reads.look_up
        fix = Fix((name,), "lexical", options, past.settled, worst)

        def least(files: int) -> float:
            return scope.bound_of_sort(only, files)

        if not _needs(now, least(len(scope.files))):
            return self._well(scope, now, least, fix, past)
        others = "" if len(self._names) == 1 else " The other columns have one value and cannot help."
        others += _avoidable(scope, worst) if worst else ""

        def sorted_by(files: int) -> str:
            return self._reads(now, least(files), f"a sort by {name}") + others

        return self._needing(USE_SORT, scope, fix, now, least, sorted_by)

    def _needing(
        self,
        verdict: str,
        scope: Scope,
        fix: Fix,
        now: float,
        least: Callable[[int], float],
        said: Callable[[int], str],
    ) -> Finding:
        """The reason has the figure of as many files as the statement makes.

        It names a number of files if those that a run would make of itself are too few to gain much. ``said``
        gives the reason by the number of files that there will be.
        """
        has = len(scope.files)
        taken = scope.avoidable if fix.worst else scope.files
        planned = self._runs.of(taken)
        made = has if planned is None else has - len(taken) + planned
        if planned is not None and not _needs(now, least(made)):
            return Finding(verdict, said(has), fix._replace(files=len(taken)), said)
        return Finding(verdict, said(made), fix, said)

    def _reads(self, now: float, least: float, layout: str) -> str:
        return f"{reading(self._names, now)}, and {layout} can bring it to {_percent(least)}."

    def _well(
        self, scope: Scope, now: float, least: Callable[[int], float], order: Fix, past: Past
    ) -> Finding:
        """Says something about files that are as good as so many files can be.

        ``least`` is the least that look-ups read, by the number of files. ``order`` makes more files of them.
        """
        few = self._too_few(scope, now, least, order, past)
        if few is not None:
            return few
        said = good(self._names, now, least(len(scope.files)))
        if not self._may_index or len(scope.files) < _FILES_FOR_INDEX:
            return Finding(OK, said, None)
        index = f" An index spares each query the footers of the {len(scope.files)} files."
        return Finding(OK, said + index, INDEX)

    def _too_few(
        self, scope: Scope, now: float, least: Callable[[int], float], order: Fix, past: Past
    ) -> Finding | None:
        """Most of the rows are read whatever their order, and more files would change that."""
        has, planned = len(scope.files), self._runs.of(scope.files)
        if now <= _MOST_READ or past.purpose is not None:
            return None
        few = f"{reading(self._names, now)}: {_count(has, 'file')} {'is' if has == 1 else 'are'} too few."
        files = self._runs.small(scope.rows) if planned is None else planned
        if files <= has or not _needs(now, least(files)):
            return None
        if planned is not None:
            fix = order._replace(options=(), full=past.laid_out, worst=False, files=files)
            said = f"{few} With {files} files it can be about {_percent(least(files))}."
            return Finding(TOO_FEW_FILES, said, fix)
        each = ", which is per partition," if self._runs.partitions > 1 else ""
        said = (
            f"{few} It is small ({_size(scope.files)}), so a run leaves it alone: WITH (fileCount = {files})"
            f"{each} could bring it to about {_percent(least(files))}."
        )
        return Finding(TOO_SMALL, said, None)


def reading(names: Sequence[str], now: float) -> str:
    """What look-ups read, without a full stop."""
    return f"Looking up one value of {', '.join(names)} reads {_percent(now)} of the rows on average"


def good(names: Sequence[str], now: float, least: float) -> str:
    """Says what look-ups read of files that need nothing.

    The bound is never shown above what is read.
    """
    bound = unless_beaten(least, now)
    if bound is None:
        return f"{reading(names, now)}, less than any layout could if the columns did not go together."
    jointly = "" if len(names) == 1 else " for them together"
    if _percent(bound) == _percent(now):
        return f"{reading(names, now)}, about the least possible{jointly}."
    return f"{reading(names, now)}; the least possible{jointly} is about {_percent(bound)}."


def _needs(now: float, least: float) -> bool:
    """Whether the share is so far above the bound that a run pays."""
    return rounded(now) > 1.5 * rounded(least) and rounded(now) - rounded(least) >= 0.05


def _is_worst(scope: Scope) -> bool:
    """Whether to take only the avoidable files: a few files among many that are in order."""
    size = sum(f.file.length for f in scope.avoidable)
    return len(scope.avoidable) >= _FEWEST_WORST and 2 * size <= scope.bytes


def _avoidable(scope: Scope, worst: bool) -> str:
    files = _count(len(scope.avoidable), "file")
    these = ""
    if worst:
        these = f" The statement takes just these, {_size(scope.avoidable)} of {_bytes(scope.bytes)}."
    return f" {files} of {len(scope.files)} cause four fifths of the unnecessary reads.{these}"


def _percent(x: float) -> str:
    """The share in percent with one decimal, rounded as in the JVM."""
    return f"{Decimal(repr(x * 100)).quantize(Decimal('0.1'), ROUND_HALF_UP)} %"


def _size(files: Sequence[FileBlocks]) -> str:
    return _bytes(sum(f.file.length for f in files))


def _bytes(n: int) -> str:
    power = 0 if n <= 0 else min(5, (n.bit_length() - 1) // 10)
    if power == 0:
        return f"{n} B"
    size = Decimal(repr(n / 1024**power)).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return f"{size} {('B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB')[power]}"


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


_NUMBERS = frozenset({"int", "bigint"})


def statement_of(fix: Fix, table: Table, only: Sequence[str]) -> str:
    """The text of the statement. ``only`` are the partition directories to restrict it to, or none."""
    target = _sql.literal(table.listing.place.text)
    if fix == INDEX:
        return f"ZORDER INDEX {target}"
    conditions = [_condition(table, directory) for directory in only]
    said = [c for c in conditions if c]
    where = f" WHERE {' OR '.join(said)}" if said and len(said) == len(conditions) else ""
    full = " FULL" if fix.full else ""
    using = f" USING CURVE {fix.curve}" if fix.curve is not None else ""
    count = () if fix.files is None else (("fileCount", str(fix.files)),)
    options = ", ".join(f"{name} = {value}" for name, value in (*fix.options, *count))
    settings = f" WITH ({options})" if options else ""
    return f"ZORDER TABLE {target}{full}{where} BY ({', '.join(fix.columns)}){using}{settings}"


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


class FilesOfRun:
    """How many files a run makes, if no option sets the number or size of files.

    ``total`` are the bytes of all partitions.
    """

    def __init__(self, total: int, partitions: int) -> None:
        """Only stores what is given."""
        self._total = total
        self.partitions = partitions

    def of(self, files: Sequence[FileBlocks]) -> int | None:
        """The number of files that a run makes of these of one partition. None if they are too small."""
        size, rows = sum(f.file.length for f in files), sum(f.whole.rows for f in files)
        made = _files(size, _target(self._total), rows)
        return made if made >= _TOO_SMALL else None

    def small(self, rows: int) -> int:
        """A number of files to propose for a partition that is too small."""
        return min(rows, max(_TOO_SMALL, _WANTED_FILES // max(1, self.partitions)))


def _target(total: int) -> int:
    if total // _DEFAULT_TARGET >= _WANTED_FILES:
        return _DEFAULT_TARGET
    return min(_DEFAULT_TARGET, max(_SMALLEST_TARGET, total // _WANTED_FILES))


def _files(size: int, target: int, rows: int) -> int:
    n = max(1, min(_MOST, math.floor(size / target + 0.5)))
    below = 1 << (n.bit_length() - 1)
    asked = next((p for p in (below, 2 * below) if 0.75 * n <= p <= 1.5 * n), n)
    return max(1, min(asked, rows))
