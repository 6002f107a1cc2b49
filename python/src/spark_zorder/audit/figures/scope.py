"""One partition. It is measured separately, since a run lays out each partition separately."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from . import level
from .level import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..files.sparktype import SparkType
    from ..files.table import FileBlocks
    from .level import Level

FILE, ROW_GROUP = "file", "row group"


class Scope:
    """One partition with its files, by path.

    The caller leaves out files without row groups. ``kinds`` are the types of the audited columns.
    """

    def __init__(
        self, partition: str, files: Sequence[FileBlocks], kinds: Sequence[SparkType | None]
    ) -> None:
        """Measures both levels."""
        self.partition = partition
        self.files = tuple(files)
        self.levels: dict[str, Level] = {
            FILE: level.of([f.whole for f in files], kinds),
            ROW_GROUP: level.of([g for f in files for g in f.groups], kinds),
        }

    @property
    def of_files(self) -> Level:
        """The level that verdicts are made from."""
        return self.levels[FILE]

    @property
    def rows(self) -> int:
        """The rows of all files."""
        return sum(f.whole.rows for f in self.files)

    @property
    def bytes(self) -> int:
        """The bytes of all files."""
        return sum(f.file.length for f in self.files)

    @cached_property
    def excess(self) -> tuple[int, ...]:
        """For each file the number of rows read unnecessarily, as the mean over values and columns."""
        bound = rounded(self.of_files.joint.reads.look_up_bound)
        reach = self.of_files.reach
        return tuple(
            math.floor(f.whole.rows * max(0.0, rounded(r) - bound) + 0.5) for f, r in zip(self.files, reach)
        )

    @cached_property
    def avoidable(self) -> tuple[FileBlocks, ...]:
        """The fewest files that cause four fifths of the excess."""
        worst = sorted((-e, f.file.rel, i) for i, (e, f) in enumerate(zip(self.excess, self.files)) if e > 0)
        total, before, found = sum(self.excess), 0, []
        for minus, _, i in worst:
            if 5 * before >= 4 * total:
                break
            found.append(self.files[i])
            before -= minus
        return tuple(found)

    def unknown(self, column: int) -> list[FileBlocks]:
        """The files without bounds of this column."""
        return [f for f in self.files if f.whole.zones[column] is None]

    def counts_rows(self, column: int) -> bool:
        """Whether the rows of such files are known. Those of files with an encrypted footer are not."""
        return all(f.whole.rows > 0 for f in self.unknown(column))

    def unknown_share(self, column: int) -> float:
        """The part of the rows in files without bounds. It is the part of the files if rows are unknown."""
        such = self.unknown(column)
        if not such:
            return 0.0
        if self.counts_rows(column):
            return sum(f.whole.rows for f in such) / self.rows
        return len(such) / len(self.files)

    def bound_of_sort(self, column: int, files: int) -> float:
        """The least that look-ups read of so many files, if they are sorted by that column alone."""
        return max(1.0 / max(1, files), self.of_files.largest_masses[column])
