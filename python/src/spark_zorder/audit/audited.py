"""The columns that an audit is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .. import _sql
from .._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .files.table import Column, Columns


class Audited(NamedTuple):
    """Numbers and names (as SQL) of the columns, and sentences on what was left out."""

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def asked(columns: Columns, text: str) -> Audited:
    """Of a list that somebody wrote, ``a, s.b``; raises UsageError at the first that cannot be audited."""
    named = [item.strip() for item in re.findall(r"(?:`(?:[^`]|``)*`|[^,`])+", text) if item.strip()]
    if not named:
        raise UsageError("The list of columns to audit is empty: name some, as in --columns a,b.")
    numbers = [_number(columns, item) for item in named]
    twice = next((item for i, item in enumerate(named) if numbers[i] in numbers[:i]), None)
    if twice is not None:
        raise UsageError(f"Column {twice} is named twice in the list of columns: name it once.")
    return _of(columns, numbers)


def of_run(columns: Columns, named: Sequence[str]) -> Audited | None:
    """Those of a clustering run; None where none of them is a column of the files."""
    numbers, notes = [], []
    for item in named:
        try:
            numbers.append(_number(columns, item))
        except UsageError:
            notes.append(f"Files keep no bounds of the expression {item}: it is left out.")
    return _of(columns, numbers)._replace(notes=tuple(notes)) if numbers else None


def _of(columns: Columns, numbers: Sequence[int]) -> Audited:
    return Audited(tuple(numbers), tuple(_name(columns.all[n]) for n in numbers))


def _number(columns: Columns, item: str) -> int:
    try:
        number = columns.number(_sql.parts(item))
    except ValueError:
        raise UsageError(f"Files keep no bounds of {item}: name columns, as in --columns a,s.b.") from None
    if columns.all[number].partition:
        raise UsageError(
            f"{item} is a partition column: its values are in separate directories already, so audit others."
        )
    return number


def _name(column: Column) -> str:
    """The path in SQL, quoted only where necessary."""
    return ".".join(_sql.name(part) for part in column.path)
