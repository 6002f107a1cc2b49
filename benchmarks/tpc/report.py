"""The result file of a TPC benchmark."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import asked
import judgement
import machine
import peers
import session
from lines import UNCLUSTERED
from pairs import Pairs, total
from parts import Parts
from rounds import pairs

if TYPE_CHECKING:
    import argparse

    from judgement import Judgement
    from lines import Line
    from pyspark.sql import SparkSession
    from rounds import Found, Query
    from workload import Workload

COUNTS = ("files", "row_groups", "requests", "bytes", "shuffled")
TIMES = "| layout | quick, s | x | interval | slow, s | x | interval "
HEAD = f"{TIMES}| files | row groups | requests | MiB | shuffled |"


def text(
    spark: SparkSession,
    workload: Workload,
    lines: list[Line],
    queries: dict[str, Query],
    judged: Judgement,
    arguments: argparse.Namespace,
) -> str:
    """The whole file."""
    parts = [
        f"# {workload.title} in every layout",
        "",
        *introduction(workload, arguments),
        "",
        "## Tables",
        "",
        *tables(workload, lines),
        "",
        "## The workload's total",
        "",
        HEAD,
        "| --- " * 12 + "|",
        *(total_row(line, queries) for line in lines),
        "",
        "## Targets",
        "",
        *judged.lines,
        *overview("quick", lines, queries, slow=False),
        *overview("slow", lines, queries, slow=True),
        *(row for name, query in queries.items() for row in section(name, query, lines)),
        "",
        f"- spark-zorder {session.VERSION}, Spark {spark.version}, Delta {peers.DELTA}, "
        f"Iceberg {peers.ICEBERG}",
        f"- {machine.line(spark._jvm.System.getProperty('java.version'))}",
    ]
    return "\n".join(parts) + "\n"


def introduction(workload: Workload, arguments: argparse.Namespace) -> list[str]:
    """What was measured, and how."""
    return [
        f"`make bench-{workload.name}`, {time.strftime('%Y-%m-%d')}. Scale {arguments.scale:g},",
        f"{len(workload.queries)} queries. {workload.note}",
        "All layouts answer each query in turn, in one session: a round to warm up, then "
        f"{arguments.pairs} on the local",
        f"disk and {arguments.slow_pairs} on a store that adds {asked.SLOW_MS} ms to each request. Seconds",
        "are medians, planning included; x is the median of unclustered / layout of the same round (above 1",
        "is faster), its interval by order statistics. Counts are means of the rounds on the local disk,",
        "MiB that are read from files, those that are written to shuffles, and the requests (HEAD, LIST and",
        "GET) that Hadoop's S3A would make.",
        *(
            [f"Measured in {sittings} sittings, each with tables made anew; a query in one of them."]
            if (sittings := Parts(arguments.parts).sittings()) > 1
            else []
        ),
        "Answers are compared without `LIMIT`, doubles to nine digits. Tables that are not named here are",
        "plain Parquet in every layout.",
    ]


def tables(workload: Workload, lines: list[Line]) -> list[str]:
    """How many files each table has in each layout, and what it is clustered by."""
    names = list(workload.tables)
    return [
        f"| layout | {' | '.join(names)} |",
        "| --- " * (len(names) + 1) + "|",
        *(f"| {line.name} | {' | '.join(_table(line, n) for n in names)} |" for line in lines),
    ]


def _table(line: Line, name: str) -> str:
    by = line.columns[name]
    return f"{line.files[name]} files" + (f" by {', '.join(by)}" if by else "")


def total_row(line: Line, queries: dict[str, Query]) -> str:
    """A layout's times and counts of all queries together."""
    both = [total([pairs(q, line.key, slow) for q in queries.values()]) for slow in (False, True)]
    sums = [sum(q[line.key].mean(what) for q in queries.values()) for what in COUNTS]
    return _row(line.name, both, sums)


def section(name: str, query: Query, lines: list[Line]) -> list[str]:
    """One query in every layout."""
    return ["", f"## {name}", "", HEAD, "| --- " * 12 + "|", *(_query_row(query, line) for line in lines)]


def _query_row(query: Query, line: Line) -> str:
    found: Found = query[line.key]
    both = [pairs(query, line.key, slow) for slow in (False, True)]
    return _row(line.name, both, [found.mean(what) for what in COUNTS])


def _row(name: str, both: list[Pairs], counts: list[float]) -> str:
    whole, sizes = counts[:-2], [f"{size / 2**20:,.1f}" for size in counts[-2:]]
    cells = [*(_times(p) for p in both), *(f"{count:,.0f}" for count in whole), *sizes]
    return f"| {name} | {' | '.join(cells)} |"


def _times(of: Pairs) -> str:
    low, high = of.interval()
    return f"{of.seconds:.2f} | {of.times:.2f} | {low:.2f} to {high:.2f}"


def overview(store: str, lines: list[Line], queries: dict[str, Query], *, slow: bool) -> list[str]:
    """How many times as fast as unclustered each layout is, query by query, with the total."""
    others = [line for line in lines if line.key != UNCLUSTERED]
    whole = [total([pairs(q, line.key, slow) for q in queries.values()]).times for line in others]
    rows = [(name, [pairs(q, line.key, slow).times for line in others]) for name, q in queries.items()]
    slower = {line.key: judgement.slower(queries, line.key, slow) for line in others}
    return [
        "",
        f"## Times as fast as unclustered, {store} store",
        "",
        f"| query | {' | '.join(line.name for line in others)} |",
        "| --- " * (len(others) + 1) + "|",
        *(f"| {name} | {' | '.join(f'{t:.2f}' for t in times)} |" for name, times in rows),
        f"| total | {' | '.join(f'{t:.2f}' for t in whole)} |",
        f"| slower queries | {' | '.join(str(len(slower[line.key])) for line in others)} |",
    ]
