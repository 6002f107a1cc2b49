"""Writes docs/reference/public-api.txt: every name that users write, one a line; `--check` compares.

JVM: the classes that Scaladoc documents, by javap from the jars of all lines. Python: what
docs/reference/python.md documents, and `__all__`. Shell: commands and their options. Statements and functions
of SQL, options and conditions of errors have pages of their own, which other tests compare.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spark_zorder
from spark_zorder import __main__ as shell

TOP = Path(__file__).resolve().parent.parent
LIST = TOP / "docs/reference/public-api.txt"
ZORDER = "org.apache.spark.sql.zorder"
# each class with its methods: the others come from Spark's traits and differ by line
CLASSES = {
    f"{ZORDER}.ZOrderExtensions": r"ZOrderExtensions\(\)|apply\(SparkSessionExt",
    f"{ZORDER}.functions": "",
}


def names() -> list[str]:
    """All lines of the list."""
    return [*sorted(jvm()), *sorted(python()), *sorted(commands())]


def jvm() -> set[str]:
    """Public methods, which must be the same in all jars."""
    version = (TOP / "VERSION").read_text().strip()
    jars = sorted((TOP / "target/jars").glob(f"spark-zorder-spark*-{version}.jar"))
    found = [_of_jar(jar) for jar in jars]
    if not found or any(one != found[0] for one in found):
        sys.exit(f"Public classes differ between jars, or there are none: {', '.join(j.name for j in jars)}")
    return found[0]


def _of_jar(jar: Path) -> set[str]:
    command = ["javap", "-public", "-cp", str(jar), *CLASSES]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines, owner = set(), ""
    for line in text.splitlines():
        head = re.match(r"public (?:final )?class (\S+)", line)
        owner = head.group(1) if head else owner
        # Seq is another one in Scala 2.13, and a class needs no package to be known
        method = re.sub(r"\b[a-z]\w*\.(?:[a-z]\w*\.)*", "", line.strip(" ;"))
        if line.startswith("  public") and "$" not in line and re.search(CLASSES[owner], method):
            lines.add(f"jvm {owner}: {method}")
    return lines


def python() -> set[str]:
    """Documented functions and classes with their public methods, each with its parameters."""
    page = (TOP / "docs/reference/python.md").read_text()
    wanted = set(re.findall(r"^::: ([\w.]+)", page, re.MULTILINE))
    wanted |= {f"spark_zorder.{name}" for name in spark_zorder.__all__ if not name.startswith("__")}
    return {line for name in wanted for line in _of_python(name, _found(name))}


def _found(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        owner, _, last = name.rpartition(".")
        return getattr(_found(owner), last)


def _of_python(name: str, thing: Any) -> Iterator[str]:
    if inspect.ismodule(thing):
        yield f"python {name}"
        for inside, value in vars(thing).items():
            if not inside.startswith("_") and getattr(value, "__module__", None) == thing.__name__:
                yield from _of_python(f"{name}.{inside}", value)
    elif inspect.isclass(thing):
        yield f"python {name}"
        yield from (f"python {name}.{field}" for field in inspect.get_annotations(thing) if field[0] != "_")
        for inside, value in vars(thing).items():
            if isinstance(value, property) and not inside.startswith("_"):
                yield f"python {name}.{inside}"
            plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
            if not inside.startswith("_") and callable(plain):
                yield f"python {name}.{inside}{inspect.signature(plain)}"
    elif callable(thing):
        yield f"python {name}{inspect.signature(thing)}"


def commands() -> set[str]:
    """Commands of the shell with the options that the help shows."""
    parser = shell._parser()
    every = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    lines = set()
    for name, command in every.choices.items():
        shown = [a for a in command._actions if a.help != argparse.SUPPRESS and a.dest != "help"]
        lines.add(f"shell {name}")
        lines |= {f"shell {name} {(a.option_strings or [a.metavar])[-1]}" for a in shown}
    return lines


def complaint(listed: list[str], now: list[str]) -> str | None:
    """What to do about the differences, or None."""
    gone, new = sorted(set(listed) - set(now)), sorted(set(now) - set(listed))
    if not gone and not new:
        return None
    said = [f"The public names are not those of {LIST.relative_to(TOP)}."]
    if gone:
        said += ["Gone or changed, which breaks the programs of users:", *(f"  {line}" for line in gone)]
    if new:
        said += ["New:", *(f"  {line}" for line in new)]
    said.append(
        "If this is meant: `make public-api`, and a line in CHANGELOG.md with what users must change."
    )
    return "\n".join(said)


def main() -> int:
    """Writes the list, or compares it."""
    now = names()
    if "--check" in sys.argv[1:]:
        said = complaint(LIST.read_text().splitlines(), now)
        print(said or f"{len(now)} public names, all as listed.")
        return int(said is not None)
    LIST.write_text("\n".join(now) + "\n")
    print(f"written: {LIST.relative_to(TOP)}, {len(now)} names")
    return 0


if __name__ == "__main__":
    sys.exit(main())
