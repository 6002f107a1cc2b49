"""Writes what the docs say of the build: the version in names of files, and the table of Spark lines.

    build_facts.py            # writes it, and the version of the Python package
    build_facts.py --check    # ends with 1 and says which file is another one

The facts are VERSION and target/spark-lines.json, which `tools/sbt.sh exportSparkLines` makes of
project/SparkLines.scala.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent
TABLE = "docs/guide/platforms.md"
BEGIN, END = "<!-- lines: begin, made by make build-facts -->", "<!-- lines: end -->"
# names of our files and modules, behind which a version stands
NAMED = re.compile(
    r"(spark_zorder-|spark-zorder-spark\d\.\d+_2\.\d+[-:]|io\.github\.spark-zorder:\S+_2\.\d+:)\d+\.\d+\.\d+"
)
FORMATS = {"delta": "Delta Lake", "iceberg": "Iceberg", "hudi": "Hudi"}
TESTS = {"full": "all", "smoke": "smoke"}


def table(lines: list[dict[str, Any]]) -> str:
    """One row for each jar."""
    heads = ["spark-zorder-", "built with Spark", "Java", *FORMATS.values(), "tests"]
    rows = [heads, ["---"] * len(heads)]
    for line in lines:
        formats = [_versions(line["formats"].get(name)) for name in FORMATS]
        name = line["artifact"].removeprefix("spark-zorder-")
        rows.append([f"`{name}`", line["spark"], f"{line['java']}+", *formats, TESTS[line["tests"]]])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _versions(modules: list[str] | None) -> str:
    return modules[0].rpartition(":")[2] if modules else "-"


def texts(version: str, lines: list[dict[str, Any]]) -> Iterator[tuple[Path, str]]:
    """Each file that says something of the build, and what it should say."""
    package = TOP / "python/src/spark_zorder/_version.py"
    yield package, re.sub(r'"\d+\.\d+\.\d+"', f'"{version}"', package.read_text())
    pages = [TOP / "README.md", TOP / "python/README.md", *sorted((TOP / "docs/guide").glob("*.md"))]
    for page in pages:
        text = NAMED.sub(rf"\g<1>{version}", page.read_text())
        if page == TOP / TABLE:
            before, _, rest = text.partition(BEGIN)
            text = f"{before}{BEGIN}\n{table(lines)}\n{END}{rest.partition(END)[2]}"
        yield page, text


def main() -> int:
    """Writes or checks."""
    version = (TOP / "VERSION").read_text().strip()
    lines = json.loads((TOP / "target/spark-lines.json").read_text())
    other = [(file, text) for file, text in texts(version, lines) if file.read_text() != text]
    if "--check" in sys.argv[1:]:
        for file, _ in other:
            said = "does not say what VERSION and project/SparkLines.scala say: `make build-facts` writes it."
            print(f"{file.relative_to(TOP)} {said}", file=sys.stderr)
        return int(bool(other))
    for file, text in other:
        file.write_text(text)
        print(f"written: {file.relative_to(TOP)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
