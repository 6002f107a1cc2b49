"""Where the results of benchmarks are kept: one dated file a measurement."""

from __future__ import annotations

import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def show(text: str, name: str, *, keep: bool) -> None:
    """Prints a result; writes it into benchmarks/results, too, unless it was a trial."""
    print("\n" + text)
    if keep:
        target = TOP / f"benchmarks/results/{time.strftime('%Y-%m-%d')}-{name}.md"
        target.write_text(text)
        print(f"written: {target.relative_to(TOP)}")
