"""Reads the history of a table: which runs are still in force, since no rollback has undone them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, Row


def columns(runs: Sequence[Row], name: str) -> list[str]:
    """The columns, as SQL, of the newest run in force; an empty list if there is none.

    A rollback has the id and columns of the run that it undid, and stores no layout of its own. ``name`` is
    the last part of the table's name. Iceberg names a branch ``branch_...``; a branch without runs of its own
    began as a copy of the main one.
    """
    undone = {r["run_id"] for r in runs if r["operation"] == "ROLLBACK"}
    standing = [r for r in runs if r["operation"] == "OPTIMIZE" and r["run_id"] not in undone]
    own = [r for r in standing if r["branch"] is not None and name == f"branch_{r['branch']}"]
    newest = own or [r for r in standing if r["branch"] is None]
    return list(newest[-1]["columns"]) if newest else []


def found_in(df: DataFrame, table: str, names: Sequence[str]) -> list[Column]:
    """These columns of the DataFrame, or a ValueError that names the first missing one."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as sf

    for name in names:
        try:
            _ = df.select(sf.expr(name)).schema  # resolved now, by the server if there is one
        except AnalysisException:
            by = ", ".join(names)
            raise ValueError(
                f"{table} is clustered by {by}, and the DataFrame has no {name}: add it."
            ) from None
    return [sf.expr(name) for name in names]
