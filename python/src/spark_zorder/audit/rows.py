"""Makes the rows of ``clustering_information`` and ``clustering_boxes`` for plain Parquet from footers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import rules
from .figures.level import Numbers, reads_together, rounded, together
from .figures.scale import Scale
from .figures.scope import FILE, ROW_GROUP, Scope
from .files import table
from .files.listing import partition_of
from .result import Result
from .rules import AuditRules, Finding
from .texts import value_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .files.listing import State
    from .files.sparktype import SparkType
    from .files.table import FileBlocks, Table
    from .files.zones import Block, Zone
    from .plain import Audited


# nobody reads a condition with more partitions
_MOST_NAMED = 20
# page indexes and some writers cut byte strings at this length
_LONG = 64


class Audit:
    """The files of a table, and what their footers say about the audited columns."""

    def __init__(
        self,
        read: Table,
        columns: Audited,
        left: State | None,
        notes: Sequence[str] = (),
        report: Callable[[int], None] | None = None,
    ) -> None:
        """Reads all footers. Files without rows are left out."""
        found = table.blocks(read, columns.numbers, report)
        self.table = read
        self.columns = columns
        self.files = [f for f in found if f.whole.rows > 0 or None in f.whole.zones]
        self._left = left
        self._same = left is not None and left.columns == columns.by
        self._notes = [*columns.notes, *_encrypted(self.files), *notes]
        own = [read.columns.all[n] for n in columns.numbers]
        kinds = [c.type for c in own]
        by_partition: dict[str, list[FileBlocks]] = {}
        for file in self.files:
            by_partition.setdefault(partition_of(file.file.rel), []).append(file)
        self._scopes = [Scope(p, files, kinds) for p, files in sorted(by_partition.items())]
        runs = rules.FilesOfRun(sum(s.bytes for s in self._scopes), len(self._scopes))
        ours = left.ours if left is not None else frozenset()
        self._rules = AuditRules(own, columns.names, columns.by, not read.listing.indexed, ours, runs)

    def rows(self) -> list[dict[str, Any]]:
        """The row of the table, then those of its partitions, the worst first."""
        findings = [(s, self._rules.of(s, self._past(s))) for s in self._scopes]
        rows = [self._whole(findings)]
        if any(c.partition for c in self.table.columns.all):
            worst = sorted(findings, key=lambda sf: (-sum(sf[0].excess), sf[0].partition))
            rows += [self._of_scope(s, f) for s, f in worst]
        return rows

    def result(self, pictures: bool) -> Result:
        """The rows, with those of ``clustering_boxes`` if `pictures` need them."""
        return Result(self.rows(), _box_rows(self.table, self.columns, self.files) if pictures else [])

    def _past(self, scope: Scope) -> rules.Past:
        left = self._left
        if left is None:
            return rules.Past(False, False, None, None)
        unchanged = not left.since([f.file for f in scope.files])
        if not self._same or scope.partition not in left.laid_out:
            return rules.Past(False, unchanged, None, None)
        curve = None if left.curve == "auto" else left.curve
        return rules.Past(True, unchanged, curve, left.purposes.get(scope.partition))

    def _of_scope(self, scope: Scope, finding: Finding) -> dict[str, Any]:
        levels = {name: [level.joint, *level.columns] for name, level in scope.levels.items()}
        avoidable = _avoidable(scope, finding)
        return self._row(scope.partition, finding, [scope.partition], levels, scope.files, avoidable)

    def _whole(self, findings: Sequence[tuple[Scope, Finding]]) -> dict[str, Any]:
        finding, only = _of_table(self.table.listing.place.text, self.columns.names, findings)
        scopes = [s for s, _ in findings]
        levels = {}
        for name in (FILE, ROW_GROUP) if scopes else ():
            each = [[s.levels[name].joint, *s.levels[name].columns] for s in scopes]
            levels[name] = [together(list(parts)) for parts in zip(*each)]
        avoidable = [file for s, f in findings for file in _avoidable(s, f)]
        return self._row(None, finding, only, levels, self.files, avoidable)

    def _row(
        self,
        partition: str | None,
        finding: Finding,
        only: Sequence[str],
        levels: dict[str, list[Numbers]],
        files: Sequence[FileBlocks],
        avoidable: Sequence[FileBlocks],
    ) -> dict[str, Any]:
        depths = levels[FILE][0].depths if levels else None
        since = None if self._left is None else self._left.since([f.file for f in files])
        fix = finding.fix
        return {
            "partition": partition,
            "verdict": finding.verdict,
            "reason": finding.reason,
            "statement": None if fix is None else rules.statement_of(fix, self.table, only),
            "cluster_by_keys": f"({', '.join(self.columns.names)})",
            "curve": self._left.curve if self._left is not None and self._same else None,
            "notes": list(self._notes),
            "total_file_count": len(files),
            "total_constant_file_count": depths.constant if depths else 0,
            "average_overlaps": depths.average_overlaps() if depths else None,
            "average_depth": depths.average() if depths else None,
            "p95_depth": depths.p95() if depths else None,
            "max_depth": depths.greatest() if depths else None,
            "file_depth_histogram": depths.histogram() if depths else {},
            "depth_error": rounded(depths.error) if depths else 0.0,
            "total_rows": sum(f.whole.rows for f in files),
            "total_bytes": sum(f.file.length for f in files),
            "files_without_statistics": sum(1 for f in files if None in f.whole.zones),
            "files_with_truncated_statistics": sum(1 for f in files if any(map(_is_long, f.whole.zones))),
            "files_since_last_run": None if since is None else len(since),
            "bytes_since_last_run": None if since is None else sum(f.length for f in since),
            "avoidable_files": len(avoidable),
            "avoidable_bytes": sum(f.file.length for f in avoidable),
            "levels": [
                self._level(level, name, numbers, len(files))
                for level, all_numbers in levels.items()
                for name, numbers in zip((None, *self.columns.names), all_numbers)
            ],
        }

    def _level(self, level: str, name: str | None, numbers: Numbers, files: int) -> dict[str, Any]:
        depths, reads = numbers.depths, numbers.reads

        def share(x: float | None) -> float | None:
            return rounded(x) if reads.rows and x is not None else None

        return {
            "level": level,
            "name": name,
            "total_count": depths.blocks,
            "constant_count": depths.constant,
            "average_overlaps": depths.average_overlaps(),
            "average_depth": depths.average(),
            "p95_depth": depths.p95(),
            "max_depth": depths.greatest(),
            "depth_histogram": depths.histogram(),
            "look_up_share": share(reads.look_up),
            "range_share": share(reads.range),
            "look_up_bound": share(reads.least_look_up()),
            "range_bound": share(reads.least_range()),
            "efficiency": reads.efficiency(),
            "error": rounded(depths.error),
            "sampled_files": files,
        }


def _avoidable(scope: Scope, finding: Finding) -> Sequence[FileBlocks]:
    """The avoidable files. A partition that is as it should be has none, though its files differ."""
    return scope.avoidable if finding.verdict in rules.MENDED_BY_ORDER else ()


def _of_table(
    name: str, columns: Sequence[str], findings: Sequence[tuple[Scope, Finding]]
) -> tuple[Finding, Sequence[str]]:
    """The finding on the whole table, and the partitions in its statement (none means all)."""
    if not findings:
        return Finding(rules.OK, f"{name} has no rows.", None), ()
    if len(findings) == 1:
        return findings[0][1], ()
    kinds = sorted({f.verdict for _, f in findings}, key=rules.SEVERITY.index)
    worst = next((k for k in kinds if k != rules.TOO_SMALL or _most_rows(findings)), rules.OK)
    if worst == rules.OK:
        return _well(columns, findings), ()
    same = [(s, f) for s, f in findings if f.verdict == worst]
    scope, finding = max(same, key=lambda sf: (sum(sf[0].excess), sf[0].rows))
    several = len(same) > _MOST_NAMED or all(len(s.files) < 2 or f.verdict == worst for s, f in findings)
    said, fix = _together(finding, [f for _, f in same])
    count = f"{len(same):,} partition{'' if len(same) == 1 else 's'}"
    reason = f"{count} of {len(findings)}: the worst is {scope.partition}. {said}"
    only = () if several else [s.partition for s, _ in same]
    return finding._replace(reason=reason, fix=fix), only


def _most_rows(findings: Sequence[tuple[Scope, Finding]]) -> bool:
    """Whether partitions that are too small hold more than half of the rows."""
    small = sum(s.rows for s, f in findings if f.verdict == rules.TOO_SMALL)
    return 2 * small > sum(s.rows for s, _ in findings)


def _together(worst: Finding, same: Sequence[Finding]) -> tuple[str, rules.Fix | None]:
    """The reason and the statement of the worst partition, for all of them.

    fileCount is that of each partition, so they get their mean. They get none if a run would begin with some
    of them without it.
    """
    fix = worst.fix
    if fix is None or fix == rules.INDEX or len(same) < 2:
        return worst.reason, fix
    counts = [f.fix.files for f in same if f.fix is not None and f.fix.files is not None]
    if len(counts) < len(same):
        return worst.reason, fix._replace(files=None)
    mean = math.ceil(sum(counts) / len(counts))
    said = worst.with_files(mean) if worst.with_files is not None else worst.reason
    return f"{said} fileCount is that of each partition.", fix._replace(files=mean)


def _well(columns: Sequence[str], findings: Sequence[tuple[Scope, Finding]]) -> Finding:
    fix = next((f.fix for _, f in findings if f.fix == rules.INDEX), None)
    several = [s for s, _ in findings if len(s.files) > 1]
    if not any(n > 1 for s in several for n in s.of_files.distinct):
        return Finding(rules.OK, f"None of its {len(findings)} partitions has anything to skip.", fix)
    reads = reads_together([s.of_files.joint.reads for s in several])
    good = rules.good(columns, reads.look_up, reads.look_up_bound)
    return Finding(rules.OK, f"Its {len(findings)} partitions are in order. {good}", fix)


def _encrypted(files: Sequence[FileBlocks]) -> list[str]:
    count = sum(1 for f in files if f.encrypted)
    which = "1 file" if count == 1 else f"{count:,} files"
    return [f"Columns of {which} are encrypted: nothing is known of them."] if count else []


def _is_long(zone: Any) -> bool:
    return bool(zone) and any(isinstance(bound, bytes) and len(bound) >= _LONG for bound in zone)


def _box_rows(read: Table, columns: Audited, files: Sequence[FileBlocks]) -> list[dict[str, Any]]:
    """The rows of ``clustering_boxes``: each file, then its row groups, with ranks among all bounds."""
    zones = [[b.zones[c] for f in files for b in (f.whole, *f.groups)] for c in range(len(columns.names))]
    kinds = [read.columns.all[n].type for n in columns.numbers]
    scales = [Scale(z, kind) for z, kind in zip(zones, kinds)]

    def row(file: FileBlocks, group: int | None, block: Block) -> dict[str, Any]:
        return {
            "partition": partition_of(file.file.rel),
            "path": read.listing.place.path(file.file.rel),
            "row_group": group,
            "row_count": block.rows,
            "bytes": file.file.length if group is None else None,
            "ranges": [
                {"name": name, **_range(zone, scale, kind), "may_hold_null": nulls != 0}
                for name, zone, nulls, scale, kind in zip(
                    columns.names, block.zones, block.nulls, scales, kinds
                )
            ],
        }

    found = []
    for file in files:
        found.append(row(file, None, file.whole))
        found += [row(file, i, group) for i, group in enumerate(file.groups)]
    return found


def _range(zone: Zone, scale: Scale, kind: SparkType | None) -> dict[str, Any]:
    if not zone or kind is None:
        return {"low": None, "high": None, "low_rank": None, "high_rank": None}
    low, high = zone
    return {
        "low": value_text(low, kind),
        "high": value_text(high, kind),
        "low_rank": scale.ranks[low],
        "high_rank": scale.ranks[high],
    }
