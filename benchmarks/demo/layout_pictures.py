"""Draws docs/images/layouts.svg and, for phones, layouts-narrow.svg: what six layouts of the same rows do.

4,096 rows of two independent columns. The shares are counted from the boxes, not from a run of spark-zorder.
`--check` ends with 1 if a file is another one.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
# layouts side by side in each picture
PICTURES = {TOP / "docs/images/layouts.svg": 3, TOP / "docs/images/layouts-narrow.svg": 2}
BITS = 6
ROWS = 4096
SIDE, GAP, HEAD, FOOT = 220, 28, 26, 40
COLUMNS = ("customer", "product")
STYLE = (
    ":root{--ink:#16202b;--muted:#56646f;--line:#7b8894;--now:#0067ac;--paper:#ffffff}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8edf2;--muted:#a3b0bc;--line:#8593a0;--now:#5db4f0;"
    "--paper:#11171d}}svg{background:var(--paper);font-family:system-ui,sans-serif}"
    ".head{font-size:13px;font-weight:600;fill:var(--ink)}.note{font-size:11px;fill:var(--muted)}"
    ".file{fill:var(--now);fill-opacity:.07;stroke:var(--line);stroke-width:.8}"
    ".read{fill-opacity:.35;stroke:var(--now)}.look{stroke:var(--ink);stroke-dasharray:4 3}"
)

Row = tuple[int, int]
File = list[Row]


def rows() -> list[Row]:
    """Both columns hold each rank once, in an order that has nothing to do with the other one."""
    ranks = list(range(ROWS))
    return list(zip(ranks, random.Random(7).sample(ranks, ROWS)))


def cut(ordered: list[Row], count: int) -> list[File]:
    """Files of equal numbers of rows."""
    borders = [len(ordered) * i // count for i in range(count + 1)]
    return [ordered[low:high] for low, high in zip(borders, borders[1:])]


def halves(of: list[Row], cuts: int, axis: int = 0) -> list[File]:
    """Files that end at the borders of cells: each cut halves the rows by the other column."""
    if not cuts:
        return [of]
    ordered = sorted(of, key=lambda row: row[axis])
    middle = len(ordered) // 2
    return [
        file for half in (ordered[:middle], ordered[middle:]) for file in halves(half, cuts - 1, 1 - axis)
    ]


def z_order(row: Row) -> int:
    """The place of a row on the Z curve, by the upper bits of its ranks."""
    x, y = (value * 2**BITS // ROWS for value in row)
    return sum((x >> b & 1) << 2 * b + 1 | (y >> b & 1) << 2 * b for b in range(BITS))


def hilbert(row: Row) -> int:
    """The place of a row on the Hilbert curve."""
    x, y = (value * 2**BITS // ROWS for value in row)
    place, side = 0, 2**BITS // 2
    while side:
        right, upper = int(bool(x & side)), int(bool(y & side))
        place += side * side * (3 * right ^ upper)
        if not upper:
            if right:
                x, y = 2**BITS - 1 - x, 2**BITS - 1 - y
            x, y = y, x
        side //= 2
    return place


def layouts() -> list[tuple[str, list[File]]]:
    """What is drawn; 20 files, as a size of files gives them, and 16, to which spark-zorder rounds."""
    table = rows()
    mixed = random.Random(8).sample(table, ROWS)
    parts = [[row for row in mixed if row[0] * 4 // ROWS == part] for part in range(4)]
    return [
        ("no order, 20 files", cut(mixed, 20)),
        ("4 partitions by customer", [file for part in parts for file in cut(part, 5)]),
        ("sorted by customer, 20 files", cut(sorted(table), 20)),
        ("Z-order, 20 files of equal rows", cut(sorted(table, key=z_order), 20)),
        ("Hilbert, 20 files of equal rows", cut(sorted(table, key=hilbert), 20)),
        ("cells as files, 16 files", halves(table, 4)),
    ]


def share(files: list[File], axis: int) -> float:
    """Share of the rows that a look-up reads, mean over the rows."""
    boxes = [(*span(file, axis), len(file)) for file in files]
    read = sum(count for v in range(ROWS) for low, high, count in boxes if low <= v <= high)
    return read / ROWS / ROWS


def span(file: File, axis: int) -> tuple[int, int]:
    """The least and the greatest value of a column in a file."""
    values = [row[axis] for row in file]
    return min(values), max(values)


def picture(drawn: list[tuple[str, list[File]]], across: int) -> str:
    """All layouts in one SVG that follows light and dark."""
    down = -(-len(drawn) // across)
    width, height = across * (SIDE + GAP) + GAP, down * (SIDE + HEAD + FOOT)
    said = "; ".join(f"{name}: {_shares(files)}" for name, files in drawn)
    box = f'viewBox="0 0 {width} {height}" role="img" aria-label="{said}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box}>', f"<style>{STYLE}</style>"]
    for i, (name, files) in enumerate(drawn):
        left, top = GAP + i % across * (SIDE + GAP), HEAD + i // across * (SIDE + HEAD + FOOT)
        parts += _panel(name, files, left, top)
    return "\n".join([*parts, "</svg>", ""])


def _shares(files: list[File]) -> str:
    return ", ".join(f"{name} {100 * share(files, axis):.0f} %" for axis, name in enumerate(COLUMNS))


def _panel(name: str, files: list[File], left: int, top: int) -> list[str]:
    at = int(ROWS * 0.3)
    parts = [f'<text class="head" x="{left}" y="{top - 8}">{name}</text>']
    for file in files:
        (a, b), (c, d) = span(file, 0), span(file, 1)
        x, y = left + a * SIDE / ROWS, top + SIDE - (d + 1) * SIDE / ROWS
        size = f'width="{(b - a + 1) * SIDE / ROWS:.1f}" height="{(d - c + 1) * SIDE / ROWS:.1f}"'
        kind = "file read" if c <= at <= d else "file"
        parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size}/>')
    line = top + SIDE - at * SIDE / ROWS
    parts.append(f'<line class="look" x1="{left}" x2="{left + SIDE}" y1="{line:.1f}" y2="{line:.1f}"/>')
    parts.append(f'<text class="note" x="{left}" y="{top + SIDE + 16}">{_shares(files)}</text>')
    return parts


def main() -> int:
    """Writes or checks."""
    drawn = layouts()
    made = {file: picture(drawn, across) for file, across in PICTURES.items()}
    if "--check" in sys.argv[1:]:
        return int(any(not file.is_file() or file.read_text() != text for file, text in made.items()))
    for file, text in made.items():
        file.write_text(text)
        print(f"written: {file.relative_to(TOP)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
