"""Arithmetic of tables that grow: what look-ups read, what runs write, how many files there are.

A table of size 1 lies in files that are the leaves of a k-d tree over two columns, as a run leaves it.
Appends of the same size follow, with a run after each. A policy says which files that lie across the cells
are merged with the new rows, into how many files, and when all is written anew. The unit is the row: a
look-up of the value of a random row, by each column in turn, reads all rows of the files whose box holds
it; no page is skipped.
"""

from __future__ import annotations

import functools
import math
import statistics
from dataclasses import dataclass, field

# appends in time order: new rows lie beyond all others in the first column, spread in the second
ORDERS = ("random", "time")


@dataclass(frozen=True)
class Policy:
    """A rule of growth."""

    # older files are merged while they are at most so many times as large as what is already merged
    factor: float
    # files of a merge: so many times the table's files, by the merge's share of the table to this power
    files: float
    power: float
    # everything is written anew once the table is at most so many times what was appended
    refit: float
    # parts of the layout that are written anew on their own, in turn; 1: the whole at a time
    regions: int = 1
    # all files, as a multiple of those of a new layout, beyond which more of those across cells are merged
    most: float = 3.0
    # how much larger a table is taken to be when it is written anew because it has grown
    ahead: float = math.sqrt(2)
    # `factor` while there are more, and what a merge into the cells may write per row
    budget: float = 5.0


@dataclass(frozen=True)
class Outcome:
    """What a policy comes to over all appends."""

    worst: float
    mean: float
    written: float
    files: float
    # look-ups beside those of a fresh FULL, after each append
    each: tuple[float, ...]


@dataclass
class Region:
    """A part of the layout: rows in their cells, and merges across these, oldest first, as (rows, files)."""

    settled: float
    merges: list[tuple[float, int]] = field(default_factory=list)

    @property
    def appended(self) -> float:
        return sum(rows for rows, _ in self.merges)

    @property
    def rows(self) -> float:
        return self.settled + self.appended


@functools.cache
def extents(files: int, cells: int) -> tuple[float, float]:
    """Mean share of each column that a file covers if consecutive cells of a square grid are joined."""
    bits = round(math.log2(cells))
    side = 2 ** (bits // 2)

    def place(cell: int) -> tuple[int, int]:
        return (
            sum((cell >> (2 * i + 1) & 1) << i for i in range(bits // 2)),
            sum((cell >> (2 * i) & 1) << i for i in range(bits // 2)),
        )

    joined: list[list[tuple[int, int]]] = [[] for _ in range(files)]
    for cell in range(cells):
        joined[min(files - 1, (2 * cell + 1) * files // (2 * cells))].append(place(cell))
    sums = [0.0, 0.0]
    for group in joined:
        for c in (0, 1):
            at = [p[c] for p in group]
            sums[c] += len(group) / cells * (max(at) - min(at) + 1) / side
    return sums[0], sums[1]


def looked_up(regions: list[Region], order: str, cells: int) -> float:
    """Rows that a look-up reads, beside those of a fresh FULL."""
    side = math.sqrt(cells)
    total = sum(r.rows for r in regions)
    if order == "random":
        # a file of a region spans the share of the region's own range
        scale = 1 / math.sqrt(len(regions))
        read = sum(
            r.settled / side
            + sum(
                rows * scale * sum(extents(min(n, cells // len(regions)), cells // len(regions))) / 2
                if len(regions) in (1, 4)
                else rows * scale / math.sqrt(n)
                for rows, n in r.merges
            )
            for r in regions
        )
        return read / (total / side)
    (region,) = regions
    first = (region.settled**2 / side + sum(rows**2 for rows, _ in region.merges)) / total
    second = region.settled / side + sum(rows / min(n, side) for rows, n in region.merges)
    return (first + second) / 2 / (total / side)


def files_of(policy: Policy, rows: float, total: float, cells: int) -> int:
    """Files of a merge of so many rows: a power of two, to end where the tree of the layout is cut."""
    wanted = policy.files * cells * (rows / total) ** policy.power
    return max(1, min(cells, 2 ** round(math.log2(wanted))))


def counted(files_worth: float) -> int:
    """Files of a layout by its size, as the product counts them: a power of two where one is near."""
    n = max(1, round(files_worth))
    below = 1 << (n.bit_length() - 1)
    return next((p for p in (below, 2 * below) if 0.75 * n <= p <= 1.5 * n), n)


def grow(
    region: Region,
    new: float,
    policy: Policy,
    cells: int,
    threshold: float,
    anew: int | None = None,
    among: int | None = None,
) -> float:
    """Takes in new rows; returns the rows written.

    A new layout of all rows would have `anew` files. New rows fall into `among` of the cells. Both are
    `cells` where they are not given.
    """
    total = region.rows + new
    appended = region.appended + new
    if total <= threshold * appended * (1 + 1e-9):
        region.settled, region.merges = total, []
        return total
    merged = new
    across = max(cells // 2, policy.most * (anew or cells) - cells)
    while region.merges:
        others = sum(n for _, n in region.merges)
        crowded = files_of(policy, merged, total, cells) + others > across
        most = policy.budget if crowded else policy.factor
        last = region.merges[-1][0]
        # what cannot be cut into files as large as cells only becomes wider
        too_few_cells = merged + last > total * (among or cells) / cells
        if last > most * merged * (1 + 1e-9) or too_few_cells:
            break
        merged += region.merges.pop()[0]
    room = max(1, across - sum(n for _, n in region.merges))
    wanted = min(among or cells, files_of(policy, merged, total, cells))
    region.merges.append((merged, min(wanted, max(wanted // 2, 2 ** int(math.log2(room))))))
    return merged


def outcome(policy: Policy, order: str, cells: int = 64, share: float = 0.03, appends: int = 30) -> Outcome:
    """Appends of `share` of the first table each, with a run after each."""
    parts = policy.regions
    regions = [Region(1 / parts) for _ in range(parts)]
    # regions take turns: their first refits are spread over the time of one
    thresholds = [1 + (policy.refit - 1) * parts / (i + 1) for i in range(parts)]
    written, each, files = 0.0, [], []
    for _ in range(appends):
        for i, region in enumerate(regions):
            own = cells // parts
            among = own if order == "random" else math.isqrt(own)
            wrote = grow(region, share / parts, policy, own, thresholds[i], among=among)
            if not region.merges:
                thresholds[i] = policy.refit
            written += wrote
        each.append(looked_up(regions, order, cells))
        files.append((cells + sum(n for r in regions for _, n in r.merges)) / cells)
    return Outcome(max(each), sum(each) / appends, written / (share * appends), max(files), tuple(each))


@dataclass(frozen=True)
class Rounds:
    """What a policy comes to for a table that grows from nothing, after the first eight rounds."""

    worst: float
    mean: float
    written: float
    files: float
    mean_files: float
    # files that a look-up opens, in the mean
    opened: float

    def __str__(self) -> str:
        figures = (self.worst, self.mean, self.written, self.files, self.mean_files, self.opened)
        return " | ".join(f"{figure:.2f}" for figure in figures)


def from_nothing(policy: Policy, rounds: int, share: float = 1.1) -> Rounds:
    """Each round brings so much of a file's rows, spread over all cells; a look-up asks for both columns.

    It opens one file of the cells and one of each merge, and one of a fresh FULL.
    """
    region, cells, written = Region(0), 0, 0.0
    read, files, opened = [], [], []
    for number in range(1, rounds + 1):
        size = number * share
        fresh = counted(size)
        outgrown = fresh >= 2 * cells and number <= policy.budget
        if outgrown or region.appended + share > region.settled:
            region, cells = Region(size), counted(size * policy.ahead)
            written += size
        elif not region.merges and region.settled + share <= policy.budget * share:
            region.settled += share
            written += size
        else:
            written += grow(region, share, policy, cells, policy.refit, fresh)
            cells = cells if region.merges else counted(size * policy.ahead)
        read.append((region.settled / cells + sum(rows / n for rows, n in region.merges)) * fresh / size)
        files.append((cells + sum(n for _, n in region.merges)) / fresh)
        opened.append(1 + len(region.merges))
    read, files, opened = read[8:], files[8:], opened[8:]
    return Rounds(
        max(read),
        statistics.mean(read),
        written / (rounds * share),
        max(files),
        statistics.mean(files),
        statistics.mean(opened),
    )
