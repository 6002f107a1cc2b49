"""The rows of ``clustering_boxes``: the ranges of files and row groups, for pictures."""

from __future__ import annotations

import math
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .figures.scale import Scale
from .files.listing import partition_of
from .files.words import double_of, float_of, of_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .audited import Audited
    from .files.sparktype import SparkType
    from .files.table import FileBlocks, Table
    from .files.zones import Block, Zone

_EPOCH = datetime(1970, 1, 1)


def rows(read: Table, columns: Audited, files: Sequence[FileBlocks]) -> list[dict[str, Any]]:
    """Each file, then its row groups. Ranks are places among the bounds of all of them."""
    zones = [[b.zones[c] for f in files for b in (f.whole, *f.groups)] for c in range(len(columns.names))]
    kinds = [read.columns.all[n].type for n in columns.numbers]
    scales = [Scale(z, kind) for z, kind in zip(zones, kinds)]

    def row(file: FileBlocks, group: int | None, block: Block) -> dict[str, Any]:
        return {
            "partition": partition_of(file.file.rel),
            "path": read.listing.place.path(file.file.rel),
            "row_group": group,
            "row_count": block.rows,
            "bytes": file.file.length if group is None else None,
            "ranges": [
                {"name": name, **_range(zone, scale, kind), "may_hold_null": nulls != 0}
                for name, zone, nulls, scale, kind in zip(
                    columns.names, block.zones, block.nulls, scales, kinds
                )
            ],
        }

    found = []
    for file in files:
        found.append(row(file, None, file.whole))
        found += [row(file, i, group) for i, group in enumerate(file.groups)]
    return found


def _range(zone: Zone, scale: Scale, kind: SparkType | None) -> dict[str, Any]:
    if not zone or kind is None:
        return {"low": None, "high": None, "low_rank": None, "high_rank": None}
    low, high = zone
    return {
        "low": text(low, kind),
        "high": text(high, kind),
        "low_rank": scale.ranks[low],
        "high_rank": scale.ranks[high],
    }


def text(word: Any, kind: SparkType) -> str | None:
    """What a cast to STRING in UTC gives; of BINARY, hexadecimal digits. None for what is no text."""
    if kind.name == "string":
        try:
            return bytes(word).decode()
        except UnicodeDecodeError:
            return None
    if kind.name == "binary":
        return bytes(word).hex().upper()
    if kind.name == "boolean":
        return "true" if word else "false"
    if kind.name in ("float", "double"):
        return _floating(word, kind.name)
    if kind.name == "decimal":
        return f"{Decimal(word).scaleb(-kind.scale):f}"
    try:
        if kind.name == "date":
            return (date(1970, 1, 1) + timedelta(days=word)).isoformat()
        if kind.name in ("timestamp", "timestamp_ntz"):
            when = _EPOCH + timedelta(microseconds=word)
            fraction = f".{when.microsecond:06d}".rstrip("0") if when.microsecond else ""
            return f"{when:%Y-%m-%d %H:%M:%S}{fraction}"
    except OverflowError:
        return None
    return str(word)


def _floating(word: int, name: str) -> str:
    """As Java writes numbers: 0.5, 1.0E7."""
    if name == "double":
        number, digits = double_of(word), repr(double_of(word))
    else:
        number = float_of(word)
        # as few digits as tell it from its neighbours
        texts = (f"{number:.{n}g}" for n in range(1, 10))
        digits = next(t for t in texts if of_float(float(t)) == word)
    if not math.isfinite(number):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(number), "NaN")
    exact = Decimal(digits)
    if number and not 1e-3 <= abs(number) < 1e7:
        power = exact.adjusted()
        return f"{_with_point(exact.scaleb(-power))}E{power}"
    return _with_point(exact)


def _with_point(number: Decimal) -> str:
    text = f"{number:f}"
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.rstrip('0') or '0'}"
