"""What the CPU times of keys say: medians over the rounds, above a floor, as multiples of zorder."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import peers

if TYPE_CHECKING:
    # query and key -> nanoseconds of CPU per row, one figure a round
    Figures = dict[tuple[str, str], list[float]]

PLAIN, HASHED = "max(key)", "max(xxhash64(key))"
BIGINT, BINARY = "a ^ b as BIGINT", "a ^ b as BINARY"
ZORDER, HILBERT = "spark-zorder zorder(a, b)", "spark-zorder hilbert(a, b)"
ICEBERG, DELTA = f"Iceberg {peers.ICEBERG} UDFs", f"Delta {peers.DELTA} interleave_bits"

# how many times zorder they must be, above the same query over BINARY
LEAST = {ICEBERG: 10.0, DELTA: 1.0}


def above(found: Figures, query: str, key: str, floor: str) -> float:
    """What a key costs above a floor."""
    return statistics.median(a - b for a, b in zip(found[query, key], found[query, floor]))


def times(found: Figures, query: str, key: str, floor: str) -> float:
    """The same as a multiple of zorder, round by round."""
    rounds = zip(found[query, key], found[query, ZORDER], found[query, floor])
    return statistics.median((peer - f) / (ours - f) for peer, ours, f in rounds)


def table(found: Figures, query: str) -> list[str]:
    """One line a key."""
    lines = [
        f"| `{query}` | CPU, ns a row | above BIGINT | times zorder | above BINARY | times zorder |",
        "| --- | --- | --- | --- | --- | --- |",
        *(f"| {key} | {statistics.median(found[query, key]):.1f} | | | | |" for key in (BIGINT, BINARY)),
    ]
    for key in (ZORDER, HILBERT, ICEBERG, DELTA):
        cells = [f"{statistics.median(found[query, key]):.1f}"]
        for floor in (BIGINT, BINARY):
            cells += [f"{above(found, query, key, floor):.1f}", f"{times(found, query, key, floor):.1f}"]
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return lines


def verdict(found: Figures, query: str, key: str) -> str:
    """A target, met or not."""
    reached = times(found, query, key, BINARY)
    met = "met" if reached >= LEAST[key] else "**missed**"
    return f"- {key}, `{query}`, above BINARY: at least {LEAST[key]:g} times zorder, is {reached:.1f}: {met}"


def report(found: Figures, setting: list[str]) -> str:
    """The result file."""
    lines = [
        "# CPU time of a key beside Iceberg and Delta",
        "",
        "`make bench-peers`. CPU time of the task's thread for a query over the key of an INT and a",
        "BIGINT. The same query over `a ^ b` as BIGINT says what the rows cost, that over `a ^ b` as",
        "BINARY what rows, hash and maximum of arrays cost. Spark leaves generated code for a maximum of",
        "BINARY, and stays in it for that of a hash. Iceberg's key is that of its z-order rewrite, a UDF",
        "a column and one over their array; Delta's is that of its OPTIMIZE without the cast to STRING,",
        "and the jobs that sample its ranges are not counted.",
        "",
        *(line for query in (PLAIN, HASHED) for line in [*table(found, query), ""]),
        *(verdict(found, query, key) for query in (PLAIN, HASHED) for key in LEAST),
        "",
        *setting,
    ]
    return "\n".join(lines) + "\n"
