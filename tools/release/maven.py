"""What a Maven repository of a release lacks of what Maven Central asks for: `maven.py target/release/maven`.

Signatures are not looked for: whoever publishes makes them, with a key of their own.
"""

from __future__ import annotations

import hashlib
import json
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parent.parent.parent
GROUP = "io.github.spark-zorder"
DEVELOPERS = "the spark-zorder developers"
# what a POM must say, beside its coordinates and dependencies
SAID = (
    "name",
    "description",
    "url",
    "licenses/license/name",
    "licenses/license/url",
    "scm/url",
    "scm/connection",
    "developers/developer/name",
)
# a file of each kind, by which we know that the archive holds what its name says
HOLDS = {
    ".jar": "org/apache/spark/sql/zorder/ZOrderExtensions.class",
    "-sources.jar": "org/apache/spark/sql/zorder/ZOrderExtensions.scala",
    "-javadoc.jar": "org/apache/spark/sql/zorder/functions$.html",
}
SPACE = "{http://maven.apache.org/POM/4.0.0}"


def problems(repository: Path, lines: list[dict[str, Any]], version: str) -> list[str]:
    """One sentence for each thing that is missing or wrong, of all lines."""
    found = [said for line in lines for said in _module(repository, line, version)]
    wanted = {line["artifact"] for line in lines}
    folder = repository.joinpath(*GROUP.split("."))
    here = {place.name for place in folder.iterdir()} if folder.is_dir() else set()
    return found + [f"{name}: no line has this name." for name in sorted(here - wanted)]


def _module(repository: Path, line: dict[str, Any], version: str) -> Iterator[str]:
    name = line["artifact"]
    folder = repository.joinpath(*GROUP.split("."), name, version)
    start = f"{name}-{version}"
    for end, inside in HOLDS.items():
        archive = folder / f"{start}{end}"
        if not archive.is_file():
            yield f"{archive.name} is missing."
            continue
        with zipfile.ZipFile(archive) as opened:
            names = set(opened.namelist())
        for wanted in (inside, "META-INF/LICENSE", "META-INF/NOTICE"):
            if wanted not in names:
                yield f"{archive.name} has no {wanted}."
    pom = folder / f"{start}.pom"
    if pom.is_file():
        yield from _pom(pom, line, version)
    else:
        yield f"{pom.name} is missing."
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    yield from (said for file in files for said in _sums(file, start))


def _sums(file: Path, start: str) -> Iterator[str]:
    """The checksums of a file, and whether the file belongs there."""
    if file.suffix in (".md5", ".sha1"):
        return
    if file.name not in {f"{start}{end}" for end in (*HOLDS, ".pom")}:
        yield f"{file.name} does not belong into the release."
    for kind in ("md5", "sha1"):
        sum_of = file.with_name(f"{file.name}.{kind}")
        said = sum_of.read_text().split()[:1] if sum_of.is_file() else []
        if said != [hashlib.new(kind, file.read_bytes()).hexdigest()]:
            yield f"{sum_of.name} is missing or wrong."


def _pom(file: Path, line: dict[str, Any], version: str) -> Iterator[str]:
    pom = ElementTree.parse(file).getroot()

    def text(path: str) -> str:
        return (pom.findtext("/".join(SPACE + part for part in path.split("/"))) or "").strip()

    coordinates = {"groupId": GROUP, "artifactId": line["artifact"], "version": version, "packaging": "jar"}
    for path, wanted in {**coordinates, "developers/developer/name": DEVELOPERS}.items():
        if text(path) != wanted:
            yield f"{file.name}: {path} is {text(path) or 'missing'}, not {wanted}."
    yield from (f"{file.name} has no {path}." for path in SAID if not text(path))
    if version.endswith("-SNAPSHOT"):
        yield f"{file.name}: a release is no snapshot."
    dependencies = list(pom.iter(f"{SPACE}dependency"))
    said = {":".join(_part(d, n) for n in ("groupId", "artifactId", "version")): d for d in dependencies}
    spark = f"org.apache.spark:spark-sql_{line['scala']}:{line['spark']}"
    formats = [module for modules in line["formats"].values() for module in modules]
    for module in sorted({spark, *formats} ^ set(said)):
        yield f"{file.name}: {module} {'does not belong' if module in said else 'is missing'}."
    for module, dependency in said.items():
        if _part(dependency, "scope") != "provided":
            yield f"{file.name}: {module} would be fetched: its scope must be provided."
        if module in formats and _part(dependency, "optional") != "true":
            yield f"{file.name}: {module} must be optional."


def _part(dependency: ElementTree.Element, name: str) -> str:
    return (dependency.findtext(SPACE + name) or "").strip()


def lines_of(top: Path) -> list[dict[str, Any]]:
    """The build's one table of Spark lines, as `tools/sbt.sh exportSparkLines` wrote it."""
    found: list[dict[str, Any]] = json.loads((top / "target/spark-lines.json").read_text())
    return found


def main() -> int:
    """Prints the problems and ends with 1 if there are any."""
    version = (TOP / "VERSION").read_text().strip()
    said = problems(Path(sys.argv[1]), lines_of(TOP), version)
    print("\n".join(said) or f"Nothing is missing in {sys.argv[1]}.")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
