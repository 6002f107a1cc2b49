"""Appends to a Delta table by delta-rs and deletes from it: `write_by_others.py FOLDER`.

FOLDER.json says which rows; how each ended is a line of JSON. Runs in an environment of its own
(`make venv-readers`).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError


def main() -> None:
    folder = Path(sys.argv[1])
    asked = json.loads(folder.with_suffix(".json").read_text())
    columns = {"id": pyarrow.int64(), "a": pyarrow.int32(), "b": pyarrow.int32()}
    values = zip(*asked["append"], strict=True)
    rows = pyarrow.table({c: pyarrow.array(v, t) for (c, t), v in zip(columns.items(), values, strict=True)})
    for what, work in (
        ("append", lambda: write_deltalake(str(folder), rows, mode="append")),
        ("delete", lambda: DeltaTable(str(folder)).delete(asked["delete"])),
    ):
        try:
            work()
        except DeltaError as error:
            print(json.dumps([what, str(error)]))
        else:
            print(json.dumps([what, "committed"]))


if __name__ == "__main__":
    main()
