"""The front of policies of growth: look-ups beside a fresh FULL, bytes written per byte appended, files.

    python benchmarks/growth/simulate.py         30 appends of 3 % to a table of 64 files

Prints the best policies for each amount written, and the one that is proposed.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import policies
import result_file
from policies import Outcome, Policy

# the rule that is proposed for writeBudget = 5
CHOSEN = Policy(factor=1.5, files=0.6, power=0.5, refit=10 / 3)
# the rule of 2026-11-23: one file an append, all anew once that costs 5 bytes a byte
TODAY = Policy(factor=0, files=1 / 64, power=0, refit=5, most=9)
FACTORS = (0, 0.5, 1, 1.5, 2, 3, 4, 8)
FILES = (0.25, 0.35, 0.5, 0.6, 0.7, 0.85, 1, 1.4)
POWERS = (1 / 3, 1 / 2, 2 / 3, 1)
REFITS = (2, 2.5, 2.9, 3.1, 10 / 3, 3.6, 4, 4.5, 5)
WRITTEN = (3, 3.5, 4, 4.5, 5, 6)
MOST_FILES = 1.5


def line(name: str, policy: Policy, random: Outcome, time: Outcome | None) -> str:
    """A row of the table."""
    rule = f"{policy.factor:g}, {policy.files:.3g} x share^{policy.power:.2g}, {policy.refit:.3g}"
    after = f"{time.worst:.2f} | {time.mean:.2f} | {time.written:.2f}" if time else "- | - | -"
    return (
        f"| {name} | {rule} | {random.worst:.2f} | {random.mean:.2f} | {random.written:.2f} | "
        f"{random.files:.2f} | {after} |"
    )


def in_time(policy: Policy) -> Outcome | None:
    """Appends in time order; regions have no arithmetic for these."""
    return policies.outcome(policy, "time") if policy.regions == 1 else None


def front() -> str:
    """The table of the result."""
    rows = [
        "| written at most | factor, files, refit | worst | mean | written | files | "
        "time: worst | mean | written |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        line("today", TODAY, policies.outcome(TODAY, "random"), in_time(TODAY)),
        line("**proposed**", CHOSEN, policies.outcome(CHOSEN, "random"), in_time(CHOSEN)),
    ]
    for regions, what in ((1, "whole"), (4, "4 regions")):
        tried = [Policy(*rule, regions=regions) for rule in itertools.product(FACTORS, FILES, POWERS, REFITS)]
        found = [(policy, policies.outcome(policy, "random")) for policy in tried]
        for written in WRITTEN:
            fits = [f for f in found if f[1].written <= written and f[1].files <= MOST_FILES + 1e-9]
            policy, best = min(fits, key=lambda f: (f[1].worst, f[1].mean))
            rows.append(line(f"{written:g}, {what}", policy, best, in_time(policy)))
    return "\n".join(rows)


def text() -> str:
    """The result file."""
    import time

    return (
        "# The front of growth, simulated\n\n"
        f"`benchmarks/growth/simulate.py`, {time.strftime('%Y-%m-%d')}. 64 files, 30 appends of 3 % of the "
        "first table, a run after each.\nUnit: rows that a look-up reads, beside those that it reads after a "
        "fresh `FULL`, over both columns; written: by runs, per row\nappended; files: beside `FULL`, "
        f"at most {MOST_FILES}.\n\n{front()}\n"
    )


def main() -> int:
    """Prints the front and writes the result file."""
    result_file.show(text(), "growth-front", keep=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
