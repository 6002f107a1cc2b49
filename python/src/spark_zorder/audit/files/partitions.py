"""Partition columns, whose values are in the names of directories: ``day=2026-01-01/h=3``."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .sparktype import SparkType
from .zones import ONLY_NULLS, UNKNOWN, Zone

if TYPE_CHECKING:
    from collections.abc import Sequence

_NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}$")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}$")
# what Spark may take for a number or a time of some other type
_OTHER = re.compile(r"[+-]?[0-9.]|[+-]?(nan|infinity)", re.IGNORECASE)
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


def values(directory: str) -> dict[str, str | None]:
    """The values of the directories of a file by the names of the columns; None is NULL."""
    found: dict[str, str | None] = {}
    for part in directory.split("/"):
        name, equals, value = part.partition("=")
        if equals:
            found[_plain(name)] = None if value == _NULL else _plain(value)
    return found


def _plain(text: str) -> str:
    """Without escapes; a percent sign that begins none is itself."""
    return unquote(text) if _ESCAPED.search(text) else text


def types(rows: Sequence[dict[str, str | None]]) -> dict[str, SparkType | None]:
    """The types that Spark infers from the values of each column; None for other than the common ones."""
    return {name: _type({row[name] for row in rows} - {None}) for name in (rows[0] if rows else ())}


def _type(texts: set[str | None]) -> SparkType | None:
    known = [t for t in texts if t is not None]
    kinds = {_kind(t) for t in known}
    if kinds == {"int"}:
        small = all(-(2**31) <= int(t) < 2**31 for t in known)
        return SparkType("int" if small else "bigint")
    if kinds == {"date"}:
        return SparkType("date")
    return SparkType("string") if "string" in kinds or not kinds else None


def _kind(text: str) -> str:
    if _WHOLE.match(text):
        return "int"
    if _DATE.match(text) and _days(text) is not None:
        return "date"
    return "other" if _OTHER.match(text) else "string"


def zone(text: str | None, kind: SparkType | None) -> Zone:
    """One value as the zone of a file."""
    if text is None:
        return ONLY_NULLS
    if kind is None:
        return UNKNOWN
    word = text.encode() if kind.name == "string" else _days(text) if kind.name == "date" else int(text)
    return word, word


def _days(text: str) -> int | None:
    try:
        return date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return None
