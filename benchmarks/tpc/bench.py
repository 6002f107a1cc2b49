"""What the TPC benchmarks have in common: make the layouts, ask the queries, compare, judge, write down."""

from __future__ import annotations

import argparse
import dataclasses
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import counting
import judgement
import lines
import report
import result_file
import rounds
import session
from parts import Parts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rounds import Query
    from workload import Workload


def arguments(doc: str, scale: float) -> tuple[argparse.Namespace, bool]:
    """What to measure, and whether that is all of it."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("--scale", type=float, default=scale)
    parser.add_argument("--files", type=int, default=64, help="files of the largest table")
    parser.add_argument("--pairs", type=int, default=9, help="rounds on the local disk")
    parser.add_argument("--slow-pairs", type=int, default=6, help="rounds on the slow store")
    parser.add_argument("--queries", help="q1,q3: only these")
    parser.add_argument("--lines", help=f"only these beside the unclustered tables: {','.join(lines.LINES)}")
    parser.add_argument(
        "--parts", type=Path, help="a file that keeps each query: say it again to go on there"
    )
    parser.add_argument("--keep", action="store_true", help="keep the result, which names its settings")
    given = parser.parse_args()
    whole = given.keep or vars(given) == {**vars(parser.parse_args([])), "parts": given.parts}
    given.slow_pairs = min(given.slow_pairs, given.pairs)
    return given, whole


def chosen(asked_for: str | None, known: list[str]) -> list[str]:
    """The named ones of those that are known, in their order."""
    names = asked_for.split(",") if asked_for else known
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"{', '.join(unknown)}: not one of {', '.join(known)}")
    return [name for name in known if name in names]


def run(workload: Workload, given: argparse.Namespace, *, keep: bool) -> int:
    """Measures and shows the result; 1 where a target is missed or answers differ."""
    names = chosen(given.queries, list(workload.queries))
    workload = dataclasses.replace(workload, queries={n: workload.queries[n] for n in names})
    keys = chosen(given.lines, list(lines.LINES))
    folder = Path(tempfile.mkdtemp(prefix=f"spark-zorder-{workload.name}-"))
    try:
        spark = session.session(
            folder,
            memory="6g",
            classes=[counting.compiled()],
            spark__sql__shuffle__partitions="8",
            **counting.SETTINGS,
        )
        sources = workload.source(spark, folder, given.scale)
        maker = lines.Maker(spark, workload, folder, given.files)
        made = []
        for line in lines.lines(maker, sources, keys):
            print(f"{line.name}: {line.files}", flush=True)
            made.append(line)
        found, wrong = measured(spark, workload, made, given)
        judged = judgement.judged(found, workload.wanted, wrong, keys)
        text = report.text(spark, workload, made, found, judged, given)
        result_file.show(text, workload.name, keep=keep)
        spark.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for sentence in judged.failures:
        print(f"FAILED: {sentence}", file=sys.stderr)
    return 1 if judged.failures else 0


def measured(
    spark: SparkSession, workload: Workload, made: list[lines.Line], given: argparse.Namespace
) -> tuple[dict[str, Query], list[str]]:
    """Every query in every layout, and the answers that differ."""
    kept = Parts(given.parts)
    sizes = {"scale": given.scale, "files": given.files, "pairs": given.pairs, "slow": given.slow_pairs}
    found, wrong = kept.begin({**sizes, "lines": [line.key for line in made]})
    for name in [name for name in workload.queries if name not in found]:
        text = workload.queries[name]
        differ = [f"{name}: {sentence}" for sentence in rounds.disagreement(spark, made, text)]
        found[name] = rounds.measured(spark, made, text, given.pairs, given.slow_pairs)
        wrong += differ
        kept.add(name, found[name], differ)
        print("\n".join(report.section(name, found[name], made)), flush=True)
    return {name: found[name] for name in workload.queries}, wrong
