"""Directories of a local disk or an object store, through pyarrow's file systems."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Iterator

# where clustering runs and the statistics index keep what they know
STATE = "_zorder"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# Hadoop's names of file systems that pyarrow has under another name
_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasb": "abfs", "wasbs": "abfss"}


@dataclass(frozen=True)
class Entry:
    """A file below a directory.

    ``rel`` is its path relative to the directory, with ``/``, ``length`` its size in bytes, and ``modified``
    when it was last written, in milliseconds since 1970 (0: not known).
    """

    rel: str
    length: int
    modified: int = 0


@dataclass(frozen=True)
class Place:
    """A directory. ``filesystem`` is pyarrow's, and None stands for the local disk."""

    text: str
    root: str
    filesystem: Any = None

    def path(self, rel: str) -> str:
        """The full path of a file below, as the file system wants it."""
        return f"{self.root}/{rel}"

    def text_of(self, rel: str) -> str:
        """The text of a small file below."""
        if self.filesystem is None:
            return Path(self.path(rel)).read_text(encoding="utf-8")
        with self.filesystem.open_input_stream(self.path(rel)) as stream:
            text: str = stream.readall().decode()
            return text

    def files(self) -> Iterator[Entry]:
        """Every file below, but for what hidden directories of a local disk hold."""
        return _local(self.root) if self.filesystem is None else _remote(self.filesystem, self.root)


def place(text: str) -> Place:
    """The directory that a path or a URI names; raises AuditError where there is none."""
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1] == "file":
        root = re.sub(r"^file:/+", "/", text) if scheme else text
        if not Path(root).is_dir():
            what = "is a file" if Path(root).exists() else "is not there"
            raise AuditError(f"{text} {what}; give the directory of a table.")
        return Place(text, os.path.abspath(root))  # noqa: PTH100 (links stay as they are)
    from pyarrow import fs

    uri = _SCHEMES.get(scheme[1].lower(), scheme[1].lower()) + text[len(scheme[1]) :]
    try:
        filesystem, root = fs.FileSystem.from_uri(uri)
        info = filesystem.get_file_info(root.rstrip("/"))
    except Exception as error:
        raise AuditError(f"{text} cannot be opened: {str(error).splitlines()[0]}") from error
    if info.type != fs.FileType.Directory:
        what = "is a file" if info.type == fs.FileType.File else "is not there"
        raise AuditError(f"{text} {what}; give the directory of a table.")
    return Place(text, root.rstrip("/"), filesystem)


def _local(root: str, below: str = "") -> Iterator[Entry]:
    with os.scandir(f"{root}/{below}") as entries:
        for entry in entries:
            rel = f"{below}{entry.name}"
            if entry.is_dir():
                # what is hidden is no data, and may be a job's scratch directory that goes away meanwhile
                if not entry.name.startswith((".", "_")) or "=" in entry.name or rel == STATE:
                    yield from _local(root, f"{rel}/")
                else:
                    yield Entry(f"{rel}/", 0)
            else:
                found = entry.stat()
                yield Entry(rel, found.st_size, found.st_mtime_ns // 1_000_000)


def _remote(filesystem: Any, root: str) -> Iterator[Entry]:
    """One walk over all, since a store lists by prefixes: directories of their own would be requests."""
    from pyarrow import fs

    for info in filesystem.get_file_info(fs.FileSelector(root, recursive=True)):
        if info.type == fs.FileType.File:
            yield Entry(info.path[len(root) :].lstrip("/"), info.size, (info.mtime_ns or 0) // 1_000_000)
