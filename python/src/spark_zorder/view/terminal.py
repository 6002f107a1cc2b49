"""Writes an audit as text for a terminal: first what to do, then the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import audited
from .parts import as_text
from .readings import dicts, read

if TYPE_CHECKING:
    from .readings import Rows


def text(
    audit: Rows,
    *,
    table: str | None = None,
    before: Rows | None = None,
    queries: Rows | None = None,
    partitions: int = audited.PARTITIONS,
    width: int | None = None,
) -> str:
    """The rows of an audit as text; the caller prints it.

    ``table`` is the name of the table. ``before`` are the rows of an earlier audit; its shares are shown
    beside the present ones. ``queries`` are the rows of the audit of a query log. At most ``partitions`` are
    listed. Rows are dicts, Rows, or a DataFrame. Sentences are broken at ``width``: without it at 100, or at
    the width of the terminal if it is narrower.
    """
    earlier = None if before is None else read(before, table)
    asked = [] if queries is None else dicts(queries)
    return as_text(audited.audit(read(audit, table), earlier, asked, partitions), width)
