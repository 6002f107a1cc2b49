"""A notebook as a page of the site: cells and what they printed, in Markdown."""

from __future__ import annotations

import json
from typing import Any


def page(notebook: str) -> str:
    """The text of an .ipynb file as Markdown."""
    return "\n\n".join(part for cell in json.loads(notebook)["cells"] for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> list[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return [source]
    return [f"```python\n{source}\n```", *map(_output, cell["outputs"])]


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "image/png" in data:
        picture = "".join(data["image/png"].split())
        return f"![{_said(data)}](data:image/png;base64,{picture})"
    if "text/html" in data:
        return "".join(data["text/html"])
    return f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```"


def _said(data: dict[str, Any]) -> str:
    return "".join(data.get("text/plain", "a picture")).strip("<>")
