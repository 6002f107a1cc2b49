"""Shows results in a notebook as tables: of a run, a dry run, advice, an audit, and all others of ours.

The results are still DataFrames of the session's own class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import audited, results
from .parts import Part, Said, as_html, as_text
from .readings import dicts, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .readings import Rows

# a notebook shows at most so many rows
_MOST = 100


def shown(df: DataFrame) -> DataFrame:
    """Makes a DataFrame show itself as a table if it is the last value in a cell of a notebook.

    Jupyter asks an object for ``_repr_html_``, and an attribute of the object takes precedence over its
    class. Nothing else changes: type, methods and plan are those of the DataFrame. Frames that are made from
    it are shown in Spark's way.
    """
    frame: Any = df
    frame._repr_html_ = lambda: html(frame.limit(_MOST + 1))
    # A DataFrame of Spark Connect has a column for every name. Jupyter recognises such objects by this name
    # and does not ask them, so the name gets a value here.
    frame._ipython_canary_method_should_not_exist_ = None
    return df


def show(result: Rows) -> None:
    """Prints a result of spark-zorder as text that can be read: verdict or status, then tables.

    ``result`` is what ``executeZOrderBy``, ``advise``, ``audit``, ``history`` and others returned, or rows of
    it. Unlike ``DataFrame.show``, nested fields have lines of their own.
    """
    print(text(result))


def text(result: Rows) -> str:
    """What ``show`` prints."""
    return as_text(parts(result))


def html(result: Rows) -> str:
    """What ``show`` prints, as a fragment of HTML."""
    return as_html(parts(result))


def parts(result: Rows) -> list[Part]:
    """The parts of a result. The names of its fields tell what it is."""
    rows = dicts(result)
    names = set(rows[0]) if rows else set()
    if {"status", "metrics", "alternatives"} <= names:
        return [part for row in rows for part in results.run(row)]
    if {"verdict", "rank", "share_expected"} <= names:
        return results.advice(rows)
    if {"verdict", "levels"} <= names:
        return audited.audit(read(rows))
    if {"run", "operation", "report", "statement"} <= names:
        return results.history(rows)
    if {"query", "share", "bound", "alert"} <= names:
        return [audited.asked(rows, _MOST)]
    return results.plain(rows[:_MOST]) + _rest(rows)


def _rest(rows: list[dict[str, Any]]) -> list[Part]:
    return [Said("", f"These are the first {_MOST} rows.")] if len(rows) > _MOST else []
