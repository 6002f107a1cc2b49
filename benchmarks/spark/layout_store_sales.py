"""What look-ups read of store_sales in several layouts: `make demo`, its figures kept and put into README."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
DEMO = TOP / "benchmarks/demo"


def main() -> int:
    """Runs the demonstration, then renews table and picture; figures that fail are not kept."""
    result = TOP / "benchmarks/results/layout-store_sales.json"
    new = result.with_suffix(".new")
    done = subprocess.run([sys.executable, str(DEMO / "demo.py"), "--results", str(new)], check=False)
    if done.returncode:
        new.unlink(missing_ok=True)
        return done.returncode
    new.replace(result)
    scripts = ("readme_table.py", "readme_picture.py")
    made = [subprocess.run([sys.executable, str(DEMO / name)], check=False) for name in scripts]
    return max(done.returncode for done in made)


if __name__ == "__main__":
    sys.exit(main())
