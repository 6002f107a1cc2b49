"""Where values stand in a picture: by the share of rows below them, whatever their type and skew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .values import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy

    Extents = Sequence[tuple[Any, Any, float]]


# characters of a text of which four fit beside one another
_SHORT = 10


@dataclass(frozen=True)
class Scale:
    """The ranks of one column: 0 is below all rows and 1 above them.

    Rows of a block are taken to be spread evenly between its min and its max, as far as numbers can say it.
    A block of a single value takes the whole width of its rows.
    """

    kind: Kind
    low: numpy.ndarray
    high: numpy.ndarray
    rows: numpy.ndarray
    ends: tuple[Any, ...]

    @classmethod
    def of(cls, extents: Extents, also: Iterable[Any] = ()) -> Scale:
        """From the min, max and rows of blocks; ``also`` are further values that will be placed."""
        import numpy as np

        ends = [v for low, high, _ in extents for v in (low, high)]
        kind = kind_of([*ends, *also])
        low = np.array([kind.number(low) for low, _, _ in extents], dtype=float)
        high = np.array([kind.number(high) for _, high, _ in extents], dtype=float)
        rows = np.array([max(rows, 0.0) for _, _, rows in extents], dtype=float)
        return cls(kind, low, high, rows if rows.sum() else np.ones(len(rows)), tuple(set(ends)))

    def below(self, value: Any) -> float:
        """The share of rows below a value."""
        return self.share(self.kind.number(value), own=0.0)

    def up_to(self, value: Any) -> float:
        """The share of rows up to a value."""
        return self.share(self.kind.number(value), own=1.0)

    def share(self, number: float, own: float = 0.5) -> float:
        """The share of rows below a number; rows of blocks that hold nothing but it count by ``own``."""
        import numpy as np

        width = self.high - self.low
        wide = width > 0
        part = np.where(number > self.high, 1.0, 0.0)
        part[wide] = np.clip((number - self.low[wide]) / width[wide], 0.0, 1.0)
        part[~wide & (self.low == number)] = own
        return float((part * self.rows).sum() / self.rows.sum())

    def number_at(self, share: float) -> float:
        """The number that has this share of the rows below it."""
        low, high = float(self.low.min()), float(self.high.max())
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if self.share(middle) < share else (low, middle)
        return high

    def ticks(self, most: int, along: bool) -> list[tuple[float, str]]:
        """Values that blocks begin or end with, near even shares of the rows, as far as their texts fit.

        ``along`` is whether the texts stand beside one another.
        """
        places = [(self.share(self.kind.number(v)), self.kind.text(v)) for v in self.ends]
        if along and max(len(text) for _, text in places) > _SHORT:
            most = 2
        found: list[tuple[float, str]] = []
        for i in range(most):
            wanted = i / (most - 1)
            nearest = min(places, key=lambda place: abs(place[0] - wanted))
            if abs(nearest[0] - wanted) < 0.1 and all(nearest[0] - at > 0.12 for at, _ in found):
                found.append(nearest)
        return found
