"""The front of policies of growth: look-ups beside a fresh FULL, bytes written per byte appended, files.

    python benchmarks/growth/simulate.py    30 appends of 3 % to a table of 64 files; 200 rounds from nothing

Prints the best policies for each amount written, and the one that is chosen; then what the chosen one and the
one before come to, by budget, for a table that grows from nothing.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import policies
import result_file
from policies import Outcome, Policy

# the rule for writeBudget = 5
CHOSEN = Policy(factor=2, files=2, power=0.5, refit=10 / 3)
# the numbers of ADR 67, for writeBudget = 5; its limit of files was another one, and where that was
# reached, new rows became a single file
BEFORE = Policy(factor=1.5, files=1.4, power=0.5, refit=10 / 3, most=2, ahead=1)
BUDGETS = (5, 6, 7, 8, 10)
ROUNDS = (32, 200)
FACTORS = (0, 0.5, 1, 1.5, 2, 3, 4, 8)
FILES = (0.35, 0.5, 0.6, 0.7, 0.85, 1, 1.4, 2)
POWERS = (1 / 3, 1 / 2, 2 / 3, 1)
REFITS = (2, 2.5, 2.9, 3.1, 10 / 3, 3.6, 4, 4.5, 5)
WRITTEN = (3, 3.5, 4, 4.5, 5, 6)
MOST_FILES = 3


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
        line("ADR 67", BEFORE, policies.outcome(BEFORE, "random"), in_time(BEFORE)),
        line("**chosen**", CHOSEN, policies.outcome(CHOSEN, "random"), in_time(CHOSEN)),
    ]
    for regions, what in ((1, "whole"), (4, "4 regions")):
        tried = [Policy(*rule, regions=regions) for rule in itertools.product(FACTORS, FILES, POWERS, REFITS)]
        found = [(policy, policies.outcome(policy, "random")) for policy in tried]
        for written in WRITTEN:
            fits = [f for f in found if f[1].written <= written and f[1].files <= MOST_FILES + 1e-9]
            policy, best = min(fits, key=lambda f: (f[1].worst, f[1].mean))
            rows.append(line(f"{written:g}, {what}", policy, best, in_time(policy)))
    return "\n".join(rows)


def grown() -> str:
    """The table of rounds from nothing: the rule before and the one that is chosen, by budget."""
    rows = [
        "| rounds | writeBudget | files of a merge | worst | mean | written | files | mean | opened |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for rounds, budget, policy in itertools.product(ROUNDS, BUDGETS, (BEFORE, CHOSEN)):
        # two thirds of the budget are for writing everything anew
        found = policies.from_nothing(
            dataclasses.replace(policy, refit=budget * 2 / 3, budget=budget), rounds
        )
        rows.append(
            f"| {rounds} | {budget} | {policy.files:g} x share^{policy.power:.2g}, "
            f"ahead {policy.ahead:.2f} | {found} |"
        )
    return "\n".join(rows)


def best() -> str:
    """The best policies for 200 rounds from nothing, for each amount written."""
    shares = (0.55, 2 / 3, 0.8)
    grid = ((1, 1.5, 2, 3), (0.6, 1, 1.4, 2, 3), (0.5, 0.67), BUDGETS, shares, (2, 3), (1, math.sqrt(2)))
    tried = [
        Policy(factor, files, power, refit=budget * share, budget=budget, most=most, ahead=ahead)
        for factor, files, power, budget, share, most, ahead in itertools.product(*grid)
    ]
    found = [(policy, policies.from_nothing(policy, ROUNDS[-1])) for policy in tried]
    rows = [
        f"Of {len(tried):,} policies, the best with at most {MOST_FILES} times the files of `FULL`:",
        "",
        "| written at most | factor, files, refit, budget, most, ahead | worst | mean | written | files "
        "| mean | opened |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for written in (5, 6, 7):
        fits = [f for f in found if f[1].written <= written and f[1].files <= MOST_FILES]
        p, o = min(fits, key=lambda f: f[1].mean)
        rule = f"{p.factor:g}, {p.files:g} x share^{p.power:.2g}, {p.refit:.3g}, {p.budget:g}, {p.most:g}, "
        rule += f"{p.ahead:.2f}"
        rows.append(f"| {written} | {rule} | {o} |")
    return "\n".join(rows)


def text() -> str:
    """The result file."""
    import time

    return (
        "# The front of growth, simulated\n\n"
        f"`benchmarks/growth/simulate.py`, {time.strftime('%Y-%m-%d')}. 64 files, 30 appends of 3 % of the "
        "first table, a run after each.\nUnit: rows that a look-up reads, beside those that it reads after a "
        "fresh `FULL`, over both columns; written: by runs, per row\nappended; files: beside `FULL`, "
        f"at most {MOST_FILES}. In the order of time all lines merge no further than ADR 72 allows.\n\n"
        f"{front()}\n\n"
        "## From nothing\n\nEach round brings the rows of 1.1 files, spread over all cells. Unit: rows that "
        "a look-up by both columns reads, beside those\nafter a fresh `FULL`, after the eighth round; files "
        "beside `FULL`, at most and in the mean; files that a look-up opens, where `FULL` has it\n"
        "open one.\n\n"
        f"{grown()}\n\n{best()}\n"
    )


def main() -> int:
    """Prints the front and writes the result file."""
    result_file.show(text(), "growth-front", keep=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
