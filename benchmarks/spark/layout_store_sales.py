"""What look-ups read of store_sales in several layouts: `make demo`, its figures kept and put into README."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
DEMO = TOP / "benchmarks/demo"


def main() -> int:
    """Runs the demonstration, then renews the table; figures that fail are not kept."""
    result = TOP / "benchmarks/results/layout-store_sales.json"
    new = result.with_suffix(".new")
    done = subprocess.run([sys.executable, str(DEMO / "demo.py"), "--results", str(new)], check=False)
    if done.returncode:
        new.unlink(missing_ok=True)
        return done.returncode
    new.replace(result)
    return subprocess.run([sys.executable, str(DEMO / "readme_table.py")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
