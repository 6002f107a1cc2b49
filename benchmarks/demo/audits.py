"""The audits of the demonstration's table, before and after: for its report, and the picture of README.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]


def of(spark: SparkSession, table: Path, columns: Sequence[str]) -> dict[str, Rows]:
    """The rows of an audit, and those of the boxes of the files."""

    def rows(function: str) -> Rows:
        found = spark.sql(f"SELECT * FROM {function}('{table}', '{', '.join(columns)}')").collect()
        return [row.asDict(recursive=True) for row in found]

    return {"audit": rows("clustering_information"), "boxes": rows("clustering_boxes")}


def text(audit: dict[str, Rows], table: Path) -> str:
    """An audit as a terminal shows it."""
    from spark_zorder.view import terminal

    return terminal.text(audit["audit"], table=str(table))


@dataclass(frozen=True)
class Audits:
    """Before and after ``ZORDER TABLE``, and what it did."""

    before: dict[str, Rows]
    after: dict[str, Rows]
    history: list[Any]

    def report(self, path: Path) -> Path:
        """Writes the report."""
        from spark_zorder import report

        boxes = {"boxes": self.after["boxes"], "boxes_before": self.before["boxes"]}
        before = self.before["audit"]
        return report.write(
            path, self.after["audit"], before=before, history=self.history, table="store_sales", **boxes
        )

    def boxes(self, columns: Sequence[str]) -> dict[str, list[list[int]]]:
        """Of each file the least and greatest value of each column, and its rows: integers."""
        return {"before": _boxes(self.before, columns), "after": _boxes(self.after, columns)}


def _boxes(audit: dict[str, Rows], columns: Sequence[str]) -> list[list[int]]:
    made = []
    for row in audit["boxes"]:
        if row["row_group"] is None:
            ranges = {found["name"]: found for found in row["ranges"]}
            ends = [int(ranges[column][end]) for column in columns for end in ("low", "high")]
            made.append([*ends, row["row_count"]])
    return sorted(made)
