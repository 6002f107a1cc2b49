"""The data files of a directory, as Spark lists them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._errors import AuditError
from .places import STATE

if TYPE_CHECKING:
    from .places import Entry, Place

_RECORD = re.compile(rf"{STATE}/runs/[0-9]{{1,9}}\.json$")
# files from which Spark takes the schema, the first that is there
_SUMMARIES = ("_common_metadata", "_metadata")
# directories by which a table of another format is known, and what its tables are called
_MARKERS = {"_delta_log": "Delta", ".hoodie": "Hudi"}


@dataclass(frozen=True)
class Listing:
    """What lies below a directory.

    ``files`` are the data files in the order of their paths. ``summary`` is the file that Spark takes the
    schema from, if somebody wrote one. ``format`` names another format whose table this is. ``records`` are
    the files that clustering runs have left, oldest first, and ``indexed`` tells of a statistics index.
    """

    place: Place
    files: tuple[Entry, ...]
    summary: Entry | None
    format: str | None
    records: tuple[str, ...] = ()
    indexed: bool = False


def is_hidden(name: str) -> bool:
    """Whether Spark leaves a name out of listings."""
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


def partition_of(rel: str) -> str:
    """The partition directories of a file, ``day=2026-01-01/h=3``; empty where there are none."""
    return rel.rpartition("/")[0]


def list_files(place: Place) -> Listing:
    """Lists a directory; raises AuditError where Spark would not read it as one table."""
    entries = sorted(place.files(), key=lambda e: e.rel)
    visible = [e for e in entries if e.length > 0 and not any(map(is_hidden, e.rel.split("/")))]
    found = _format(entries)
    if found is None:
        _check_shape(place.text, visible)
    summary = next((e for n in _SUMMARIES for e in entries if e.rel == n and e.length > 0), None)
    return Listing(
        place,
        tuple(visible),
        summary,
        found,
        records=tuple(sorted((e.rel for e in entries if _RECORD.match(e.rel)), key=lambda r: (len(r), r))),
        indexed=any(e.rel.startswith(f"{STATE}/index/") and e.length > 0 for e in entries),
    )


def _format(entries: list[Entry]) -> str | None:
    for entry in entries:
        first, slash, rest = entry.rel.partition("/")
        if slash and first in _MARKERS:
            return _MARKERS[first]
        if first == "metadata" and rest.endswith(".metadata.json"):
            return "Iceberg"
        if first == "_spark_metadata":
            return "streaming output"
    return None


def _check_shape(text: str, files: list[Entry]) -> None:
    parts = [[d.partition("=")[:2] for d in e.rel.split("/")[:-1]] for e in files]
    for entry, directories in zip(files, parts):
        if any(not equals for _, equals in directories):
            raise AuditError(
                f"{partition_of(entry.rel)} in {text} is not a partition directory but holds files, perhaps "
                "of another table; move it away, or name that table."
            )
        if directories != parts[0]:
            raise AuditError(
                f"The partition directories of {text} do not have the same columns "
                f"({files[0].rel}, {entry.rel}); move one of them away."
            )
