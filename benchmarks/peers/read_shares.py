"""The share of a table's rows in files that a look-up has to read, by the ranges of the files."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class FileBox(NamedTuple):
    """The days and categories of a file, first and last, and its rows."""

    first_day: int
    last_day: int
    first_category: int
    last_category: int
    rows: int


def read_shares(files: list[FileBox], cells: Iterable[tuple[int, int, int]]) -> dict[str, float]:
    """By day, by category and by both: the rows in files that may have a row's value, mean over the rows.

    A cell is a day, a category, and its rows.
    """
    cells = list(cells)
    size = (max(c[0] for c in cells) + 1, max(c[1] for c in cells) + 1)
    rows = numpy.zeros(size)
    for day, category, n in cells:
        rows[day, category] = n

    def mean(box: Callable[[FileBox], tuple[int, int, int, int]]) -> float:
        """Each file counts for every cell of its box: sums of the differences at its corners."""
        corners = numpy.zeros((size[0] + 1, size[1] + 1))
        for file in files:
            d0, d1, c0, c1 = box(file)
            corners[d0, c0] += file.rows
            corners[d1 + 1, c0] -= file.rows
            corners[d0, c1 + 1] -= file.rows
            corners[d1 + 1, c1 + 1] += file.rows
        read = corners.cumsum(0).cumsum(1)[:-1, :-1]
        return float((rows * read).sum() / rows.sum() ** 2)

    return {
        "day": mean(lambda f: (f.first_day, f.last_day, 0, size[1] - 1)),
        "category": mean(lambda f: (0, size[0] - 1, f.first_category, f.last_category)),
        "both": mean(lambda f: f[:4]),
    }
