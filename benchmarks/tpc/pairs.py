"""Seconds of the same work in two layouts, pair by pair: how many times as fast, and how sure that is."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Pairs:
    """Seconds of a base, as a rule the unclustered tables, and of a layout, of the same rounds."""

    base: list[float]
    layout: list[float]

    @property
    def ratios(self) -> list[float]:
        """Base / layout, smallest first: above 1 the layout is faster."""
        return sorted(b / o for b, o in zip(self.base, self.layout, strict=True))

    @property
    def seconds(self) -> float:
        """The median of the layout's own."""
        return statistics.median(self.layout)

    @property
    def times(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    def interval(self) -> tuple[float, float]:
        """Of the median of the ratios: the narrowest pair of order statistics that covers 95 %, or all."""
        ratios, n = self.ratios, len(self.layout)
        outside, k = 0.0, 0
        while k < n // 2:
            more = outside + 2 * math.comb(n, k) / 2**n
            if more > 0.05:
                break
            outside, k = more, k + 1
        k = max(k - 1, 0)
        return ratios[k], ratios[n - 1 - k]


def total(of: list[Pairs]) -> Pairs:
    """Of all queries together, round by round."""
    base = zip(*(p.base for p in of), strict=True)
    layout = zip(*(p.layout for p in of), strict=True)
    return Pairs([sum(r) for r in base], [sum(r) for r in layout])
