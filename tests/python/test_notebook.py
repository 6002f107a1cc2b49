"""The notebook of examples/: what it shows is kept in it, names no machine, and comes again in a run."""

from __future__ import annotations

import json
import re

import pytest
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

NOTEBOOK = TOP / "examples/slow_to_fast.ipynb"


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def texts(cells):
    """All text that the cells printed, as one."""
    said = []
    for cell in cells:
        for output in cell["outputs"]:
            said += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return "\n".join("".join(part) for part in said)


def files_opened(text):
    return re.findall(r"^(a \w+: \d+ of \d+ files)", text, re.MULTILINE)


def test_it_is_kept_with_what_it_shows():
    notebook = json.loads(NOTEBOOK.read_text())
    cells = code_cells(notebook)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert not [o for o in outputs if o["output_type"] == "error" or o.get("name") == "stderr"]
    assert sum("image/png" in o.get("data", {}) for o in outputs) == 3
    # results show themselves as tables, where GitHub has HTML and where it has not
    tables = [o["data"] for o in outputs if "<table" in "".join(o.get("data", {}).get("text/html", ""))]
    assert len(tables) == 3 and all("text/plain" in data for data in tables)
    assert NOTEBOOK.stat().st_size < 300_000


def test_it_names_no_place_of_a_machine():
    text = NOTEBOOK.read_text()
    assert not re.search(r"/(?:tmp|home|root|work|Users)/", text)


def test_fewer_files_are_opened_afterwards():
    opened = files_opened(texts(code_cells(json.loads(NOTEBOOK.read_text()))))
    assert opened[:2] == ["a customer: 64 of 64 files", "a product: 64 of 64 files"]
    assert len(opened) == 4 and all(int(re.search(r"\d+", line)[0]) <= 16 for line in opened[2:])


@pytest.mark.long
def test_it_shows_the_same_again():
    nbformat = pytest.importorskip("nbformat")
    import notebook

    kept = nbformat.read(NOTEBOOK, as_version=4)
    again = notebook.executed(nbformat.read(NOTEBOOK, as_version=4))
    assert [cell["source"] for cell in again.cells] == [cell["source"] for cell in kept.cells]
    opened = files_opened(texts(code_cells(again)))
    assert opened == files_opened(texts(code_cells(kept))) and len(opened) == 4
