"""Adds up JUnit reports of scalatest and pytest. `test_summary.py FOLDER` prints `N passed, N failed`."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


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


def main() -> int:
    """Prints the line; fails on any failure, and when nothing ran."""
    count = totals(Path(sys.argv[1]))
    print(f"{count.passed} passed, {count.failed} failed")
    return 1 if count.failed or not count.passed else 0


if __name__ == "__main__":
    sys.exit(main())
