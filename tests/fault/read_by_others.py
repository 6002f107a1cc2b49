"""The rows of a table by delta-rs or pyiceberg, as lines of JSON: `read_by_others.py FOLDER COLUMN...`.

Runs in an environment of its own (`make venv-readers`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow


def of_delta(folder: Path, columns: list[str]) -> pyarrow.Table:
    """By the engine of delta-rs."""
    from deltalake import DeltaTable, QueryBuilder

    asked = QueryBuilder().register("t", DeltaTable(str(folder)))
    return pyarrow.table(asked.execute(f"SELECT {', '.join(columns)} FROM t").read_all())


def of_iceberg(folder: Path, columns: list[str]) -> pyarrow.Table:
    """By pyiceberg, of the newest metadata."""
    from pyiceberg.table import StaticTable

    # `v12` in a catalog that is a directory, `00012-<uuid>` in others
    newest = max(
        folder.glob("metadata/*.metadata.json"),
        # a commit that was refused may leave a file of the number that the next one takes
        key=lambda f: (int(f.name.split("-")[0].split(".")[0].lstrip("v")), f.stat().st_mtime),
    )
    table = StaticTable.from_metadata(str(newest))
    return table.scan(selected_fields=tuple(columns)).to_arrow()


def main() -> None:
    folder, columns = Path(sys.argv[1]), sys.argv[2:]
    found = (of_delta if (folder / "_delta_log").is_dir() else of_iceberg)(folder, columns)
    for row in zip(*(found[name].to_pylist() for name in columns), strict=True):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
