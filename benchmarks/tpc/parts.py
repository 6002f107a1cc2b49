"""What earlier sittings measured: a benchmark of hours goes on where it ended."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from asked import Measured
from rounds import Found

if TYPE_CHECKING:
    from pathlib import Path

    from rounds import Query


@dataclass(frozen=True)
class Parts:
    """A file of JSON lines: the settings of each sitting, then a line for each query that it measured.

    Tables are made anew in each sitting; a query has all its rounds, in all layouts, in one.
    """

    file: Path | None

    def begin(self, settings: dict[str, Any]) -> tuple[dict[str, Query], list[str]]:
        """The queries of earlier sittings, and the answers that differed; the settings must be the same."""
        found: dict[str, Query] = {}
        wrong: list[str] = []
        for line in self._lines():
            if (earlier := line.get("settings", settings)) != settings:
                raise SystemExit(
                    f"{self.file} was measured with {earlier}; now it is {settings}. Name another file."
                )
            if "query" in line:
                found[line["query"]] = {
                    key: Found([Measured(**m) for m in of["quick"]], [Measured(**m) for m in of["slow"]])
                    for key, of in line["found"].items()
                }
                wrong += line["wrong"]
        self._add({"settings": settings})
        return found, wrong

    def add(self, name: str, query: Query, wrong: list[str]) -> None:
        """A query that this sitting has measured."""
        self._add({"query": name, "wrong": wrong, "found": {key: asdict(of) for key, of in query.items()}})

    def sittings(self) -> int:
        """How many have measured something."""
        lines = self._lines()
        return sum("settings" in a and "query" in b for a, b in zip(lines, lines[1:], strict=False))

    def _lines(self) -> list[dict[str, Any]]:
        text = self.file.read_text() if self.file and self.file.is_file() else ""
        return [json.loads(line) for line in text.splitlines()]

    def _add(self, line: dict[str, Any]) -> None:
        if self.file:
            with self.file.open("a") as out:
                out.write(json.dumps(line) + "\n")
