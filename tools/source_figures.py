"""Figures of the sources at some commits, for docs/contributing/before-and-after.md.

source_figures.py e440521d HEAD    # one row a figure, one column a commit
"""

from __future__ import annotations

import io
import re
import statistics
import subprocess
import sys
import tarfile

SCALA = ("jvm/spark/src/main", "jvm/curve/src/main")
PYTHON = "python/src"

# whichever begins first: a string may hold what looks like a comment, and a comment may hold quotes
NO_CODE = re.compile(r'"""[\s\S]*?"""+|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/')
IMPORT = re.compile(r"^[ \t]*import [^\n{]*(?:\{[^}]*\})?[^\n]*\n", re.M)
PACKAGE = re.compile(r"^package [^\n]*\n", re.M)
TYPE = re.compile(r"^(?:[\w\[\]@]+ +)*(?:class|object|trait) +(\w+)", re.M)


def texts(commit: str) -> dict[str, str]:
    """The main sources at a commit, by path."""
    packed = subprocess.run(
        ["git", "archive", commit, *SCALA, PYTHON], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        members = [m for m in tar if m.isfile() and m.name.endswith((".scala", ".py"))]
        return {m.name: tar.extractfile(m).read().decode() for m in members}


def without_comments(text: str) -> str:
    """The text with strings of one word and without comments."""
    return NO_CODE.sub(lambda m: "" if m[0].startswith("/") else '"text"', text)


def code_lines(text: str) -> int:
    """Lines of Scala that are neither blank nor comment, import or package."""
    code = PACKAGE.sub("", IMPORT.sub("", without_comments(text)))
    return sum(1 for line in code.splitlines() if line.strip())


def figures(commit: str) -> dict[str, str]:
    """Each figure with its name."""
    every = texts(commit)
    scala = [text for path, text in every.items() if path.endswith(".scala")]
    python = [text for path, text in every.items() if path.endswith(".py")]
    code = [code_lines(text) for text in scala]
    types = {name for text in scala for name in TYPE.findall(without_comments(text))}
    found = {
        "Scala files": len(scala),
        "lines in them": sum(len(text.splitlines()) for text in scala),
        "lines of code in them": sum(code),
        "median lines of code of a file": statistics.median(code),
        "longest file, lines of code": max(code),
        "longest file, lines": max(len(text.splitlines()) for text in scala),
        "files of at most 40 lines of code": sum(1 for n in code if n <= 40),
        "pairs of types whose names differ by a trailing s": sum(1 for name in types if name + "s" in types),
        "Python files": len(python),
        "lines in them, Python": sum(len(text.splitlines()) for text in python),
    }
    return {name: f"{number:,g}" if number % 1 else f"{int(number):,}" for name, number in found.items()}


if __name__ == "__main__":
    commits = sys.argv[1:] or ["HEAD"]
    columns = [figures(commit) for commit in commits]
    print(f"| figure | {' | '.join(commits)} |")
    print(f"| --- |{' ---: |' * len(commits)}")
    for name in columns[0]:
        print(f"| {name} | {' | '.join(column[name] for column in columns)} |")
