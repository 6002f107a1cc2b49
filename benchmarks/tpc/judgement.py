"""What of the targets is reached, and where a query does not reach them, what its counts say of the cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lines import HAND, UNCLUSTERED, UNSKIPPED
from pairs import total
from rounds import pairs

if TYPE_CHECKING:
    from rounds import Query
    from workload import Wanted

SLOWER = 1.05
STORES = {"quick": False, "slow": True}


@dataclass(frozen=True)
class Judgement:
    """Of our layout with the columns that were chosen by hand."""

    lines: list[str]
    failures: list[str]


def fast(queries: dict[str, Query], key: str, times: float, slow: bool) -> list[str]:
    """The queries that a layout answers so many times as fast, by the median."""
    return [name for name, q in queries.items() if pairs(q, key, slow).times >= times]


def slower(queries: dict[str, Query], key: str, slow: bool, base: str = UNCLUSTERED) -> list[str]:
    """Those that it answers more slowly than a base, with the whole interval."""
    return [name for name, q in queries.items() if pairs(q, key, slow, base).interval()[1] < 1 / SLOWER]


def cause(query: Query, key: str, slow: bool) -> str:
    """Why a layout gains little or loses, as far as counts tell."""
    base, line = query[UNCLUSTERED], query[key]

    def part(what: str) -> float:
        return line.mean(what, slow) / max(base.mean(what, slow), 1)

    requests, size, shuffled = part("requests"), part("bytes"), part("shuffled")
    parts = []
    here, there = line.mean("files", slow), line.mean("files", not slow)
    if here > there * SLOWER:
        other = "local disk" if slow else "slow store"
        files = f"{here:.0f} files are opened, {there:.0f} on the {other}"
        parts.append(f"{files}: the keys of a join came too late")
    if requests > 0.8:
        parts.append(f"{requests:.0%} of the requests remain: no filter or key leaves out many files")
    else:
        parts.append(f"{requests:.0%} of the requests remain, and the time is not that of requests alone")
    if size > 1.02:
        parts.append(f"{size:.2f} x the bytes: columns compress less in the new order of the rows")
    if shuffled > 1.02:
        parts.append(f"{shuffled:.2f} x the bytes in shuffles: the keys of a join lay in order before")
    if not slow:
        parts.append("requests cost next to nothing here")
    return "; ".join(parts)


def judged(queries: dict[str, Query], wanted: Wanted, wrong: list[str], keys: list[str]) -> Judgement:
    """The targets, one line for each query that misses one, and the answers that differ."""
    lines = [f"- THE ANSWERS DIFFER: {sentence}." for sentence in wrong] or ["- All answers are equal."]
    if HAND not in keys:
        return Judgement(lines, wrong)
    parts = [_judged(queries, wanted), *([_skipping(queries)] if UNSKIPPED in keys else [])]
    return Judgement(
        lines + [line for part in parts for line in part.lines],
        wrong + [failure for part in parts for failure in part.failures],
    )


def _skipping(queries: dict[str, Query]) -> Judgement:
    """What our skipping costs by itself: the same tables with it and without."""
    lines, failures = ["", "Our skipping beside the same tables without it:", ""], []
    for store, slow in STORES.items():
        of_all = total([pairs(q, HAND, slow, UNSKIPPED) for q in queries.values()])
        found = slower(queries, HAND, slow, UNSKIPPED)
        lines.append(
            f"- {store} store: {of_all.times:.2f} x in all; more than {SLOWER:g} x slower by it: "
            f"{', '.join(found) or 'none'}."
        )
        failures += [f"skipping makes {name} slower on the {store} store" for name in found]
    return Judgement(lines, failures)


def _judged(queries: dict[str, Query], wanted: Wanted) -> Judgement:
    reached = fast(queries, HAND, wanted.times, slow=True)
    lines = [
        f"- {wanted.times:g} x or more on the slow store: {len(reached)} of {len(queries)} queries "
        f"(wanted: {wanted.queries}): {', '.join(reached) or 'none'}."
    ]
    enough = len(reached) >= wanted.queries
    failures = [] if enough else [f"{len(reached)} queries of {wanted.times:g} x, wanted {wanted.queries}"]
    for store, slow in STORES.items():
        found = slower(queries, HAND, slow)
        median = [n for n, q in queries.items() if pairs(q, HAND, slow).times < 1 / SLOWER and n not in found]
        lines.append(
            f"- More than {SLOWER:g} x slower on the {store} store with the whole interval: "
            f"{', '.join(found) or 'none'}; by the median alone: {', '.join(median) or 'none'}."
        )
        lines += [f"  - {name}: {cause(queries[name], HAND, slow)}." for name in found]
        failures += [f"{name} is slower on the {store} store" for name in found]
    missed = [name for name in queries if name not in reached]
    if missed:
        lines += ["", f"Below {wanted.times:g} x on the slow store, and why:", ""]
    for name in missed:
        query = queries[name]
        times = pairs(query, HAND, slow=True).times
        lines.append(f"- {name}, {times:.2f} x: {cause(query, HAND, slow=True)}.")
    return Judgement(lines, failures)
