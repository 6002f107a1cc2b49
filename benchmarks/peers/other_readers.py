"""The tables of growing.py as delta-rs and pyiceberg see them, beside what Spark has counted.

    python benchmarks/peers/other_readers.py            target/rounds, which growing.py leaves

The rows are read, and the files and their ranges come from the table's metadata: what these readers skip by.
Ends with 1 where rows, files or shares are not those that Spark has counted.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import pyarrow
import result_file
from deltalake import DeltaTable
from pyiceberg.conversions import from_bytes
from pyiceberg.table import StaticTable
from read_shares import FileBox, read_shares

TOP = Path(__file__).resolve().parent.parent.parent
FIRST_DAY = date(2022, 1, 1)
# days from 1970-01-01, as Iceberg keeps a date
FIRST = (FIRST_DAY - date(1970, 1, 1)).days


def of_delta(path: Path) -> tuple[list[FileBox], Any]:
    """By delta-rs: the files of the log, and the rows."""
    table = DeltaTable(str(path))
    files = pyarrow.table(table.get_add_actions(flatten=True)).to_pylist()

    def box(file: dict[str, Any]) -> FileBox:
        first, last = ((file[f"{of}.day"] - FIRST_DAY).days for of in ("min", "max"))
        return FileBox(first, last, file["min.category"], file["max.category"], file["num_records"])

    return [box(f) for f in files], table.to_pyarrow_table(columns=["day", "category"])


def of_iceberg(path: Path) -> tuple[list[FileBox], Any]:
    """By pyiceberg: the files that it plans, and the rows."""
    version = (path / "metadata/version-hint.text").read_text().strip()
    table = StaticTable.from_metadata(str(path / f"metadata/v{version}.metadata.json"))
    day, category = (table.schema().find_field(name) for name in ("day", "category"))

    def box(file: Any) -> FileBox:
        def bounds(field: Any, less: int) -> list[int]:
            kept = (file.lower_bounds, file.upper_bounds)
            return [from_bytes(field.field_type, of[field.field_id]) - less for of in kept]

        return FileBox(*bounds(day, FIRST), *bounds(category, 0), file.record_count)

    files = [box(task.file) for task in table.scan().plan_files()]
    return files, table.scan(selected_fields=("day", "category")).to_arrow()


def seen(folder: Path, ident: str) -> dict[str, Any]:
    """What another reader finds in a table; shares to six digits."""
    iceberg = "Iceberg" in ident
    files, rows = of_iceberg(folder / "ice/db" / ident) if iceberg else of_delta(folder / ident)
    values = zip(rows["day"].to_pylist(), rows["category"].to_pylist(), strict=True)
    cells = Counter(((day - FIRST_DAY).days, category) for day, category in values)
    shares = read_shares(files, [(d, c, n) for (d, c), n in cells.items()])
    return {"rows": rows.num_rows, "files": len(files)} | {k: round(v, 6) for k, v in shares.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=TOP / "target/rounds")
    parser.add_argument("--keep", action="store_true", help="keep the result")
    given = parser.parse_args()
    versions = [f"{name} {importlib.metadata.version(name)}" for name in ("deltalake", "pyiceberg")]
    text = ["# Tables that grow, by other readers", ""]
    text += [f"`benchmarks/peers/other_readers.py`, {time.strftime('%Y-%m-%d')}, with {', '.join(versions)}."]
    text += ["Rows that are read, and the shares by the ranges of files in the table's metadata; the last"]
    text += ["column is whether Spark, which read the files, counted the same after the last round.", ""]
    text += ["| table | rounds | rows | files | day | category | both | as Spark |", "| --- " * 8 + "|"]
    differ = 0
    for kept in sorted(given.folder.glob("*.jsonl")):
        last = json.loads(kept.read_text().splitlines()[-1])
        found = seen(given.folder, kept.stem)
        wanted = {key: round(last[key], 6) for key in ("files", "day", "category", "both")}
        # a round had no count of rows before, and 50,000 rows
        wanted["rows"] = last.get("rows", last["round"] * 50_000)
        same = all(found[key] == value for key, value in wanted.items())
        differ += not same
        cells = [kept.stem.replace("_", " "), str(last["round"]), f"{found['rows']:,}", str(found["files"])]
        cells += [f"{found[key]:.3f}" for key in ("day", "category", "both")] + ["yes" if same else "NO"]
        text.append(f"| {' | '.join(cells)} |")
    result_file.show("\n".join(text) + "\n", "rounds-readers", keep=given.keep)
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
