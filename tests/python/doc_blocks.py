"""The blocks of code in README.md and docs/, each with its kind, its place, and why it is not run, if it is not.

A block is fenced, or indented by four spaces after an empty line. The first word tells its kind: `sql`, `python`,
`shell`, or None for output, settings and pictures. A comment on the line before a block keeps it from being run:

    <!-- not run: needs a server -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

from support import TOP

FENCES = {"sql": "sql", "python": "python", "shell": "shell", "bash": "shell", "sh": "shell"}
SQL = re.compile(
    r"(?:ZORDER|OPTIMIZE|SELECT|SET|ALTER|CREATE|DROP|INSERT|CALL|DESCRIBE|REFRESH|MSCK|WITH)\b", re.ASCII
)
SHELL = re.compile(r"(?:\$ )?(?:python3? |pip |make |spark-\w+ |tools/|git |cp |[A-Z_]+=\S+ )")
PYTHON = re.compile(r"(?:import |from \w+ import |spark_zorder\.|spark\.|t\.|table\.|df\.)")
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->", re.DOTALL)
HIDDEN = ("docs/adr/", "docs/contributing/before-and-after.md", "docs/spec.md")


@dataclass(frozen=True)
class Block:
    """One block: the page and line where it begins, its kind, its text, and why it is not run."""

    page: str
    line: int
    kind: str | None
    text: str
    excuse: str | None

    @property
    def where(self):
        return f"{self.page}:{self.line}"


def pages():
    """README.md and the pages below docs/, but for those whose code is of another time: decisions, old code."""
    found = [TOP / "README.md", TOP / "python/README.md", *sorted((TOP / "docs").rglob("*.md"))]
    names = [page.relative_to(TOP).as_posix() for page in found]
    return [name for name in names if not name.startswith(HIDDEN)]


def blocks():
    """The blocks of all pages."""
    return [block for page in pages() for block in of_page(page)]


def of_page(page):
    """The blocks of one page."""
    lines = (TOP / page).read_text().splitlines()
    found, at, indent = [], 0, 0
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"( *)```(\w*)", line)
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            kind = FENCES.get(fence.group(2))
            found.append(_block(page, lines, at, at + 1, end, kind))
            at = end + 1
            continue
        item = re.match(r"( *)(?:[-*]|\d+\.) +", line)
        if item:
            indent = item.end()
        elif line.strip() and not line.startswith(" "):
            indent = 0
        needed = indent + 4
        blank_before = at == 0 or not lines[at - 1].strip() or lines[at - 1].lstrip().startswith("<!--")
        if line.startswith(" " * needed) and line.strip() and blank_before and not item:
            end = at
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" " * needed)):
                end += 1
            found.append(_block(page, lines, at, at, end, None))
            at = end
            continue
        at += 1
    return found


def _block(page, lines, first, start, end, kind):
    text = dedent("\n".join(lines[start:end])).strip("\n")
    before = [line for line in lines[max(0, first - 6) : first] if line.strip()]
    comment = NOT_RUN.search("\n".join(before)) if before and before[-1].rstrip().endswith("-->") else None
    return Block(page, first + 1, kind or _guess(text), text, comment.group(1) if comment else None)


def _guess(text):
    for kind, begins in (("sql", SQL), ("shell", SHELL), ("python", PYTHON)):
        if begins.match(text):
            return kind
    return None


def statements(text):
    """The statements of a block of SQL: they end at a semicolon, at an empty line, or where a new one begins."""
    without = "\n".join(re.sub(r"\s+-- .*$|^-- .*$", "", line) for line in text.splitlines())
    parts = re.split(r";\s*(?:\n|$)|\n\s*\n", without)
    return [" ".join(part.split()) for part in parts if part.strip()]


def commands(text):
    """The commands of a block of shell, with continued lines joined and comments off."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [re.sub(r"\s{2,}# .*$", "", line).strip().removeprefix("$ ") for line in joined.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]
