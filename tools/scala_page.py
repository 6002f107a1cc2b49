"""Writes what users of the JVM can call into docs/reference/scala.md, from the Scaladoc of the sources.

`make public-api` runs it; a test compares. It has the names of the JVM in docs/reference/public-api.txt.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import NamedTuple

TOP = Path(__file__).resolve().parent.parent
PAGE = TOP / "docs/reference/scala.md"
SOURCES = TOP / "jvm/spark/src/main/scala/org/apache/spark/sql/zorder"
# as tools/public_api.py and project/Release.scala have them
CLASSES = ("functions", "ZOrderExtensions")
BEGIN, END = "<!-- scala: begin, made by make public-api -->", "<!-- scala: end -->"
DOCUMENTED = re.compile(
    r"/\*\*(?P<doc>(?:(?!\*/).)*)\*/\s*(?:@[\w.]+\s+)?"
    r"(?P<what>(?:class|object|def) \w+(?:\([^)]*\))?(?:: \w+)?)",
    re.DOTALL,
)
THROWS = re.compile(r"@throws (?:\w+\.)*(\w+) (.*?)(?=@|\Z)", re.DOTALL)
PARAMETER = re.compile(r"@param (\w+) (.*?)(?=@|\Z)", re.DOTALL)


class Named(NamedTuple):
    """A class or a function, with what its Scaladoc says."""

    signature: str
    text: str
    parameters: list[tuple[str, str]]
    throws: list[tuple[str, str]]


def documented(source: str) -> list[Named]:
    """What has Scaladoc in a source, in its order."""
    return [_named(found["doc"], found["what"]) for found in DOCUMENTED.finditer(source)]


def _named(doc: str, what: str) -> Named:
    words = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in doc.splitlines()).strip()
    words = re.sub(r"\{\{\{ (.*?) \}\}\}", r"Example: `\1`.", re.sub(r"\[\[(\w+)\]\]", r"`\1`", words))
    words = re.sub(r" +", " ", words)
    text, *tags = re.split(r"(?=@(?:param|throws) )", words, maxsplit=1)
    parameters, throws = (
        [(name, said.strip()) for name, said in tag.findall("".join(tags))] for tag in (PARAMETER, THROWS)
    )
    return Named(re.sub(r"^def ", "", what), text.strip(), parameters, throws)


def tables() -> str:
    """A heading, its sentences and a table for each public class."""
    parts = []
    for name in CLASSES:
        of_class, *members = documented((SOURCES / f"{name}.scala").read_text(encoding="utf-8"))
        parts.append(f"## {name}\n\n`org.apache.spark.sql.zorder.{name}`: {_said(of_class)}")
        rows = [f"| `{m.signature}` | {_said(m)} |" for m in members]
        if rows:
            parts.append("\n".join(["| function | meaning |", "| --- | --- |", *rows]))
    return "\n\n".join(parts)


def _said(member: Named) -> str:
    more = "".join(f" `{name}`: {said}." for name, said in member.parameters)
    more += "".join(f" Throws `{error}` {said}." for error, said in member.throws)
    return f"{member.text}{more}".replace("|", "\\|")


def filled(page: str) -> str:
    """The page with the tables as they are now."""
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.split(END)[1]}"


def main() -> int:
    """Writes the page, or compares it."""
    page = PAGE.read_text(encoding="utf-8")
    now = filled(page)
    if "--check" in sys.argv[1:]:
        if page != now:
            sys.exit("docs/reference/scala.md is not what the sources say: run `make public-api`.")
        return 0
    PAGE.write_text(now, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
