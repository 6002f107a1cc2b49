"""Runs examples/slow_to_fast.ipynb in this environment, and keeps in it what it shows: `make notebook`.

What differs from one machine to the next and tells nothing (what a JVM says at its start, times of cells,
places) is left out.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

TOP = Path(__file__).resolve().parent.parent
NOTEBOOK = TOP / "examples/slow_to_fast.ipynb"
PLACE = re.compile(r"(?:file:)?/[\w/.-]*/tmp\w+/sales|(?:file:)?/tmp/tmp\w+/sales")


def executed(notebook: Any) -> Any:
    """The notebook after all of its cells, which must not fail."""
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            # the JVM's warnings name the machine
            cell.outputs = [_kept(o) for o in cell.outputs if o.get("name") != "stderr"]
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _kept(output: Any) -> Any:
    if "text" in output:
        output.text = _without_place(output.text)
    for kind, value in output.get("data", {}).items():
        if kind.startswith("text/"):
            output.data[kind] = _without_place(value)
    return output


def _without_place(text: str) -> str:
    """With a short name for the temporary directory. In a table it is as wide as it was."""
    in_table = re.compile(rf"(?:{PLACE.pattern})(?=  )")
    return PLACE.sub("/data/sales", in_table.sub(lambda m: "/data/sales".ljust(len(m[0])), text))


def main() -> int:
    """Writes the notebook with its outputs."""
    notebook = executed(nbformat.read(NOTEBOOK, as_version=4))
    nbformat.validate(notebook)
    nbformat.write(notebook, NOTEBOOK)
    print(f"written: {NOTEBOOK.relative_to(TOP)}, {NOTEBOOK.stat().st_size >> 10} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
