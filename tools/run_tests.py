"""Everything that CI runs, each stage to its end, then one line `N passed, N failed` and the exit code.

    run_tests.py          # `make test`: without the tests that are marked as long
    run_tests.py --all    # `make test-all`: all tests, a release to test, a cluster here, and Comet

A failure in one stage does not hide the others: only stages that need its result are left out. Where there is
memory for both, short checks run beside the build of the jars, and the Python tests beside those of the JVM.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import test_summary

TOP = Path(__file__).resolve().parent.parent
REPORTS = TOP / "target/test-reports"
VENVS = TOP / "target/venv"
TOOLS = VENVS / "tools/bin/python"
LINES = ("3.5", "4.3")
# sbt, two JVMs with tests and the Python tests with theirs
MEMORY_FOR_BOTH = 12 * 2**30
# the line whose tests start sessions enough to pay for an archive of classes
ARCHIVED = "4.3"
# of Python tests: many short sessions, which C2 costs half of their CPU time; and Hadoop starts a process for
# each file that it makes, which needs no helper between
QUICK_START = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"
    " -Djdk.lang.Process.launchMechanism=VFORK"
)

# the S3 server of the tests is built with Go
STORE = shutil.which("go") is not None
# tests/python/browser.py looks for the same
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")
BROWSER = "SPARK_ZORDER_BROWSER" in os.environ or any(map(shutil.which, BROWSERS))


@dataclass(frozen=True)
class Stage:
    """One step: command, reports that it must leave, stages whose result it needs, environment."""

    name: str
    command: list[str]
    reports: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def install(line: str) -> Stage:
    """The wheel into one virtual environment."""
    needs = ("wheel", f"venv-{line}")
    return Stage(f"install-{line}", ["tools/install_wheel.sh", line, "python/dist"], (), needs)


def venv(name: str) -> Stage:
    """A virtual environment; nothing is done if it is there."""
    return Stage(f"venv-{name}", ["tools/venv.sh", sys.executable, name])


@functools.cache
def archive(line: str) -> Path:
    """Where the classes of a line's Spark are archived: another file for another Java."""
    # as Spark's scripts find it
    home = os.environ.get("JAVA_HOME")
    java = f"{home}/bin/java" if home else shutil.which("java") or "java"
    version = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    program = (TOP / "tools/class_archive.py").read_text()
    of = "\n".join([os.path.realpath(java), version, QUICK_START, program])
    return TOP / f"target/class-archive-{line}-{zlib.crc32(of.encode()):08x}.jsa"


def class_archive(line: str) -> list[Stage]:
    """Archives the classes of Spark that every session loads, unless that is done.

    Tests run without it, too, but more slowly.
    """
    made, installed = archive(line), VENVS / line / "installed.txt"
    if made.is_file() and installed.is_file() and made.stat().st_mtime > installed.stat().st_mtime:
        return []
    part = made.with_suffix(".part")
    options = f"-XX:ArchiveClassesAtExit={part} -Xlog:disable"
    submit = [
        str(VENVS / line / "bin/spark-submit"),
        "--master",
        "local[2]",
        "--driver-java-options",
        options,
    ]
    submit += ["--conf", "spark.log.level=ERROR", "tools/class_archive.py"]
    # nobody finds it half-written
    whole = f"{shlex.join(submit)} && {shlex.join(['mv', str(part), str(made)])}"
    command = (
        f"rm -f target/class-archive-{line}*; {whole}"
        f" || echo 'no archive of classes for {line}: sessions start more slowly'"
    )
    environment = {"JDK_JAVA_OPTIONS": QUICK_START, "PYSPARK_PYTHON": str(VENVS / line / "bin/python")}
    return [Stage(f"class-archive-{line}", ["bash", "-c", command], environment=environment)]


def pytest(marks: str, line: str, name: str, *where: str) -> Stage:
    """The Python tests against the wheel as installed in one virtual environment."""
    report = f"{name}.xml"
    options = ["-q", "--durations=5", "-p", "no:cacheprovider", f"--junitxml={REPORTS / report}"]
    command = [str(VENVS / line / "bin/python"), "-m", "pytest", *options, "-m", marks, *where]
    quick = QUICK_START
    if line == ARCHIVED:
        # the JVMs that cannot take the archive, such as those of launchers, start without it and are silent
        quick += f" -XX:SharedArchiveFile={archive(line)} -Xshare:auto -Xlog:disable"
    return Stage(name, command, (report,), (f"install-{line}",), {"JDK_JAVA_OPTIONS": quick})


def checks() -> list[Stage]:
    """What needs no jars, and what tests need beside these: all of it is there before the tests begin."""
    return [
        venv("3.5"),
        *([Stage("s3-server", ["tools/s3_server.sh"])] if STORE else []),
        *class_archive(ARCHIVED),
        venv("tools"),
        Stage("lint-python", ["make", "--no-print-directory", "lint-python"], (), ("venv-tools",)),
        Stage("docs", ["make", "--no-print-directory", "docs"]),
    ]


def jars(every: bool) -> list[Stage]:
    """What the tests build on. All tests also take our jars from a release's Maven repository."""
    return [Stage("jars", ["tools/sbt.sh", "exportSparkLines", *(["release"] if every else []), "jars"])]


def jvm(every: bool) -> list[Stage]:
    """All that sbt tests and lints: one run of sbt."""
    store = ("store_212",) if STORE else ()
    task = "verify" + ("All" if every else "") + ("WithStore" if STORE else "")
    return [
        Stage("jvm", ["tools/sbt.sh", task], ("curve_212", "spark35_212", "spark41_213", "hdfs_212", *store))
    ]


def python(every: bool) -> list[Stage]:
    """All that needs the wheel."""
    wheel = [str(TOOLS), "tools/build_wheel.py", "--out", "python/dist"]
    folders = ["tests/python", "--ignore=tests/python/connect"]
    short = "" if every else "not long"
    first = "" if every else "not long and not same_on_all_lines"
    return [
        Stage("wheel", wheel, (), ("jars", "venv-tools")),
        *(install(line) for line in LINES),
        pytest(short, "4.3", "pytest-4.3", *folders),
        pytest(first, "3.5", "pytest-3.5", *folders),
        pytest(short, "4.3", "pytest-4.3-connect", "tests/python/connect"),
        pytest(short, "3.5", "pytest-3.5-hostile", "tests/hostile"),
        # EMR 7 has Spark 3.5, and settings in a file
        *([cluster("4.3", "2.13"), cluster("3.5", "2.12", "--only", "defaults-alone")] if every else []),
        *([install("4.1"), comet()] if every else []),
    ]


def cluster(line: str, scala: str, *more: str) -> Stage:
    """A master and two workers, as `make cluster-test` runs them."""
    version = (TOP / "VERSION").read_text().strip()
    command = [str(VENVS / line / "bin/python"), "tests/cluster/run.py", *more]
    command += ["--wheel", f"python/dist/spark_zorder-{version}-py3-none-any.whl"]
    command += ["--jar", f"target/jars/spark-zorder-spark{line}_{scala}-{version}.jar"]
    return Stage(f"cluster-{line}", command, (), (f"install-{line}",))


def comet() -> Stage:
    """Queries with DataFusion Comet, as `make comet-test` runs them."""
    return Stage("comet", [str(VENVS / "4.1/bin/python"), "tests/comet/run.py"], (), ("install-4.1",))


@dataclass
class Run:
    """The stages that have failed so far; two threads add to it."""

    every: bool
    failed: list[Stage] = field(default_factory=list)

    def all_of(self, stages: list[Stage], captured: bool = False) -> None:
        """One stage after the other."""
        for stage in stages:
            missing = [s.name for s in self.failed if s.name in stage.needs]
            if missing:
                print(f"=== {stage.name}: left out, {', '.join(missing)} failed", flush=True)
            if missing or not self.one(stage, captured):
                self.failed.append(stage)

    def together(self, stages: list[Stage], beside: list[Stage]) -> None:
        """Two lists at once, where there is memory for both; the second says nothing before a stage's end."""
        if memory() < MEMORY_FOR_BOTH:
            self.all_of(stages + beside)
        else:
            other = threading.Thread(target=self.all_of, args=(beside, True))
            other.start()
            self.all_of(stages)
            other.join()

    def one(self, stage: Stage, captured: bool) -> bool:
        """Runs one stage, with its output on the terminal: as it comes, or at the stage's end."""
        print(f"=== {stage.name}", flush=True)
        start = time.monotonic()
        environment = {
            k: v for k, v in os.environ.items() if k not in ("SPARK_HOME", "PYTHONPATH", "MAKEFLAGS")
        }
        environment |= {"SHORT_TESTS": "0" if self.every else "1", **stage.environment}
        done = subprocess.run(
            stage.command,
            cwd=TOP,
            env=environment,
            stdin=subprocess.DEVNULL,
            check=False,
            stdout=subprocess.PIPE if captured else None,
            stderr=subprocess.STDOUT if captured else None,
        )
        lost = [report for report in stage.reports if not test_summary.exists(REPORTS / report)]
        said = [(done.stdout or b"").decode(errors="replace").rstrip()]
        said += [f"{stage.name} left no report: {', '.join(lost)}"] if lost else []
        said += [f"=== {stage.name}: {time.monotonic() - start:.0f} s, exit code {done.returncode}"]
        print("\n".join(line for line in said if line), flush=True)
        return done.returncode == 0 and not lost


def main() -> int:
    """Runs the stages and sums up."""
    every = sys.argv[1:] == ["--all"]
    if sys.argv[1:] and not every:
        sys.exit(__doc__)
    start = time.monotonic()
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    run = Run(every)
    run.together(jars(every), beside=checks())
    run.together(jvm(every), beside=python(every))
    print(f"\n{test_summary.times(REPORTS)}\n\nall stages: {time.monotonic() - start:.0f} s")
    return summary(run, every)


def memory() -> int:
    """Bytes of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def summary(run: Run, every: bool) -> int:
    """What ran, what did not, and the line that CI shows."""
    if not STORE:
        print("left out: the tests on an S3 server, since Go, which builds it, is not on PATH")
    if not BROWSER:
        print("left out: the report in a browser, since Chromium is not on PATH")
    left = test_summary.left(REPORTS)
    if not every:
        print(f"left for `make test-all`: {left} tests, the cluster on this machine, and Comet")
    # after a compile error there are no reports, and that is said already
    stopped = any(stage.name == "jvm" for stage in run.failed)
    wrong = [] if stopped else [f"no report of {name}" for name in unreported()]
    if every and left:
        wrong.append(f"{left} tests were left out of a run that leaves none out")
    passed, counted = test_summary.totals(REPORTS)
    if run.failed or wrong:
        print("\nfailed: " + ", ".join([stage.name for stage in run.failed] + wrong))
        for name in test_summary.failures(REPORTS):
            print("  " + name)
    # a stage that failed without a failing test (a compile error, a linter) counts as one failure
    silent = [stage for stage in run.failed if not reported(stage)]
    failed = counted + len(silent) + len(wrong)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed or not passed else 0


def unreported() -> list[str]:
    """Suites in the sources that no project runs: a suite without a test to run has a report too."""
    reports = {path.name for path in REPORTS.glob("*/*.xml")}
    names = []
    for path in sorted((TOP / "tests/jvm").rglob("*.scala")):
        text = path.read_text()
        package = re.search(r"^package ([\w.]+)", text, flags=re.M)
        for suite in re.findall(r"^class (\w+Suite)\b", text, flags=re.M) if package else ():
            if STORE or "tests/jvm/store" not in str(path):
                names.append(f"{package.group(1)}.{suite}")
    return [name for name in names if f"TEST-{name}.xml" not in reports]


def reported(stage: Stage) -> bool:
    """Whether the reports of a failed stage show a failing test, so that it is counted already."""
    folder = [REPORTS] if stage.name == "jvm" else [REPORTS / report for report in stage.reports]
    paths = [p for f in folder for p in (sorted(f.glob("*/*.xml")) if f.is_dir() else [f]) if p.is_file()]
    return any(test_summary.of_file(path).failed for path in paths)


if __name__ == "__main__":
    sys.exit(main())
