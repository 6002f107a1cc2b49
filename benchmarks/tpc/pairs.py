"""Seconds of the same work in two layouts, pair by pair: how many times as fast, and how sure that is."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Pairs:
    """Seconds of the unclustered tables and of another layout, of the same rounds."""

    unclustered: list[float]
    layout: list[float]

    @property
    def ratios(self) -> list[float]:
        """Unclustered / layout, smallest first: above 1 the layout is faster."""
        return sorted(u / o for u, o in zip(self.unclustered, self.layout, strict=True))

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
    unclustered = zip(*(p.unclustered for p in of), strict=True)
    layout = zip(*(p.layout for p in of), strict=True)
    return Pairs([sum(r) for r in unclustered], [sum(r) for r in layout])
