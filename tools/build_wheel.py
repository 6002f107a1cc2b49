"""Builds the wheel: the Python package with the jars of all Spark lines, or of some.

    build_wheel.py --out python/dist                      # all lines of target/spark-lines.json
    build_wheel.py --out target/dev-wheel --lines 4.3     # a wheel for one line, e.g. for `make demo`
    build_wheel.py --out target/release/pypi --sdist      # and the source distribution, jars too

The source tree stays as it is: the package is put together in target/wheel.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def main() -> int:
    """Builds one wheel and prints its path."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--lines", help="Spark lines such as 4.3 or 3.5_2.12, comma separated; default: all")
    parser.add_argument("--sdist", action="store_true", help="also the source distribution")
    arguments = parser.parse_args()
    version = (TOP / "VERSION").read_text().strip()
    jars = wanted(version, arguments.lines)
    missing = [jar.name for jar in jars if not jar.is_file()]
    if missing or not jars:
        print(f"No jar: {', '.join(missing) or arguments.lines}; run `make jars` first.", file=sys.stderr)
        return 1
    for made in build(jars, version, arguments.out.resolve(), arguments.sdist):
        print(made)
    return 0


def wanted(version: str, lines: str | None) -> list[Path]:
    """The jars that belong into the wheel, by the build's one table of Spark lines."""
    table = json.loads((TOP / "target/spark-lines.json").read_text())
    names = None if lines is None else set(lines.split(","))
    chosen = [r for r in table if names is None or names & {r["line"], f"{r['line']}_{r['scala']}"}]
    return [TOP / "target/jars" / f"{row['artifact']}-{version}.jar" for row in chosen]


def build(jars: list[Path], version: str, out: Path, sdist: bool) -> list[Path]:
    """Puts the package together and runs hatchling on it."""
    stage = TOP / "target/wheel" / out.name
    shutil.rmtree(stage, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", ".*_cache", "dist", "*.egg-info", "jars")
    shutil.copytree(TOP / "python", stage, ignore=ignored)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(TOP / name, stage)
    inside = stage / "src/spark_zorder/jars"
    inside.mkdir()
    for jar in jars:
        shutil.copy(jar, inside)
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("spark_zorder-*.whl"), *out.glob("spark_zorder-*.tar.gz")]:
        old.unlink()
    kinds = ["-t", "wheel", *(["-t", "sdist"] if sdist else [])]
    hatchling = [sys.executable, "-m", "hatchling", "build", *kinds, "-d", str(out)]
    subprocess.run(hatchling, cwd=stage, check=True, stdout=subprocess.DEVNULL)
    made = [out / f"spark_zorder-{version}-py3-none-any.whl"]
    made += [out / f"spark_zorder-{version}.tar.gz"] if sdist else []
    if not all(file.is_file() for file in made):
        found = ", ".join(p.name for p in out.iterdir())
        sys.exit(f"VERSION says {version}, made was {found}: _version.py and VERSION must agree.")
    return made


if __name__ == "__main__":
    sys.exit(main())
