"""Shows results as tables, in a notebook and a REPL: of a run, a dry run, advice, an audit, and others.

The results are still DataFrames: of a class of their own, made from that of the session.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from . import audited, results
from .parts import Part, Said, as_html, as_text
from .readings import dicts, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from .readings import Rows

# a notebook shows at most so many rows, and a REPL so many
_MOST = 100
_MOST_IN_TEXT = 20


# of these, every row counts in what is shown, or the last ones are shown
_WHOLE = (
    {"status", "metrics", "alternatives"},
    {"verdict", "rank", "share_expected"},
    {"verdict", "levels"},
    {"run", "operation", "report", "statement"},
    {"query", "share", "bound", "alert"},
)


def shown(df: DataFrame) -> DataFrame:
    """Makes a DataFrame show itself as a table if it is the last value in a cell of a notebook, or in a REPL.

    Python asks the class of an object for ``__repr__``, so the DataFrame gets a subclass of its own class.
    Nothing else changes: name and module of the class, methods and plan are those of the DataFrame. Frames
    that are made from it are shown in Spark's way.
    """
    frame: Any = df
    frame.__class__ = _shown_as(frame.__class__)
    return df


@cache
def _shown_as(kind: Any) -> Any:
    def represented(self: Any) -> str:
        try:
            return text(_needed(self, _MOST_IN_TEXT), _MOST_IN_TEXT)
        except Exception:
            # the session may have ended: whoever prints a value wants no error
            return str(kind.__repr__(self))

    methods = {
        "__module__": kind.__module__,
        "__doc__": kind.__doc__,
        "__repr__": represented,
        "_repr_html_": lambda self: html(_needed(self, _MOST)),
        # A DataFrame of Spark Connect has a column for every name. Jupyter recognises such objects by this
        # name and does not ask them, so the name gets a value here.
        "_ipython_canary_method_should_not_exist_": None,
    }
    return type(kind.__name__, (kind,), methods)


def _needed(frame: Any, most: int) -> list[Any]:
    """The rows that are needed to show at most so many, with one more if there are more."""
    whole = any(known <= set(frame.columns) for known in _WHOLE)
    rows: list[Any] = (frame if whole else frame.limit(most + 1)).collect()
    return rows


def show(result: Rows) -> None:
    """Prints a result of spark-zorder as text that can be read: verdict or status, then tables.

    ``result`` is what ``executeZOrderBy``, ``advise``, ``audit``, ``history`` and others returned, or rows of
    it. Unlike ``DataFrame.show``, nested fields have lines of their own. A DataFrame that is no result of
    spark-zorder is shown as Spark shows it.
    """
    frame: Any = result
    if not hasattr(frame, "collect"):
        print(text(result))
    elif is_ours(frame.columns):
        print(text(_needed(frame, _MOST)))
    else:
        frame.show()


def is_ours(columns: Sequence[str]) -> bool:
    """Whether a result of spark-zorder has these columns."""
    names = set(columns)
    return names in _EXACTLY or any(known <= names for known in _KNOWN_BY)


# tables of others have these columns, too, and more of them
_EXACTLY = [{"path", "status"}, {"path", "status", "run_id"}]

# columns by which results are known; those of all results are in tests/state/names.txt
_KNOWN_BY = [
    set(names.split())
    for names in (
        "status metrics alternatives",
        "record bound",
        "rank verdict share_expected",
        "verdict levels",
        "run operation report statement",
        "query share bound alert",
        "considered pruned",
        "status files_carried_over",
        "status footers_read bloom_bytes",
        "status queries left_out",
        "column with_ranges only_nulls",
        "row_group ranges",
        "level read_count share",
        "format location partitioned",
        "query weight boxes",
        "clusteringColumns lastRun numFiles",
    )
]


def text(result: Rows, most: int = _MOST) -> str:
    """What ``show`` prints."""
    return as_text(parts(result, most))


def html(result: Rows) -> str:
    """What ``show`` prints, as a fragment of HTML."""
    return as_html(parts(result))


def parts(result: Rows, most: int = _MOST) -> list[Part]:
    """The parts of a result, of at most so many rows. The names of its fields tell what it is."""
    rows = dicts(result)
    names = set(rows[0]) if rows else set()
    if {"status", "metrics", "alternatives"} <= names:
        return [part for row in rows for part in results.run(row)]
    if {"verdict", "rank", "share_expected"} <= names:
        return results.advice(rows)
    if {"verdict", "levels"} <= names:
        return audited.audit(read(rows))
    if {"run", "operation", "report", "statement"} <= names:
        cut = [Said("", f"These are the last {most} of {len(rows)} runs.")] if len(rows) > most else []
        return [*results.history(rows[-most:]), *cut]
    if {"query", "share", "bound", "alert"} <= names:
        return [audited.asked(rows, most)]
    if {"pruned_further", "summary"} <= names:
        found = results.explained(rows[:most])
    elif names & {"record", "files_carried_over"}:
        found = results.brief(rows[:most])
    else:
        found = results.plain(rows[:most])
    return found + ([Said("", f"These are the first {most} rows.")] if len(rows) > most else [])
