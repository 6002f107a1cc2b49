"""The blocks of code in README.md and docs/, each with its kind, its place, and why it is not run.

A block is fenced, or indented by four spaces behind an empty line. The first word tells its kind: `sql`,
`python`, `shell`, or None for output, settings and pictures. A comment before a block keeps it from running:

    <!-- not run: needs a server -->
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from textwrap import dedent

from support import TOP

FENCES = {"sql": "sql", "python": "python", "shell": "shell"}
WORDS = "ZORDER|OPTIMIZE|SELECT|SET|ALTER|CREATE|DROP|INSERT|CALL|DESCRIBE|REFRESH"
SQL = re.compile(rf"(?:{WORDS})\b")
SHELL = re.compile(r"(?:\$ )?(?:python3? -m |pip |make |spark-\w+ |tools/|target/)")
PYTHON = re.compile(
    r"(?:import \w+$|from \w+ import |(?:spark_zorder|spark|table|t|df)\.\w+\()", re.MULTILINE
)
NOT_RUN = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.DOTALL)
# decisions are of another time; the specification shows grammars
LEFT_OUT = ("docs/adr/", "docs/spec.md")


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

    def parts(self):
        """The statements and commands of the block with their kinds: it may show one thing in three ways."""
        if self.kind == "python":
            return [("python", self.text)]
        if self.kind == "shell":
            return [("shell", command) for command in commands(self.text)]
        other = [line for line in self.text.splitlines() if SHELL.match(line) or PYTHON.match(line)]
        rest = "\n".join(line for line in self.text.splitlines() if line not in other)
        lines = [("shell" if SHELL.match(line) else "python", without_comment(line)) for line in other]
        return [("sql", statement) for statement in statements(rest)] + lines


def pages():
    """README.md, the package's own, and the pages below docs/ whose code is of today."""
    found = [TOP / "README.md", TOP / "python/README.md", *sorted((TOP / "docs").rglob("*.md"))]
    names = [page.relative_to(TOP).as_posix() for page in found]
    return [name for name in names if not name.startswith(LEFT_OUT)]


def blocks(kind):
    """The blocks of one kind, of all pages."""
    return [block for page in pages() for block in of_page(page) if block.kind == kind]


def of_page(page):
    """The blocks of one page."""
    lines = (TOP / page).read_text().splitlines()
    found, at, indent = [], 0, 0
    while at < len(lines):
        line = lines[at]
        fence = re.match(r" *```(\w*)", line)
        if fence:
            end = next(i for i in range(at + 1, len(lines)) if lines[i].strip() == "```")
            text = dedent("\n".join(lines[at + 1 : end]))
            found.append(Block(page, at + 1, FENCES.get(fence.group(1)), text, _excuse(lines, at)))
            at = end + 1
            continue
        item = re.match(r" *(?:[-*]|\d+\.) +", line)
        if line.strip() and not item and not line.startswith(" "):
            indent = 0
        room = " " * (indent + 4)
        if line.startswith(room) and not (item and item.end() <= indent + 4) and _begins(lines, at):
            end = at
            while end < len(lines) and (not lines[end].strip() or lines[end].startswith(room)):
                end += 1
            text = dedent("\n".join(lines[at:end])).strip("\n")
            found.append(Block(page, at + 1, _kind(text), text, _excuse(lines, at)))
            at = end
            continue
        if item:
            indent = item.end()
        at += 1
    return found


def _begins(lines, at):
    return at == 0 or not lines[at - 1].strip() or lines[at - 1].rstrip().endswith("-->")


def _excuse(lines, at):
    found = NOT_RUN.search("\n".join(lines[max(0, at - 4) : at]))
    return " ".join(found.group(1).split()) if found else None


def _kind(text):
    found = (
        kind for kind, begin in (("sql", SQL), ("shell", SHELL), ("python", PYTHON)) if begin.match(text)
    )
    return next(found, None)


def without_comment(line):
    """A line of Python or of a shell without the comment behind it."""
    return re.sub(r"\s+# .*$", "", line).strip()


def statements(text):
    """The statements of a block of SQL: they end at a semicolon or at an empty line."""
    without = "\n".join(re.sub(r"(?:^|\s+)-- .*$", "", line) for line in text.splitlines())
    parts = re.split(r";\s*(?:\n|$)|\n\s*\n", without)
    return [" ".join(part.split()) for part in parts if part.strip()]


def commands(text):
    """The commands of a block of shell, with continued lines joined; what they print may stand below them."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = [without_comment(line).removeprefix("$ ") for line in joined.splitlines() if SHELL.match(line)]
    return [part for line in lines for part in line.split(" && ")]
