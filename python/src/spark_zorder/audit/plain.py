"""The audit of plain Parquet files by a path, without Spark."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from .._errors import UsageError
from . import audited
from .files import listing, table
from .rows import Audit

if TYPE_CHECKING:
    from collections.abc import Callable

    from .files.listing import Listing

# there is nothing better to say without a page index
PAGES = "Pages are not counted: their bounds need Spark (--spark)."


def available() -> bool:
    """Whether pyarrow is there, which reads footers."""
    return importlib.util.find_spec("pyarrow") is not None


def listed(path: str) -> Listing:
    """What lies at a path or URI; `format` tells whether it is plain Parquet. Raises AuditError."""
    return listing.list_files(listing.place(path))


def audit(found: Listing, columns: str | None, report: Callable[[int], None] | None = None) -> Audit:
    """What the footers say of these columns (``a, s.b``), or of those that the table was clustered by.

    Raises UsageError where there are none, and AuditError where a file cannot be read.
    """
    read = table.of(found)
    left = listing.state_of(found)
    if columns is not None:
        chosen = audited.asked(read.columns, columns)
    else:
        of_run = audited.of_run(read.columns, left.columns) if left is not None else None
        if of_run is None:
            raise UsageError(
                f"{found.place.text} was never clustered, so the audit does not know which columns to look "
                "at: name them, as in --columns a,b."
            )
        chosen = of_run
    return Audit(read, chosen, left, (PAGES,), report)
