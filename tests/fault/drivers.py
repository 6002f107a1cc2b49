"""Drivers that wait with a started session, so that a kill does not wait for the start of a JVM."""

from __future__ import annotations

import itertools
import os
import re
import signal
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent

# of a run, in their order; a line on standard error ends each
STEPS = ("schema", "select", "footers", "sample", "fit", "forecast", "rewrite", "verify", "measure", "commit")
STEP = re.compile(r"^zorder \S+  (\w+) .*\((\d+\.\d) s\)$", re.MULTILINE)
REFUSED = re.compile(r"^zorder \S+  commit +refused")
AFTER = "after the commit"
START_SECONDS = 300.0


class Driver:
    """A program of this folder in a process group of its own, with its JVM.

    One that is `apart` has numbers of processes of its own, so that nobody outside can tell whether it runs,
    as if it were on another machine.
    """

    def __init__(self, program: tuple[str, ...], log: Path, apart: bool = False) -> None:
        self.log = log
        alone = ("unshare", "--pid", "--fork") if apart else ()
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [*alone, sys.executable, str(HERE / program[0]), *program[1:]],
                cwd=HERE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def go(self, kind: str) -> None:
        """Tells it what it waits for, and its runs begin."""
        self.await_ready()
        self.tell(kind)

    def await_ready(self) -> None:
        """A JVM may say something first, on the same line, too."""
        assert self.process.stdout is not None
        if not any(line.endswith("ready\n") for line in iter(self.process.stdout.readline, "")):
            raise SystemExit(f"{self.log.stem} did not start: {self.log.read_text()[-2000:]}")

    def tell(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def ended(self) -> list[tuple[str, float]]:
        """The steps that have ended, with the seconds that each took."""
        return [(name, float(seconds)) for name, seconds in STEP.findall(self.log.read_text())]

    def refused(self) -> list[bool]:
        """Of each step that has ended, whether it was a commit that was refused."""
        lines = self.log.read_text().splitlines()
        return [bool(REFUSED.match(line)) for line in lines if STEP.match(line)]

    def await_refused(self, count: int, seconds: float) -> None:
        """Returns when so many commits were refused, or after some seconds."""
        end = time.monotonic() + seconds
        self._await(lambda: sum(self.refused()) >= count or time.monotonic() > end, "have a commit refused")

    def await_step(self, step: str, run: int) -> None:
        """Returns when a step of a run, the first being 0, begins."""
        before = run * len(STEPS) + STEPS.index(step)
        self._await(lambda: len(self.ended()) >= before, f"come to {step}")

    def await_ended(self, step: str, count: int) -> None:
        """Returns when a step, such as the commit of a batch, has ended so often."""
        self._await(lambda: sum(name == step for name, _ in self.ended()) >= count, f"end its {step}")

    def has_halted(self, seconds: float) -> bool:
        """Whether its JVM stops by itself within so many seconds."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _await(self, reached: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + START_SECONDS
        while not reached():
            if time.monotonic() > end or self.process.poll() is not None:
                raise SystemExit(f"The victim did not {what}: {self.log.read_text()[-2000:]}")
            time.sleep(0.01)

    def kill(self) -> int:
        """kill -9 of Python and its JVM, which are one process group; the number of runs begun."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        rest, _ = self.process.communicate()
        return int(rest.count("run "))


def under_way(ended: list[tuple[str, float]]) -> str:
    """The step that came after the last one that ended."""
    if not ended:
        return STEPS[0]
    last = STEPS.index(ended[-1][0])
    return STEPS[last + 1] if last + 1 < len(STEPS) else AFTER


class Drivers:
    """Some drivers that are started ahead of their use."""

    def __init__(self, folder: Path, *program: str, ahead: int = 2, apart: bool = False) -> None:
        self.folder, self.program, self.apart = folder, program or ("victim.py", str(folder)), apart
        self.numbers = itertools.count()
        self.waiting = deque(self.start() for _ in range(ahead))

    def start(self) -> Driver:
        return Driver(self.program, self.folder / f"driver-{next(self.numbers)}.log", self.apart)

    def next(self, kind: str) -> Driver:
        """One that begins its runs, and another one in its place."""
        driver = self.waiting.popleft()
        driver.go(kind)
        self.waiting.append(self.start())
        return driver

    def close(self) -> None:
        for driver in self.waiting:
            driver.kill()
