"""Draws the picture of README.md, docs/images/store_sales.svg, from the checked-in result file.

The files of the demonstration's table before and after ZORDER TABLE, as a report shows them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent.parent
RESULT = TOP / "benchmarks/results/layout-store_sales.json"
PICTURE = TOP / "docs/images/store_sales.svg"
WIDTH, GAP, TOP_ROOM, BOTTOM_ROOM = 300, 24, 30, 26
LIGHT = {"ink": "#16202b", "muted": "#56646f", "line": "#d5dce2", "now": "#0067ac", "paper": "#ffffff"}
DARK = {"ink": "#e8edf2", "muted": "#a3b0bc", "line": "#35414d", "now": "#5db4f0", "paper": "#11171d"}


def picture(result: dict[str, Any]) -> str:
    """Both pictures beside each other, in an SVG that stands alone."""
    from spark_zorder.report import boxes

    x, y = result["data"]["by"]
    before, after = (_boxes(boxes, result["boxes"][name]) for name in ("before", "after"))
    plane = boxes.Plane.of(x, y, after, before)
    parts = []
    for i, (name, of) in enumerate((("as it came", before), ("after ZORDER TABLE", after))):
        read = len(plane.read(of))
        drawn = boxes.picture(f"boxes-{i}", name, f"{read} of {len(of)} files", plane, of)
        left = i * (WIDTH + GAP)
        height = _height(drawn)
        size = f'x="{left}" y="{TOP_ROOM}" width="{WIDTH}" height="{height:.0f}"'
        parts.append(drawn.replace("<svg ", f"<svg {size} ", 1))
        caption = f"{plane.lookup}: {read} of {len(of)} files are read"
        parts.append(_text(left, TOP_ROOM - 12, f"store_sales, {name}", "head"))
        parts.append(_text(left, TOP_ROOM + height + 14, caption, "note"))
    whole = f"0 0 {2 * WIDTH + GAP} {TOP_ROOM + height + BOTTOM_ROOM:.0f}"
    said = f"{len(before)} files that overlap wholly, and {len(after)} that do not, after ZORDER TABLE."
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{whole}" role="img" aria-label="{said}">'
    return "\n".join([head, f"<style>{_style()}</style>", *parts, "</svg>", ""])


def _boxes(boxes: Any, rows: list[list[float]]) -> list[Any]:
    return [boxes.Box((a, b), (c, d), n) for a, b, c, d, n in rows]


def _height(drawn: str) -> float:
    width, height = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', drawn).groups()
    return WIDTH * float(height) / float(width)


def _text(left: float, top: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{left + 4}" y="{top:.0f}">{text}</text>'


def _style() -> str:
    def variables(colours: dict[str, str]) -> str:
        return ":root{" + "".join(f"--{name}:{colour};" for name, colour in colours.items()) + "}"

    return (
        variables(LIGHT)
        + "@media(prefers-color-scheme:dark){"
        + variables(DARK)
        + "}svg{background:var(--paper);font-family:system-ui,sans-serif}svg svg{background:none}"
        + ".head{font-size:13px;font-weight:600;fill:var(--ink)}.note{font-size:11px;fill:var(--muted)}"
    )


def main() -> int:
    """Writes it."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture(json.loads(RESULT.read_text())))
    print(f"written: {PICTURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
