"""Cures as the statements that carry them out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _sql
from .files.table import partition_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .files.table import Table
    from .judge import Cure

_NUMBERS = frozenset({"int", "bigint"})


def of(cure: Cure, table: Table, only: Sequence[str]) -> str:
    """``only``: the partition directories to restrict it to; empty for the whole table."""
    target = _sql.literal(table.listing.place.text)
    if not cure.columns:
        return f"ZORDER INDEX {target}"
    conditions = [_condition(table, directory) for directory in only]
    said = [c for c in conditions if c]
    where = f" WHERE {' OR '.join(said)}" if said and len(said) == len(conditions) else ""
    full = " FULL" if cure.full else ""
    using = f" USING CURVE {cure.curve}" if cure.curve is not None else ""
    options = ", ".join(f"{name} = {value}" for name, value in cure.options)
    settings = f" WITH ({options})" if options else ""
    return f"ZORDER TABLE {target}{full}{where} BY ({', '.join(cure.columns)}){using}{settings}"


def _condition(table: Table, directory: str) -> str:
    """What holds in one partition alone; empty without directories."""
    types = {c.path[0]: c.type for c in table.columns.all if c.partition}
    tests = []
    for name, text in partition_values(directory).items():
        kind = types.get(name)
        column = _sql.name(name)
        if text is None:
            tests.append(f"{column} IS NULL")
        elif kind is not None and kind.name in _NUMBERS:
            tests.append(f"{column} = {int(text)}{'L' if kind.name == 'bigint' else ''}")
        else:
            date = "DATE " if kind is not None and kind.name == "date" else ""
            tests.append(f"{column} = {date}{_sql.literal(text)}")
    return tests[0] if len(tests) == 1 else f"({' AND '.join(tests)})" if tests else ""
