"""Adds up JUnit reports of scalatest and pytest.

test_summary.py target/test-reports            # N passed, N failed
test_summary.py --times target/test-reports    # seconds by area, each beside its budget
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

# seconds that the tests of an area may take in `make test` on two cores, which four JVMs with tests share:
# together about twenty minutes; an area that needs more marks tests as long, or takes from another
# (docs/contributing/building.md says what each guards)
BUDGET = {
    "curve": 140,
    "core": 1000,
    "delta": 480,
    "iceberg": 280,
    "hudi": 180,
    "index": 980,
    "other Spark lines": 230,
    "S3": 90,
    "HDFS": 10,
    "browser": 30,
    "python": 500,
    "connect": 60,
    "hostile": 90,
}


class Count(NamedTuple):
    """Tests that ran; skipped ones are in neither number."""

    passed: int
    failed: int


def of_file(path: Path) -> Count:
    """The tests of one report, counted one by one: suites of the two frameworks nest in different ways."""
    passed = failed = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is None:
            passed += 1
    return Count(passed, failed)


def totals(folder: Path) -> Count:
    """All reports below a folder."""
    counts = [of_file(path) for path in sorted(folder.rglob("*.xml"))]
    return Count(sum(c.passed for c in counts), sum(c.failed for c in counts))


def failures(folder: Path) -> Iterator[str]:
    """The names of the failed tests."""
    for path in sorted(folder.rglob("*.xml")):
        for case in ElementTree.parse(path).iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                yield f"{path.relative_to(folder)}: {case.get('classname')}: {case.get('name')}"


def exists(report: Path) -> bool:
    """Whether a report file, or a folder with reports, is there."""
    return report.is_file() or (report.is_dir() and any(report.glob("*.xml")))


def left(folder: Path) -> int:
    """Tests that were left for `make test-all`, as the runs of both frameworks counted them."""
    return sum(int(path.read_text()) for path in folder.rglob("left.txt"))


def area(report: str, suite: str) -> str:
    """What a test is about: the folder or name of its report, then the package of its class."""
    python = {"pytest-4.3-connect.xml": "connect", "pytest-3.5-hostile.xml": "hostile"}
    if report.endswith(".xml"):
        return "browser" if "browser" in suite else python.get(report, "python")
    if report.startswith("curve"):
        return "curve"
    if report.startswith("store"):
        return "S3"
    if report.startswith("hdfs"):
        return "HDFS"
    if report not in ("spark35_212", "spark41_213"):
        return "other Spark lines"
    rooms = {"delta": "delta", "iceberg": "iceberg", "hudi": "hudi", "skipping": "index"}
    return next((rooms[part] for part in suite.split(".") if part in rooms), "core")


def times(folder: Path, slowest: int = 10) -> str:
    """Seconds in tests by area, and the tests that took longest; setting up a suite is not in them."""
    cases = [
        (float(case.get("time") or 0), path.relative_to(folder).parts[0], case.get("classname") or "", case)
        for path in sorted(folder.rglob("*.xml"))
        for case in ElementTree.parse(path).iter("testcase")
    ]
    lines = [f"{'area':20}{'tests':>6}{'seconds':>9}{'budget':>8}"]
    for name, budget in BUDGET.items():
        own = [seconds for seconds, report, suite, _ in cases if area(report, suite) == name]
        if own:
            over = "  above its budget" if sum(own) > budget else ""
            lines.append(f"{name:20}{len(own):6}{sum(own):9.0f}{budget:8}{over}")
    lines.append("the slowest:")
    for seconds, report, suite, case in sorted(cases, key=lambda c: -c[0])[:slowest]:
        lines.append(f"{seconds:6.1f} s  {report} {suite.split('.')[-1]}: {case.get('name')}"[:110])
    return "\n".join(lines)


def main() -> int:
    """Prints the line; fails on any failure, and when nothing ran."""
    if sys.argv[1] == "--times":
        print(times(Path(sys.argv[2])))
        return 0
    count = totals(Path(sys.argv[1]))
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
