"""What lies below a directory: its data files, as Spark lists them, and what clustering runs have left."""

from __future__ import annotations

import errno
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

from ..._errors import AuditError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_Kind = TypeVar("_Kind")

# clustering runs and the statistics index keep their state in this directory
STATE = "_zorder"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# Hadoop's names of file systems that have another name in pyarrow
_SCHEMES = {"s3a": "s3", "s3n": "s3", "wasb": "abfs", "wasbs": "abfss"}
# scheme, host or bucket, path, and parameters
_URI = re.compile(r"([^:]+)(:/(?:/[^/?]*)?)([^?]*)(.*)", re.DOTALL)
# what the path of a URI may hold as it is, beside letters and digits (RFC 3986)
_AS_IT_IS = "/:@!$&'()*+,;=-._~"


@dataclass(frozen=True)
class Entry:
    """A file below a directory.

    ``rel`` is its path relative to the directory, with ``/``. ``length`` is its size in bytes. ``modified``
    is the time of its last change in milliseconds since 1970, or 0 if that is not known.
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
        """Every file below, except those in hidden directories of a local disk."""
        return _local(self.root) if self.filesystem is None else _remote(self.filesystem, self.root)


def shown(text: str) -> str:
    """A path or URI without keys and parameters, which are pyarrow's. No statement or report needs them."""
    if _SCHEME.match(text) is None:
        return text
    return re.sub(r"\?.*", "", re.sub(r"//[^/@:]+:[^/@]+@", "//", text))


def place(text: str) -> Place:
    """The directory that a path or a URI names; raises AuditError where there is none."""
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1] == "file":
        root = re.sub(r"^file:/+", "/", text) if scheme else text
        if not Path(root).is_dir():
            what = "is a file" if Path(root).exists() else "is not there"
            raise AuditError(f"{text} {what}; give the directory of a table.")
        full = os.path.abspath(root)  # noqa: PTH100 (links stay as they are)
        _check_name(text, full)
        # a statement is run somewhere else, where a relative path is another one
        return Place(text if scheme or os.path.isabs(root) else full, full)  # noqa: PTH117
    from pyarrow import fs

    uri = pyarrow_uri(text)
    try:
        filesystem, root = fs.FileSystem.from_uri(uri)
        info = filesystem.get_file_info(root.rstrip("/"))
    except Exception as error:
        why = (str(error) or type(error).__name__).splitlines()[0].replace(uri, shown(text)).rstrip(".")
        # Hadoop knows more file systems, and other keys
        raise AuditError(f"{shown(text)} cannot be opened: {why}; try --spark.") from error
    if info.type != fs.FileType.Directory:
        what = "is a file" if info.type == fs.FileType.File else "is not there"
        raise AuditError(f"{shown(text)} {what}; give the directory of a table.")
    _check_name(shown(text), root.rstrip("/"))
    return Place(shown(text), root.rstrip("/"), filesystem)


def pyarrow_uri(text: str) -> str:
    """The URI by which pyarrow finds the directory that Hadoop finds by this one.

    pyarrow takes a part such as ``%20`` for one character. Hadoop, and so a statement, takes it as it is.
    """
    found = _URI.fullmatch(text)
    # fsspec decodes nothing
    if found is None or found[1] == "hf" or found[1].startswith("fsspec+"):
        return text
    scheme, host, path, parameters = found.groups()
    return _SCHEMES.get(scheme.lower(), scheme.lower()) + host + quote(path, safe=_AS_IT_IS) + parameters


def _check_name(text: str, root: str) -> None:
    if "=" in root.rpartition("/")[2]:
        raise AuditError(
            f"{text} is a partition of a table; give the table's directory, which is audited partition by "
            "partition."
        )


def _local(root: str, below: str = "") -> Iterator[Entry]:
    try:
        listed = os.scandir(f"{root}/{below}")
    except FileNotFoundError:
        if below:
            # its parent was listed before it went
            return
        raise
    with listed as entries:
        for entry in entries:
            rel = f"{below}{entry.name}"
            try:
                found = None if entry.is_dir() else entry.stat()
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ELOOP):
                    raise
                # a link that leads nowhere or to itself, or a file that has gone: Hadoop leaves them out, too
                continue
            if found is None:
                # a hidden directory has no data, and may be a job's scratch directory that disappears
                # meanwhile
                if not entry.name.startswith((".", "_")) or "=" in entry.name or rel == STATE:
                    yield from _local(root, f"{rel}/")
                else:
                    yield Entry(f"{rel}/", 0)
            else:
                yield Entry(rel, found.st_size, found.st_mtime_ns // 1_000_000)


def _remote(filesystem: Any, root: str) -> Iterator[Entry]:
    """Lists all files at once. A store lists by prefixes, and each directory would be another request."""
    from pyarrow import fs

    for info in filesystem.get_file_info(fs.FileSelector(root, recursive=True)):
        rel = info.path[len(root) :].removeprefix("/")
        # a key that ends with a slash stands for a directory, and Spark finds none with two slashes in a row
        if info.type == fs.FileType.File and "" not in rel.split("/"):
            yield Entry(rel, info.size, (info.mtime_ns or 0) // 1_000_000)


# The data files of a directory are those that Spark would list.

_RECORD = re.compile(rf"{STATE}/runs/[0-9]{{1,9}}\.json$")
# Spark takes the schema from the first of these files that exists
_SUMMARIES = ("_common_metadata", "_metadata")
# a table of another format has one of these directories
_MARKERS = {"_delta_log": "Delta", ".hoodie": "Hudi"}


@dataclass(frozen=True)
class Listing:
    """What lies below a directory.

    ``files`` are the data files in the order of their paths. ``summary`` is the summary file that Spark takes
    the schema from, if there is one. ``format`` is the name of the format if this is a table of another one.
    ``records`` are the records of clustering runs, oldest first. ``indexed`` says that there is a statistics
    index.
    """

    place: Place
    files: tuple[Entry, ...]
    summary: Entry | None
    format: str | None
    records: tuple[str, ...] = ()
    indexed: bool = False


def _is_hidden(name: str) -> bool:
    """Whether Spark ignores a file or directory of this name."""
    return (name.startswith("_") and "=" not in name) or name.startswith(".") or name.endswith("._COPYING_")


def partition_of(rel: str) -> str:
    """The partition directories of a file, such as ``day=2026-01-01/h=3``. Empty if it has none."""
    return rel.rpartition("/")[0]


def list_files(place: Place) -> Listing:
    """Lists a directory. Raises AuditError if Spark would not read it as one table."""
    entries = sorted(place.files(), key=lambda e: e.rel)
    visible = [e for e in entries if e.length > 0 and not any(map(_is_hidden, e.rel.split("/")))]
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


# Clustering runs leave records beside a table: ``_zorder/runs/<n>.json``. They may disappear at any time.


class State(NamedTuple):
    """What the records say about the runs in force.

    ``columns`` (as SQL), ``curve`` and ``started_ms`` are those of the newest run. ``ours`` are the paths of
    the files that runs in force wrote. ``laid_out`` are the partitions with a layout by the same columns.
    ``purposes`` says of some of them what that layout was made for, if not for look-ups of all columns alike.
    ``began`` says when the last run of a partition began, in milliseconds.
    """

    columns: tuple[str, ...]
    curve: str
    started_ms: int
    ours: frozenset[str]
    laid_out: frozenset[str]
    purposes: dict[str, str]
    began: dict[str, int]

    def since(self, files: Sequence[Entry]) -> list[Entry]:
        """The files that came after the last run of their partition, or of the table if it had none."""

        def is_late(file: Entry) -> bool:
            began = self.began.get(partition_of(file.rel), self.started_ms)
            return file.modified == 0 or file.modified > began

        return [f for f in files if is_late(f) and f.rel not in self.ours]


class _Record(NamedTuple):
    """What one commit has left. ``paths`` are those of the files that it wrote."""

    run_id: str
    operation: str
    started_ms: int
    columns: tuple[str, ...]
    curve: str
    layouts: dict[str, str]
    paths: tuple[str, ...]
    report: str


def state_of(found: Listing) -> State | None:
    """Reads the records of runs. The result is None if the table was never clustered."""
    texts = (_text(found, rel) for rel in found.records)
    records = [r for r in map(_record, texts) if r is not None]

    def ids(operation: str) -> set[str]:
        return {r.run_id for r in records if r.operation == operation}

    undone = ids("ROLLBACK") & ids("OPTIMIZE")
    standing = [r for r in records if r.run_id not in undone]
    runs = [r for r in standing if r.operation == "OPTIMIZE"]
    if not runs:
        return None
    newest = runs[-1]
    ours = frozenset(path for r in standing for path in r.paths)
    same = [r for r in standing if r.columns == newest.columns]
    layouts = {partition: made for r in same for partition, made in r.layouts.items()}
    made_for = {}
    # a run that adds files to a layout may not say what it was made for
    for says_so, purpose in ((_has_queries, _QUERIES), (_is_sort, _SORT)):
        for r in filter(says_so, same):
            made_for.update(dict.fromkeys(r.layouts.values(), purpose))
    purposes = {partition: made_for[layout] for partition, layout in layouts.items() if layout in made_for}
    began = {partition: r.started_ms for r in runs for partition in r.layouts}
    return State(newest.columns, newest.curve, newest.started_ms, ours, frozenset(layouts), purposes, began)


_SORT = "sorted the rows, as its USING CURVE lexical asked"
_QUERIES = "fitted the layout to logged queries: clustering_queries judges it"
_OPERATIONS = ("OPTIMIZE", "ROLLBACK", "REPLACE", "MOVE HOME")


def _is_sort(run: _Record) -> bool:
    return run.curve == "lexical"


def _has_queries(run: _Record) -> bool:
    """Whether the report of a run has logged queries."""
    return bool(_object(run.report).get("queries"))


def _text(found: Listing, rel: str) -> str:
    try:
        return found.place.text_of(rel)
    except (OSError, ValueError):
        # the run was rolled back or removed meanwhile, or this is no text
        return ""


def _record(text: str) -> _Record | None:
    """Reads a record as the JVM does: None if it is none, and without the fields that are of another type."""
    found = _object(text)
    operation = found.get("operation")
    if found.get("number") is None or found.get("runId") is None or operation not in _OPERATIONS:
        return None
    return _Record(
        _string(found["runId"]),
        operation,
        _field(found, "startedMs", int),
        tuple(map(_string, _field(found, "columns", list))),
        _string(found.get("curve")),
        {partition: _string(made) for partition, made in _field(found, "layoutIds", dict).items()},
        tuple(_string(file.get("path")) for file in _field(found, "files", list) if isinstance(file, dict)),
        _string(found.get("report")),
    )


def _field(found: dict[str, Any], name: str, kind: type[_Kind]) -> _Kind:
    """A field of this kind, or an empty one."""
    value = found.get(name)
    return value if isinstance(value, kind) else kind()


def _string(value: Any) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""


def _object(text: str) -> dict[str, Any]:
    """The JSON object of a text, or an empty one."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
