"""The audit of plain Parquet files by a path, without Spark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from .. import _sql
from .._errors import AmbiguousError, UsageError
from .files import listing, table
from .rows import Audit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .files.listing import Listing
    from .files.table import Column, Columns


# pyarrow shows no page index
PAGES = "Pages are not counted: their bounds need Spark (--spark)."


def listed(path: str) -> Listing:
    """Lists what lies at a path or URI. `format` is None for plain Parquet. May raise AuditError."""
    return listing.list_files(listing.place(path))


def audit(found: Listing, columns: str | None, report: Callable[[int], None] | None = None) -> Audit:
    """Audits these columns (``a, s.b``), or those that the table was clustered by.

    Raises UsageError if there are no columns, and AuditError if a file cannot be read.
    """
    read = table.of(found)
    left = listing.state_of(found)
    if columns is not None:
        chosen = _asked(read.columns, columns)
    else:
        last = _of_run(read.columns, left.columns) if left is not None else None
        if last is None:
            raise UsageError(
                f"{found.place.text} was never clustered, so the audit does not know which columns to look "
                "at: name them, as in --by a,b."
            )
        chosen = last
    return Audit(read, chosen, left, (PAGES,), report)


class Audited(NamedTuple):
    """The audited columns, by their numbers and names (as SQL), and notes on columns that were left out.

    ``by`` are the names with those of the columns that were left out.
    """

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    by: tuple[str, ...]
    notes: tuple[str, ...] = ()


def _asked(columns: Columns, text: str) -> Audited:
    """The columns of a list such as ``a, s.b``. Raises UsageError at the first that cannot be audited."""
    named = [item.strip() for item in re.findall(r"(?:`(?:[^`]|``)*`|[^,`])+", text) if item.strip()]
    if not named:
        raise UsageError("The list of columns to audit is empty: name some, as in --by a,b.")
    numbers = [_number(columns, item) for item in named]
    twice = next((item for i, item in enumerate(named) if numbers[i] in numbers[:i]), None)
    if twice is not None:
        raise UsageError(f"Column {twice} is named twice in the list of columns: name it once.")
    return _of(columns, numbers)


def _of_run(columns: Columns, named: Sequence[str]) -> Audited | None:
    """The columns of a clustering run. None if none of them is a column of the files."""
    numbers, by, notes = [], [], []
    for item in named:
        try:
            numbers.append(_number(columns, item))
            by.append(_name(columns.all[numbers[-1]]))
        except AmbiguousError:
            raise
        except UsageError:
            if _is_expression(item):
                by.append(item)
                notes.append(f"Files keep no bounds of the expression {item}: it is left out.")
            else:
                # it cannot be in a statement
                notes.append(f"The table was clustered by {item}, too, and has no such column any more.")
    if not numbers and by:
        raise UsageError(
            f"Files keep no bounds of the expression {by[0]}: audit the columns that it is computed from."
        )
    return _of(columns, numbers)._replace(by=tuple(by), notes=tuple(notes)) if numbers else None


def _is_expression(item: str) -> bool:
    """Whether a run has this text instead of the path of a column as SQL."""
    try:
        return ".".join(map(_sql.name, _sql.parts(item))) != item
    except ValueError:
        return True


def _of(columns: Columns, numbers: Sequence[int]) -> Audited:
    names = tuple(_name(columns.all[n]) for n in numbers)
    return Audited(tuple(numbers), names, names)


def _number(columns: Columns, item: str) -> int:
    try:
        number = columns.number(_sql.parts(item))
    except ValueError:
        raise UsageError(f"Files keep no bounds of {item}: name columns, as in --by a,s.b.") from None
    if columns.all[number].partition:
        raise UsageError(
            f"{item} is a partition column: its values are in separate directories already, so audit others."
        )
    return number


def _name(column: Column) -> str:
    """The path as SQL, quoted only if necessary."""
    return ".".join(_sql.name(part) for part in column.path)
