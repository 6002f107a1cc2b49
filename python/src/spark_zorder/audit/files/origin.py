"""Who wrote a file, as far as it bears on what its bounds mean."""

from __future__ import annotations

import re
from typing import NamedTuple

_MAJOR = re.compile(rb"(\d+)(?:\.|$)")
_PARQUET_MR = re.compile(r"parquet-mr\s+version\s+(\d+)\.(\d+)\.(\d+)([^(\s]*)")
# a name of an application and of its version, as Parquet's specification wants them
_NAMED = re.compile(r"(.*?)\s+version\s*([^(]*?)\s*(\(\s*build\s*[^)]*\))?")
# of 1.5.0, these had the repair of 1.8.0 as well
_REPAIRED = re.compile(r"-cdh5\.([5-9]|\d\d)")


class Origin(NamedTuple):
    """What is known of a writer.

    ``proleptic``: dates and times before the calendar changes are surely stored as Spark 3 reads them. Spark
    2, legacy mode and unknown writers may mean the Julian calendar, and then reading shifts the values.
    ``whole_bytes``: old bounds of byte strings are those of whole values. parquet-mr before 1.8 wrote others
    (PARQUET-251), at times without its name.
    """

    proleptic: bool
    whole_bytes: bool


def of(created_by: str | None, metadata: dict[bytes, bytes] | None) -> Origin:
    """The origin that a footer tells of."""
    notes = metadata or {}
    version = _MAJOR.match(notes.get(b"org.apache.spark.version", b""))
    new = version is not None and int(version[1]) >= 3
    proleptic = new and b"org.apache.spark.legacyDateTime" not in notes
    return Origin(proleptic, _whole_bytes(created_by or ""))


def _whole_bytes(created_by: str) -> bool:
    named = _NAMED.fullmatch(created_by)
    if named is None or named[1] != "parquet-mr":
        return named is not None
    found = _PARQUET_MR.match(created_by)
    if found is None:
        return False
    version = tuple(int(found[i]) for i in (1, 2, 3))
    if version < (1, 8, 0):
        return version == (1, 5, 0) and _REPAIRED.match(found[4]) is not None
    return version > (1, 8, 0) or not found[4].startswith("-")
