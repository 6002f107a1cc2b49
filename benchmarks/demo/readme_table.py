"""Writes the table of the gain into README.md, from the checked-in result files.

python readme_table.py            writes it
python readme_table.py --check    ends with 1 if README.md has another one
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent.parent
RESULTS = TOP / "benchmarks/results"
BEGIN, END = "<!-- gain: begin, made by make readme-table -->", "<!-- gain: end -->"
NAMES = {
    "as it came": "as it came (no order)",
    "spark-zorder": "**spark-zorder, `ZORDER TABLE`**",
    "lexical sort": "plain sort by the same columns",
}


def table(result: dict[str, Any], peers: dict[str, Any]) -> str:
    """One row a layout: shares of files and pages per column, and their mean against the bound."""
    columns = list(result["data"]["by"])
    found = {(f["layout"], f["level"], f["column"]): f for f in result["figures"]}

    def shares(layout: str, level: str, field: str = "share") -> list[float]:
        return [found[layout, level, column][field] for column in columns]

    bounds = {level: shares("spark-zorder", level, "bound") for level in ("files", "pages")}

    asked = result["data"]["files"]

    def line(name: str, files: list[float], pages: list[float], count: int = asked) -> str:
        # of two columns, the least mean share falls as one over the root of the number of files
        least = sum(bounds["files"]) * math.sqrt(asked / count)
        mean = sum(files) / least, sum(pages) / sum(bounds["pages"])
        cells = [" / ".join(f"{s:.3f}" for s in files), f"{mean[0]:.2f}"]
        cells += [" / ".join(f"{s:.3f}" for s in pages), f"{mean[1]:.2f}"]
        return f"| {name} | {' | '.join(cells)} |"

    def made(row: dict[str, Any]) -> str:
        return "" if row["count"] == asked else f" ({row['count']} files)"

    lines = [
        "| layout | files read | x bound | pages read | x bound |",
        "| --- | --- | --- | --- | --- |",
        *(line(name, shares(layout, "files"), shares(layout, "pages")) for layout, name in NAMES.items()),
        *(line(f"{r['layout']} †{made(r)}", r["files"], r["pages"], r["count"]) for r in peers["rows"]),
        line("bound for any layout", bounds["files"], bounds["pages"]),
    ]
    return "\n".join(lines)


def text() -> str:
    """The table with what it shows and where it comes from."""
    result = json.loads((RESULTS / "layout-store_sales.json").read_text())
    peers = json.loads((RESULTS / "layouts-peers.json").read_text())
    versions, about = result["versions"], result["data"]
    lines = [
        BEGIN,
        "Share of the table that a look-up of one value reads, mean over its rows,",
        f"by `{about['by'][0]}` / by `{about['by'][1]}`; TPC-DS `store_sales` at scale {about['scale']}",
        f"({about['rows']:,} rows), {about['files']} files, pages of at most 20,000 rows:",
        "",
        table(result, peers),
        "",
        f"Made by `make readme-table`, {result['date']}, spark-zorder {versions['spark-zorder']} on Spark "
        f"{versions['spark']}: counts,",
        "not times. The bound is the least mean of both columns that any layout of so many",
        "files or pages can reach (independent columns, rows without NULL); of a row with another number of",
        "files, that for so many files.",
        f"† Made by `make bench-peers`, {peers['date']}, on Spark {peers['spark']}: the same table",
        "and columns, asked for as many files; the share of the blocks whose min and max hold one of 200",
        "values. The result page also has spark-zorder on Delta, Iceberg and Hudi.",
        END,
    ]
    return "\n".join(lines)


def main() -> int:
    """Writes or checks."""
    readme = TOP / "README.md"
    old = readme.read_text()
    head, found, rest = old.partition(BEGIN)
    tail = rest.partition(END)[2]
    if not found or not rest.count(END):
        sys.exit(f"README.md has no place for the table: {BEGIN} ... {END}")
    new = head + text() + tail
    if "--check" in sys.argv[1:]:
        if new != old:
            print("README.md does not fit benchmarks/results: make readme-table.", file=sys.stderr)
        return int(new != old)
    readme.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
