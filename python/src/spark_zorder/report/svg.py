"""Turns pictures of matplotlib into SVG for a page, with the page's colours, real text and unique ids."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ..view.lines import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

# from matplotlib's colours to the page's variables, so that one picture serves light and dark
INK = "#010101"
MUTED = "#020202"
LINE = "#030303"
NOW = "#040404"
BEFORE = "#050505"
PAPER = "#060606"
THEME = {INK: "ink", MUTED: "muted", LINE: "line", NOW: "now", BEFORE: "before", PAPER: "paper"}

# in inches and points; the page shows a picture 0.9 to 1.4 times as large
WIDTH = 4.0
TEXT = 9.5

_SVG = "http://www.w3.org/2000/svg"
_LINK = "{http://www.w3.org/1999/xlink}href"
# characters that XML has no way to write
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_SETTINGS: Any = {
    # real text, which a user can select, enlarge and have read out, in the page's font
    "svg.fonttype": "none",
    # the same rows give the same file
    "svg.hashsalt": "spark-zorder",
    "font.family": "sans-serif",
    "font.size": TEXT,
    # a column may be named $a$, which is no formula
    "text.parse_math": False,
    "text.usetex": False,
    "text.color": INK,
    "axes.edgecolor": LINE,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "hatch.linewidth": 0.6,
}


def svg(name: str, title: str, description: str, height: float, draw: Callable[[Axes], None]) -> str:
    """Draws one picture as an ``<svg>`` element.

    ``name`` makes its ids unique on the page. ``title`` and ``description`` are its text alternative.
    ``height`` is in inches. ``draw`` draws on one pair of axes.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_SETTINGS):
        # pyplot is not used, since it would choose a backend for the whole process
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure.subplots())
        out = io.BytesIO()
        with warnings.catch_warnings():
            # the page's font draws the text, whatever glyphs matplotlib's own font has
            warnings.filterwarnings("ignore", message="Glyph ")
            figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    return _embedded(out.getvalue(), name, title, description)


def _embedded(document: bytes, name: str, title: str, description: str) -> str:
    root = ElementTree.fromstring(_readable(document.decode("utf-8")))
    for element in root.iter():
        # an element inside a page needs no namespace
        element.tag = element.tag.replace(f"{{{_SVG}}}", "")
    for parent in list(root.iter()):
        for child in [c for c in parent if c.tag in ("metadata", "style")]:
            parent.remove(child)
    for element in root.iter():
        _renamed(element, name)
        if "style" in element.attrib:
            element.set("style", _themed(element.get("style", "")))
        if "d" in element.attrib:
            element.set("d", _short(element.get("d", "")))
        if element.tag == "text" and element.text:
            element.text = visible(element.text)
    for needless in ("width", "height", "version"):
        root.attrib.pop(needless, None)
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-desc")
    for at, (tag, text) in enumerate((("title", title), ("desc", description))):
        child = ElementTree.Element(tag, {"id": f"{name}-{tag}"})
        child.text = visible(_readable(text))
        root.insert(at, child)
    return ElementTree.tostring(root, encoding="unicode")


def _readable(text: str) -> str:
    """The text with marks in place of characters that XML refuses. Values of a table may have them."""
    return _NOT_IN_XML.sub("?", text)


def _renamed(element: ElementTree.Element, name: str) -> None:
    """Makes ids unique on the page. Links stay inside the picture."""
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.get('id')}")
    link = element.attrib.pop(_LINK, None)
    if link is not None:
        element.set("href", f"#{name}-{link[1:]}")
    for key, value in element.attrib.items():
        if "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))


def _themed(style: str) -> str:
    for colour, variable in THEME.items():
        style = style.replace(colour, f"var(--{variable})")
    # the page has the font
    return re.sub(r"font: ?([\d.]+px) [^;]*", r"font-size: \1", style)


def _short(path: str) -> str:
    """Rounds to tenths of a point, which no screen can show."""
    return re.sub(
        r"-?\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}", re.sub(r"\s+", " ", path)
    ).strip()
