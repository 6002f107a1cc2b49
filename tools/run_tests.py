"""Everything that CI runs, each stage to its end, then one line `N passed, N failed` and the exit code.

A failure in one stage does not hide the others: only stages that need its result are left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_summary

TOP = Path(__file__).resolve().parent.parent
REPORTS = TOP / "target/test-reports"
VENVS = TOP / "target/venv"
TOOLS = VENVS / "tools/bin/python"


@dataclass(frozen=True)
class Stage:
    """One step: its command, the reports that it must leave, the stages whose result it needs."""

    name: str
    command: list[str]
    reports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def install(line: str) -> Stage:
    """The wheel into one virtual environment."""
    return Stage(f"install-{line}", ["tools/install_wheel.sh", line, "python/dist"], (), ("wheel",))


def pytest(line: str, name: str, *where: str) -> Stage:
    """The Python tests against the wheel as installed in one virtual environment."""
    report = f"{name}.xml"
    python = str(VENVS / line / "bin/python")
    options = ["-q", "--durations=5", "-p", "no:cacheprovider", f"--junitxml={REPORTS / report}"]
    return Stage(name, [python, "-m", "pytest", *options, *where], (report,), (f"install-{line}",))


def stages() -> list[Stage]:
    """In the order in which they run: the quick ones first."""
    verify, store = ("verifyWithStore", ("store_212",)) if STORE else ("verify", ())
    jvm = ["tools/sbt.sh", "exportSparkLines", verify]
    wheel = [str(TOOLS), "tools/build_wheel.py", "--out", "python/dist"]
    return [
        Stage("lint-python", ["make", "--no-print-directory", "lint-python"]),
        *([Stage("s3-server", ["tools/s3_server.sh"])] if STORE else []),
        Stage("jvm", jvm, ("curve_212", "spark35_212", "spark41_213", *store)),
        Stage("wheel", wheel),
        *(install(line) for line in LINES),
        *(pytest(line, f"pytest-{line}", "tests/python", "--ignore=tests/python/connect") for line in LINES),
        pytest("4.3", "pytest-4.3-connect", "tests/python/connect"),
        pytest("3.5", "pytest-3.5-hostile", "tests/hostile"),
    ]


LINES = ("3.5", "4.3")

# the S3 server of the tests is built with Go
STORE = shutil.which("go") is not None


def main() -> int:
    """Runs the stages and sums up."""
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    failed: list[str] = []
    for stage in stages():
        needed = [name for name in stage.needs if name in failed]
        if needed:
            print(f"=== {stage.name}: left out, {', '.join(needed)} failed", flush=True)
            failed.append(stage.name)
        elif not run(stage):
            failed.append(stage.name)
    if not STORE:
        print("\nleft out: the tests on an S3 server, since Go, which builds it, is not on PATH")
    passed, counted = test_summary.totals(REPORTS)
    if failed:
        print("\nfailed stages: " + ", ".join(failed))
        for name in test_summary.failures(REPORTS):
            print("  " + name)
    # a stage that failed without a failing test (a compile error, a linter) counts as one failure
    silent = [name for name in failed if not reported(name)]
    print(f"{passed} passed, {counted + len(silent)} failed", flush=True)
    return 1 if failed or counted or not passed else 0


def reported(name: str) -> bool:
    """Whether the reports of a failed stage show a failing test, so that it is counted already."""
    stage = next(s for s in stages() if s.name == name)
    folder = [REPORTS] if name == "jvm" else [REPORTS / report for report in stage.reports]
    paths = [p for f in folder for p in (sorted(f.glob("*/*.xml")) if f.is_dir() else [f]) if p.is_file()]
    return any(test_summary.of_file(path).failed for path in paths)


def run(stage: Stage) -> bool:
    """Runs one stage with its output on the terminal."""
    print(f"=== {stage.name}", flush=True)
    start = time.monotonic()
    environment = {k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "PYTHONPATH", "MAKEFLAGS")}
    done = subprocess.run(stage.command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, check=False)
    lost = [report for report in stage.reports if not test_summary.exists(REPORTS / report)]
    if lost:
        print(f"{stage.name} left no report: {', '.join(lost)}")
    print(f"=== {stage.name}: {time.monotonic() - start:.0f} s, exit code {done.returncode}", flush=True)
    return done.returncode == 0 and not lost


if __name__ == "__main__":
    sys.exit(main())
