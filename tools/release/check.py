"""`make release-check`: builds a release from a clean clone of HEAD and looks at all that would be published.

The clone shares the virtual environments and sbt of this tree, and nothing else. What it made is in
target/release at the end. Nothing is uploaded; signatures are left to whoever publishes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import maven

TOP = maven.TOP
CLONE = TOP / "target/release-clone"


def main() -> int:
    """Builds, checks, and says what is wrong."""
    changed = _said(["git", "status", "--porcelain"], TOP)
    if changed:
        print(
            f"There are changes that HEAD has not got; commit or stash them first:\n{changed}",
            file=sys.stderr,
        )
        return 1
    _clone()
    done = subprocess.run(["make", "release", f"PYTHON={_python()}"], cwd=CLONE, check=False)
    if done.returncode != 0:
        print("The clean clone does not build.", file=sys.stderr)
        return 1
    wrong = 0
    for name, check in CHECKS.items():
        found = list(check(CLONE / "target/release"))
        wrong += len(found)
        print(f"{name}: {'ok' if not found else ''}".rstrip())
        print("".join(f"  {said}\n" for said in found), end="")
    shutil.rmtree(TOP / "target/release", ignore_errors=True)
    shutil.copytree(CLONE / "target/release", TOP / "target/release")
    shutil.rmtree(CLONE)
    print(f"release-check: {'passed' if not wrong else f'{wrong} things are wrong'}; look at target/release")
    return int(bool(wrong))


def _clone() -> None:
    shutil.rmtree(CLONE, ignore_errors=True)
    _said(["git", "clone", "--quiet", "--no-hardlinks", str(TOP), str(CLONE)], TOP)
    (CLONE / "target").mkdir()
    for shared in ("venv", "tools"):
        if (TOP / "target" / shared).is_dir():
            (CLONE / "target" / shared).symlink_to(TOP / "target" / shared)


def _python() -> str:
    """The Python that made this environment, not the one inside it."""
    return getattr(sys, "_base_executable", sys.executable)


def bundle(release: Path) -> Iterator[str]:
    """Jars, sources, documentation, POMs and checksums, as Maven Central asks for them."""
    yield from maven.problems(release / "maven", maven.lines_of(CLONE), _version())


def metadata(release: Path) -> Iterator[str]:
    """What PyPI would refuse, or show wrongly."""
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, _archives(release))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield f"twine: {done.stdout.strip()} {done.stderr.strip()}"


def licences(release: Path) -> Iterator[str]:
    """LICENSE and NOTICE in wheel and source distribution (ADR 62); those of jars belong to the bundle."""
    for archive in _archives(release):
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as opened:
                names = opened.namelist()
        else:
            with tarfile.open(archive) as opened:
                names = opened.getnames()
        for name in ("LICENSE", "NOTICE"):
            if not any(found.endswith(f"/{name}") for found in names):
                yield f"{archive.name} has no {name}."


def installed(release: Path) -> Iterator[str]:
    """Wheel and source distribution, each in an environment that has nothing else."""
    for archive in _archives(release):
        with tempfile.TemporaryDirectory() as folder:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin/python")
            program = "import spark_zorder as z; print(z.__version__, z.__file__)"
            for command in (
                ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(archive)],
                ["-m", "pip", "check"],
                ["-c", program],
                ["-m", "spark_zorder", "jar", "--spark", "3.5", "--scala", "2.12"],
            ):
                done = subprocess.run(
                    [python, *command], cwd=folder, capture_output=True, text=True, check=False
                )
                if done.returncode != 0:
                    yield f"{archive.name}: {' '.join(command)}: {done.stderr.strip()[-500:]}"
                    break
                if command[-1] == program and not done.stdout.startswith(f"{_version()} {folder}"):
                    yield f"{archive.name}: another package was imported: {done.stdout.strip()}"


def bill(release: Path) -> Iterator[str]:
    """The SBOM by the schema of its standard."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = (release / f"spark-zorder-{_version()}.cdx.json").read_text()
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error is not None:
        yield f"no valid CycloneDX 1.6: {error}"
    shipped = [c for c in json.loads(text)["components"] if "hashes" in c]
    if len(shipped) != len(maven.lines_of(CLONE)) + 2:
        yield f"{len(shipped)} archives are listed."


def _archives(release: Path) -> list[Path]:
    return sorted((release / "pypi").iterdir())


def _version() -> str:
    return (CLONE / "VERSION").read_text().strip()


def _said(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


CHECKS: dict[str, Callable[[Path], Iterator[str]]] = {
    "Maven bundle": bundle,
    "PyPI metadata": metadata,
    "LICENSE and NOTICE": licences,
    "installed in an empty environment": installed,
    "SBOM": bill,
}

if __name__ == "__main__":
    sys.exit(main())
