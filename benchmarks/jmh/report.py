"""The result file of `make bench-keys`, from what JMH has measured.

python benchmarks/jmh/report.py target/jmh.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import machine
import result_file

TOP = Path(__file__).resolve().parent.parent.parent
VERSION = (TOP / "VERSION").read_text().strip()

# what each benchmark measures, and the most nanoseconds that it may take on Java 17
BENCHMARKS: dict[str, tuple[str, float | None]] = {
    "CurveSpeed.floorTwoInts": ("reading two ints, writing a long", None),
    "CurveSpeed.morton2x32": ("Morton code of two 32-bit words", 4.0),
    "CurveSpeed.hilbert2x32": ("Hilbert index of two 32-bit words", 15.0),
    "LayoutSpeed.rank": ("rank of a skewed BIGINT", None),
    "LayoutSpeed.walk4096": ("leaf of a tree of 4,096, ranks given", 40.0),
    "LayoutSpeed.fourRanksAndKey": (
        "`zorder_key` of four columns: ranks, leaf of 256, Hilbert order in it",
        80.0,
    ),
    "RawKeySpeed.zorderIntInt": ("`zorder` of two INT, with its array", None),
    "RawKeySpeed.zorderIntBigint": ("`zorder` of INT and BIGINT, with its array", None),
    "RawKeySpeed.hilbertIntInt": ("`hilbert` of two INT, with its array", None),
}


def row(result: dict[str, Any]) -> str:
    """One line of the table."""
    name = ".".join(result["benchmark"].split(".")[-2:])
    what, most = BENCHMARKS[name]
    score, error = result["primaryMetric"]["score"], float(result["primaryMetric"]["scoreError"])
    least = min(x for fork in result["primaryMetric"]["rawData"] for x in fork)
    target = "" if most is None else f"{most:g}, {'met' if score <= most else '**missed**'}"
    return f"| {what} | {score:.1f} | {error:.1f} | {least:.1f} | {target} |"


def report(results: list[dict[str, Any]]) -> str:
    """The whole file."""
    first = results[0]
    order = {name: i for i, name in enumerate(BENCHMARKS)}
    results = sorted(results, key=lambda r: order[".".join(r["benchmark"].split(".")[-2:])])
    lines = [
        "# Nanoseconds of curves, ranks, trees and keys",
        "",
        f"`make bench-keys`, {time.strftime('%Y-%m-%d')}. JMH, {first['forks']} forks of "
        f"{first['measurementIterations']} iterations of {first['measurementTime']}; 8,192 random rows.",
        "",
        "| what | mean, ns | error (99.9 %) | least | at most |",
        "| --- | --- | --- | --- | --- |",
        *(row(r) for r in results),
        "",
        f"- spark-zorder {VERSION}, JMH {first['jmhVersion']}, {first['vmName']}",
        f"- {machine.line(first['jdkVersion'])}",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Writes the file, and prints it."""
    text = report(json.loads(Path(sys.argv[1]).read_text()))
    result_file.show(text, "keys", keep=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
