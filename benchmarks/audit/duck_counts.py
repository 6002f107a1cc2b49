"""What DuckDB counts from the footers of files: `duck_counts.py asked.json` prints counts as JSON.

Asked are names of tables with their files, and values of columns. Of each value, the files and row groups
whose range holds it, and their rows. A reader of its own: nothing of spark-zorder is imported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb

BLOCKS = """
    SELECT {block} AS block, min(stats_min_value::BIGINT) AS low, max(stats_max_value::BIGINT) AS high,
           sum(row_group_num_rows) AS row_count
    FROM parquet_metadata({files}) WHERE path_in_schema = '{column}' GROUP BY ALL"""
LEVELS = {"file": "file_name", "row group": "(file_name, row_group_id)"}


def counts(files: list[str], column: str, values: list[int]) -> dict[str, list[list[int]]]:
    """By level, of each value: blocks and rows."""
    found: dict[str, list[list[int]]] = {}
    for level, block in LEVELS.items():
        blocks = BLOCKS.format(block=block, files=files, column=column)
        found[level] = [
            [
                int(n or 0)
                for n in duckdb.execute(
                    f"SELECT count(*), sum(row_count) FROM ({blocks}) WHERE low <= {v} AND {v} <= high"
                ).fetchone()
                or (0, 0)
            ]
            for v in values
        ]
    return found


asked = json.loads(Path(sys.argv[1]).read_text())
print(
    json.dumps(
        {
            name: {c: counts(files, c, values) for c, values in asked["values"].items()}
            for name, files in asked["files"].items()
        }
    )
)
