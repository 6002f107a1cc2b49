"""Writes an audit as one HTML file with pictures, which loads nothing else: ``spark-zorder[report]``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from .._errors import SetupError

if TYPE_CHECKING:
    import os

    from ..view.readings import Rows

_NEEDED = ("matplotlib", "jinja2")
HOW_TO_GET = "The report needs matplotlib and jinja2: pip install 'spark-zorder[report]'."


def available() -> bool:
    """Whether everything is installed that a report needs."""
    return all(find_spec(name) is not None for name in _NEEDED)


def write(
    path: str | os.PathLike[str],
    audit: Rows,
    *,
    before: Rows | None = None,
    boxes: Rows | None = None,
    boxes_before: Rows | None = None,
    queries: Rows | None = None,
    history: Rows | None = None,
    table: str | None = None,
) -> Path:
    """Writes the report of an audit as one HTML file, and returns its path.

    Rows are dicts, Rows, or a DataFrame. ``audit`` are the rows of ``clustering_information``, and ``boxes``
    those of ``clustering_boxes``. ``before`` and ``boxes_before`` are such rows from an earlier time, for
    example before a run; they are shown beside. ``queries`` are the rows of the audit of a query log, and
    ``history`` those of ``ZOrderTable.history()``. ``table`` is the name in the heading. An existing file is
    replaced. Raises ``SetupError`` if the extra is not installed.

        t = ZOrderTable.forName(spark, "db.events")
        boxes = spark.sql("SELECT * FROM clustering_boxes('db.events')")
        report.write("events.html", t.audit(), boxes=boxes, history=t.history(), table="db.events")
    """
    if not available():
        raise SetupError(HOW_TO_GET)
    from .page import html

    made = html(audit, before, boxes, boxes_before, queries, history, table)
    target = Path(path)
    target.write_text(made, encoding="utf-8")
    return target.resolve()
