"""Writes the tables of the gain, from the checked-in result files: four rows into README.md, all into a page.

python readme_table.py            writes them
python readme_table.py --check    ends with 1 if README.md or docs/benchmarks.md has another one
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent.parent
RESULTS = TOP / "benchmarks/results"
BEGIN, END = "<!-- gain: begin, made by make readme-table -->", "<!-- gain: end -->"
NAMES = {
    "as it came": "as it came, in no order",
    "spark-zorder": "**spark-zorder, `ZORDER TABLE`**",
    "lexical sort": "plain sort by the same columns",
}


@dataclass(frozen=True)
class Layout:
    """One row: shares per column, and how many files and, if known, pages the layout has."""

    name: str
    files: list[float]
    pages: list[float]
    count: int
    page_count: int | None = None


class Gain:
    """The layouts of both result files, and the bound that each is compared with."""

    def __init__(self, result: dict[str, Any], peers: dict[str, Any]) -> None:
        """Of ours, figures are by layout, level and column."""
        columns = list(result["data"]["by"])
        found = {(f["layout"], f["level"], f["column"]): f for f in result["figures"]}

        def shares(layout: str, level: str, field: str = "share") -> list[float]:
            return [found[layout, level, column][field] for column in columns]

        def of_ours(layout: str, name: str) -> Layout:
            files, pages = (found[layout, level, columns[0]]["blocks"] for level in ("files", "pages"))
            return Layout(name, shares(layout, "files"), shares(layout, "pages"), files, pages)

        self.asked: int = result["data"]["files"]
        self.ours = {layout: of_ours(layout, name) for layout, name in NAMES.items()}
        self.peers = [Layout(r["layout"], r["files"], r["pages"], r["count"]) for r in peers["rows"]]
        ours = "spark-zorder"
        bounds = shares(ours, "files", "bound"), shares(ours, "pages", "bound")
        self.bound = replace(self.ours[ours], name="bound for any layout", files=bounds[0], pages=bounds[1])

    def times(self, layout: Layout) -> tuple[float, float]:
        """How many times the bound is read, of files and of pages."""

        # of two columns, the least mean share falls as one over the root of the number of blocks
        def least(shares: list[float], count: int, of_layout: int) -> float:
            return sum(shares) * math.sqrt(count / of_layout)

        pages = self.bound.page_count or 1
        files_at_least = least(self.bound.files, self.bound.count, layout.count)
        pages_at_least = least(self.bound.pages, pages, layout.page_count or pages)
        return sum(layout.files) / files_at_least, sum(layout.pages) / pages_at_least

    def best_peer(self) -> Layout:
        """The peer that reads the least files beside the bound."""
        return min(self.peers, key=lambda layout: self.times(layout)[0])

    def table(self, layouts: list[Layout]) -> str:
        """The rows of a page in Markdown."""
        lines = [
            "| layout | files read | x bound | pages read | x bound |",
            "| --- | --- | --- | --- | --- |",
        ]
        return "\n".join([*lines, *(self._line(layout) for layout in layouts)])

    def _line(self, layout: Layout) -> str:
        files, pages = self.times(layout)
        made = "" if layout.count == self.asked else f" ({layout.count} files)"
        cells = [layout.name + made, _pair(layout.files), f"{files:.2f}", _pair(layout.pages), f"{pages:.2f}"]
        return f"| {' | '.join(cells)} |"


def _pair(shares: list[float]) -> str:
    # a pair stays on one line
    return "\u00a0/\u00a0".join(f"{share:.3f}" for share in shares)


def readme(gain: Gain, result: dict[str, Any], peers: dict[str, Any]) -> str:
    """Four rows, and what the bound is."""
    about = result["data"]
    layouts = [gain.ours["as it came"], gain.ours["spark-zorder"], gain.best_peer(), gain.bound]
    lines = [
        f"Share of the table that a look-up by `{about['by'][0]}` / by `{about['by'][1]}` reads; TPC-DS",
        f"`store_sales` at scale {about['scale']} ({about['rows']:,} rows), in {about['files']} files",
        "where no other number stands:",
        "",
        gain.table(layouts),
        "",
        f"The bound: look-ups on two independent columns cannot both read less than 1/{_root(gain.asked)} of",
        f"{gain.asked} files, whatever the layout. The peer is the one of {len(gain.peers)} layouts of",
        "Delta, Iceberg and Hudi (open-source releases, measured by us) that reads the fewest files",
        "beside its bound: [all of them](docs/benchmarks.md). Made by `make readme-table`,",
        f"{result['date']}, and `make bench-peers`, {peers['date']}: counts, not times.",
    ]
    return "\n".join(lines)


def _root(files: int) -> int:
    root = math.isqrt(files)
    if root * root != files:
        raise ValueError(f"README says 1/root of the files, and {files} is no square")
    return root


def page(gain: Gain, result: dict[str, Any], peers: dict[str, Any]) -> str:
    """All layouts, with what the table shows and where it comes from."""
    versions, about = result["versions"], result["data"]
    lines = [
        "Share of the table that a look-up of one value reads, mean over its rows,",
        f"by `{about['by'][0]}` / by `{about['by'][1]}`; TPC-DS `store_sales` at scale {about['scale']}",
        f"({about['rows']:,} rows), {about['files']} files, pages of at most 20,000 rows:",
        "",
        gain.table([*gain.ours.values(), *gain.peers, gain.bound]),
        "",
        f"- Ours and the plain sort: `make readme-table`, {result['date']}, spark-zorder "
        f"{versions['spark-zorder']} on Spark {versions['spark']}.",
        f"- Delta, Iceberg and Hudi: `make bench-peers`, {peers['date']}, on Spark {peers['spark']}: the",
        "  same table and columns, asked for as many files; the share of the blocks whose min and max hold",
        "  one of 200 values. The result page also has spark-zorder on Delta, Iceberg and Hudi.",
        "- The bound is the least mean of both columns that any layout of so many files or pages can reach",
        "  (independent columns, rows without NULL). For a layout with another number of files, it is the",
        "  bound of so many files. The pages of peers are compared with the bound of ours.",
    ]
    return "\n".join(lines)


def main() -> int:
    """Writes or checks."""
    result = json.loads((RESULTS / "layout-store_sales.json").read_text())
    peers = json.loads((RESULTS / "layouts-peers.json").read_text())
    gain = Gain(result, peers)
    wanted = {"README.md": readme(gain, result, peers), "docs/benchmarks.md": page(gain, result, peers)}
    stale = [name for name, text in wanted.items() if _put(TOP / name, text, "--check" in sys.argv[1:])]
    if stale and "--check" in sys.argv[1:]:
        print(f"{' and '.join(stale)} do not fit benchmarks/results: make readme-table.", file=sys.stderr)
        return 1
    return 0


def _put(file: Path, text: str, check: bool) -> bool:
    """Puts the text between the marks of a page, or only looks. Returns whether the page had another one."""
    old = file.read_text()
    head, found, rest = old.partition(BEGIN)
    tail = rest.partition(END)[2]
    if not found or not rest.count(END):
        sys.exit(f"{file.name} has no place for the table: {BEGIN} ... {END}")
    new = f"{head}{BEGIN}\n{text}\n{END}{tail}"
    if new != old and not check:
        file.write_text(new)
    return new != old


if __name__ == "__main__":
    sys.exit(main())
