"""Writes target/release/spark-zorder-VERSION.cdx.json: what a release ships and needs, as CycloneDX 1.6.

Our archives hold no code of others (tests/python/test_wheel.py), so there is nothing for a scanner to find in
them; what they are used with is said in the build's one table and in python/pyproject.toml. The same files
give the same text.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

import maven

TOP = maven.TOP
LICENCE = [{"license": {"id": "Apache-2.0"}}]
Component = dict[str, Any]


def bom(version: str, lines: list[dict[str, Any]], folder: Path, pyproject: str) -> dict[str, Any]:
    """The bill of the archives in a folder of a release."""
    ours, others, needs = [], {}, {}
    for line in lines:
        jar = f"{line['artifact']}-{version}.jar"
        place = folder.joinpath("maven", *maven.GROUP.split("."), line["artifact"], version, jar)
        made = _ours(
            line["artifact"], version, f"pkg:maven/{maven.GROUP}/{line['artifact']}@{version}", place
        )
        spark = _jar(f"org.apache.spark:spark-sql_{line['scala']}:{line['spark']}", "required")
        formats = [_jar(m, "optional") for modules in line["formats"].values() for m in modules]
        ours.append(made)
        others |= {c["bom-ref"]: c for c in (spark, *formats)}
        needs[made["bom-ref"]] = [c["bom-ref"] for c in (spark, *formats)]
    extras = [_extra(name, wanted) for name, wanted in sorted(python_extras(pyproject).items())]
    others |= {c["bom-ref"]: c for c in extras}
    for end in ("-py3-none-any.whl", ".tar.gz"):
        file = folder / "pypi" / f"spark_zorder-{version}{end}"
        url = f"pkg:pypi/spark-zorder@{version}?file_name={file.name}"
        made = _ours("spark-zorder", version, url, file)
        needs[made["bom-ref"]] = [c["bom-ref"] for c in (*ours[: len(lines)], *extras)]
        ours.append(made)
    top = {"type": "library", "bom-ref": "spark-zorder", "name": "spark-zorder", "version": version}
    needs = {"spark-zorder": [c["bom-ref"] for c in ours], **needs}
    sums = "".join(c["hashes"][0]["content"] for c in ours)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'spark-zorder {version} {sums}')}",
        "version": 1,
        "metadata": {"component": {**top, "licenses": LICENCE}},
        "components": [*ours, *(others[name] for name in sorted(others))],
        "dependencies": [
            {"ref": name, "dependsOn": needs.get(name, [])} for name in (*needs, *sorted(others))
        ],
    }


def _ours(name: str, version: str, url: str, file: Path) -> Component:
    content = hashlib.sha256(file.read_bytes()).hexdigest()
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        "hashes": [{"alg": "SHA-256", "content": content}],
        "licenses": LICENCE,
    }


def _jar(module: str, scope: str) -> Component:
    group, name, version = module.split(":")
    return _other(f"pkg:maven/{group}/{name}@{version}", scope, group=group, name=name, version=version)


def _extra(name: str, wanted: str) -> Component:
    """What pip adds on request. Its version is the user's choice, so only the range is said."""
    made = _other(f"pkg:pypi/{name}", "optional", name=name)
    made["properties"].append({"name": "spark-zorder:versions", "value": wanted})
    return made


def _other(url: str, scope: str, **what: str) -> Component:
    shipped = {"name": "spark-zorder:shipped", "value": "false"}
    return {"type": "library", "bom-ref": url, **what, "scope": scope, "purl": url, "properties": [shipped]}


def python_extras(pyproject: str) -> dict[str, str]:
    """The packages of all extras, each with the versions that it may have."""
    section = pyproject.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    code = "\n".join(line for line in section.splitlines() if not line.startswith("#"))
    return dict(re.findall(r'"([a-z][\w-]*)([^"]*)"', code))


def main() -> int:
    """Writes the file and prints its path."""
    version = (TOP / "VERSION").read_text().strip()
    folder = TOP / "target/release"
    made = bom(version, maven.lines_of(TOP), folder, (TOP / "python/pyproject.toml").read_text())
    file = folder / f"spark-zorder-{version}.cdx.json"
    file.write_text(json.dumps(made, indent=2) + "\n")
    print(file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
