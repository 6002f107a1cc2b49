"""The columns of a table, by the names that people use for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .sparktype import SparkType


@dataclass(frozen=True)
class Column:
    """A column or a field of a struct.

    ``type`` is None where Spark has none for it, or one without a fixed order. ``stored`` is its type in
    files, as Parquet calls it. ``partition`` tells that its values are in the names of directories.
    """

    path: tuple[str, ...]
    type: SparkType | None
    stored: str = ""
    partition: bool = False

    @property
    def name(self) -> str:
        """With dots between the parts."""
        return ".".join(self.path)


class Columns:
    """Names are found in any case, as Spark finds them by default."""

    def __init__(self, columns: Sequence[Column]) -> None:
        """Columns in the order of the table."""
        self.all = tuple(columns)
        self._numbers: dict[tuple[str, ...], int] = {}
        for i, column in enumerate(self.all):
            self._numbers.setdefault(_folded(column.path), i)

    def number(self, path: Sequence[str]) -> int:
        """The place of a column in `all`; raises UsageError where it is not there.

        A struct or a list has no place, since it has no bounds of its own: ValueError.
        """
        wanted = _folded(path)
        found = self._numbers.get(wanted)
        if found is None:
            if any(known[: len(wanted)] == wanted for known in self._numbers):
                raise ValueError(f"{'.'.join(path)} is a struct or a list: it has no bounds of its own")
            tops = ", ".join(dict.fromkeys(c.path[0] for c in self.all))
            raise UsageError(f"The table has no column {'.'.join(path)}: name one of {tops}.")
        return found


def _folded(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)
