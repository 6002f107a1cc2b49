"""Draws charts of shares, of depths and of the trend over runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..view.units import percent
from . import svg as style
from .texts import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Bar:
    """A share of the table that is read, with its bound, and the share before."""

    label: str
    share: float | None
    bound: float | None = None
    before: float | None = None


def shares(name: str, title: str, description: str, bars: Sequence[Bar]) -> str:
    """Draws bars from nothing to all of the table. A mark shows the bound."""
    compared = any(bar.before is not None for bar in bars)

    def draw(axes: Axes) -> None:
        thick = 0.36 if compared else 0.56
        for at, bar in enumerate(bars):
            middle = at + 0.2 if compared else at
            if bar.before is not None:
                _bar(axes, at - 0.2, bar.before, thick, style.BEFORE, hatch="////")
            if bar.share is not None:
                _bar(axes, middle, bar.share, thick, style.NOW, bound=bar.bound)
            else:
                axes.text((bar.bound or 0) + 0.02, middle, "not known", va="center", color=style.MUTED)
            if bar.bound is not None:
                axes.plot([bar.bound] * 2, [at - 0.46, at + 0.46], color=style.INK, linewidth=1.6)
        axes.set_yticks(range(len(bars)), [short(bar.label, 28) for bar in bars])
        axes.set(xlim=(0, 1.13), ylim=(len(bars) - 0.5, -0.5))
        axes.set_xticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        axes.tick_params(axis="y", length=0, labelcolor=style.INK)
        axes.grid(axis="x")
        axes.spines["left"].set_visible(False)

    return style.svg(name, title, description, 0.5 + (0.5 if compared else 0.34) * len(bars), draw)


def _bar(
    axes: Axes,
    at: float,
    share: float,
    thick: float,
    colour: str,
    hatch: str | None = None,
    bound: float | None = None,
) -> None:
    fill = "none" if hatch else colour
    axes.barh(at, share, thick, color=fill, edgecolor=colour, hatch=hatch, linewidth=0.8 if hatch else 0)
    # if the mark of the bound is just behind the bar, the text comes after it
    end = bound if bound is not None and share < bound < share + 0.15 else share
    axes.text(end + 0.015, at, percent(share), va="center", color=style.INK, fontsize=style.TEXT - 1)


def in_order(labels: Sequence[str]) -> list[str]:
    """Sorts buckets such as 2 and 3-4 by their beginning, each once."""
    return sorted(set(labels), key=lambda label: int(label.split("-")[0]))


def depths(
    name: str,
    title: str,
    description: str,
    blocks: str,
    now: Sequence[tuple[str, int]],
    before: Sequence[tuple[str, int]],
) -> str:
    """Draws the number of blocks at each depth: a column for each bucket, the earlier one beside it."""
    labels = in_order([label for label, _ in (*now, *before)])

    def draw(axes: Axes) -> None:
        width = 0.4 if before else 0.7
        for counts, colour, shift, hatch in (
            (dict(before), style.BEFORE, -width / 2, "////"),
            (dict(now), style.NOW, width / 2 if before else 0.0, None),
        ):
            for at, label in enumerate(labels):
                count = counts.get(label, 0)
                if count:
                    fill = "none" if hatch else colour
                    axes.bar(
                        at + shift, count, width, color=fill, edgecolor=colour, hatch=hatch, linewidth=0.8
                    )
                    text = f"{count:,}"
                    axes.text(
                        at + shift,
                        count,
                        text,
                        ha="center",
                        va="bottom",
                        color=style.INK,
                        fontsize=style.TEXT - 1,
                    )
        every = -(-len(labels) // 9)
        axes.set_xticks(range(0, len(labels), every), labels[::every])
        axes.set_xlim(-0.6, max(len(labels), 5) - 0.4)
        axes.margins(y=0.14)
        axes.yaxis.set_major_locator(_whole())
        axes.grid(axis="y")
        axes.tick_params(axis="both", length=0)
        axes.set_xlabel("depth")
        axes.set_ylabel(blocks)
        axes.spines["left"].set_visible(False)

    return style.svg(name, title, description, 2.4, draw)


def trend(
    name: str, title: str, description: str, lines: dict[str, list[float | None]], runs: Sequence[str]
) -> str:
    """Draws one line for each column over the runs."""

    def draw(axes: Axes) -> None:
        for i, values in enumerate(lines.values()):
            known = [(at, v) for at, v in enumerate(values) if v is not None]
            axes.plot([at for at, _ in known], [v for _, v in known], color=style.NOW, **looks(i))
        every = -(-len(runs) // 8)
        axes.set_xticks(range(0, len(runs), every), list(runs)[::every])
        axes.set(ylim=(0, 1.05), xlabel="run")
        axes.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"])
        axes.grid(axis="y")
        _legend(axes, list(lines))

    return style.svg(name, title, description, 2.4, draw)


def looks(line: int) -> dict[str, Any]:
    """The dashes and the marker of a line. Those of 36 lines differ, since 4 and 9 have no common factor."""
    return {"dashes": _DASHES[line % 4], "marker": _MARKERS[line % 9], "markersize": 5}


_DASHES = ((1, 0), (4, 2), (1, 1.5), (6, 2, 1, 2))
_MARKERS = "os^DvPX<>"


def _legend(axes: Axes, labels: Sequence[str]) -> None:
    """Names the lines in their order. The texts are set afterwards, since matplotlib leaves out ``_id``."""
    legend = axes.legend(axes.lines, ["line"] * len(labels), frameon=False, labelcolor=style.INK)
    for text, label in zip(legend.get_texts(), labels):
        text.set_text(label)


def _whole() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=4, integer=True)
