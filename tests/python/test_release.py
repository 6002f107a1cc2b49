"""What would be published, and what goes with it: bundle, SBOM, public names, facts in docs, GitHub files."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile

import build_facts
import maven
import public_api
import pytest
import sbom
import scala_page
from support import TOP

pytestmark = pytest.mark.same_on_all_lines

LINE = {
    "line": "4.1",
    "spark": "4.1.2",
    "scala": "2.13",
    "artifact": "spark-zorder-spark4.1_2.13",
    "formats": {"delta": ["io.delta:delta-spark_4.1_2.13:4.4.0", "io.delta:delta-storage:4.4.0"]},
}
START = f"{LINE['artifact']}-0.9.0"


def dependency(group, name, version, more=""):
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
        f"<version>{version}</version><scope>provided</scope>{more}</dependency>"
    )


OPTIONAL = "<optional>true</optional>"
POM = (
    '<project xmlns="http://maven.apache.org/POM/4.0.0"><groupId>io.github.spark-zorder</groupId>'
    "<artifactId>spark-zorder-spark4.1_2.13</artifactId><version>0.9.0</version><packaging>jar</packaging>"
    "<name>n</name><description>d</description><url>u</url><licenses><license><name>Apache-2.0</name><url>l</url>"
    "</license></licenses><scm><url>u</url><connection>c</connection></scm><developers><developer>"
    "<name>the spark-zorder developers</name></developer></developers><dependencies>"
    + dependency("org.apache.spark", "spark-sql_2.13", "4.1.2")
    + dependency("io.delta", "delta-spark_4.1_2.13", "4.4.0", OPTIONAL)
    + dependency("io.delta", "delta-storage", "4.4.0", OPTIONAL)
    + "</dependencies></project>"
)


@pytest.fixture
def module(tmp_path):
    """The folder of a complete module in a repository of its own."""
    folder = tmp_path / "maven/io/github/spark-zorder" / LINE["artifact"] / "0.9.0"
    folder.mkdir(parents=True)
    for end, inside in maven.HOLDS.items():
        with zipfile.ZipFile(folder / f"{START}{end}", "w") as archive:
            for name in (inside, "META-INF/LICENSE", "META-INF/NOTICE"):
                archive.writestr(name, "")
    (folder / f"{START}.pom").write_text(POM)
    summed(folder)
    return folder


def summed(folder):
    for file in [f for f in folder.iterdir() if f.suffix not in (".md5", ".sha1")]:
        for kind in ("md5", "sha1"):
            content = hashlib.new(kind, file.read_bytes()).hexdigest()
            file.with_name(f"{file.name}.{kind}").write_text(content)


def problems(folder):
    return maven.problems(folder.parents[4], [LINE], "0.9.0")


def test_a_complete_module_lacks_nothing(module):
    assert problems(module) == []


@pytest.mark.parametrize("end", [".jar", "-sources.jar", "-javadoc.jar", ".pom"])
def test_what_is_missing_in_a_module_is_named(module, end):
    (module / f"{START}{end}").unlink()
    assert problems(module) == [f"{START}{end} is missing."]


def test_a_wrong_checksum_and_a_stranger_are_named(module):
    (module / f"{START}.jar.md5").write_text("0")
    (module / "x.txt").write_text("")
    (module.parent.parent / "other").mkdir()
    found = " ".join(problems(module))
    assert f"{START}.jar.md5 is missing or wrong." in found and "x.txt does not belong" in found
    assert "other: no line has this name." in found


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("<description>d</description>", "", "has no description"),
        ("the spark-zorder developers", "somebody", "is somebody, not the spark-zorder developers"),
        ("<scm><url>u</url>", "<scm>", "has no scm/url"),
        ("<version>4.1.2</version>", "<version>4.1.1</version>", "spark-sql_2.13:4.1.1 does not belong"),
        ("<scope>provided</scope>", "<scope>compile</scope>", "its scope must be provided"),
        (OPTIONAL, "", "must be optional"),
        ("<version>0.9.0</version>", "<version>0.8.0</version>", "version is 0.8.0, not 0.9.0"),
    ],
)
def test_what_a_pom_lacks_is_named(module, old, new, said):
    (module / f"{START}.pom").write_text(POM.replace(old, new))
    summed(module)
    assert any(said in problem for problem in problems(module)), problems(module)


def test_the_bill_lists_what_is_shipped_and_what_is_needed(module):
    release = module.parents[5]
    (release / "pypi").mkdir()
    for end in ("-py3-none-any.whl", ".tar.gz"):
        (release / f"pypi/spark_zorder-0.9.0{end}").write_text(end)
    pyproject = (TOP / "python/pyproject.toml").read_text()
    made = sbom.bom("0.9.0", [LINE], release, pyproject)
    parts = {part["bom-ref"]: part for part in made["components"]}
    jar = "pkg:maven/io.github.spark-zorder/spark-zorder-spark4.1_2.13@0.9.0"
    content = hashlib.sha256((module / f"{START}.jar").read_bytes()).hexdigest()
    assert parts[jar]["hashes"] == [{"alg": "SHA-256", "content": content}]
    assert [p["name"] for p in parts.values() if "hashes" in p] == [LINE["artifact"], *["spark-zorder"] * 2]
    assert parts["pkg:maven/org.apache.spark/spark-sql_2.13@4.1.2"]["scope"] == "required"
    assert parts["pkg:pypi/pyarrow"]["properties"][1]["value"] == ">=18,<26"
    needs = {entry["ref"]: entry["dependsOn"] for entry in made["dependencies"]}
    assert set(needs) == {"spark-zorder", *parts} and {r for to in needs.values() for r in to} == set(parts)
    assert made == sbom.bom("0.9.0", [LINE], release, pyproject)


def test_public_names_are_as_listed():
    said = public_api.complaint(public_api.LIST.read_text().splitlines(), public_api.names())
    assert said is None, said


def test_a_changed_name_is_explained():
    said = public_api.complaint(["python a(x)", "python b()"], ["python a(x, y)", "python b()"])
    assert (
        "which breaks the programs of users:\n  python a(x)\n" in said and "New:\n  python a(x, y)\n" in said
    )
    assert "make public-api" in said


def test_the_page_of_scala_has_the_public_names_of_the_jar():
    page = scala_page.PAGE.read_text()
    assert page == scala_page.filled(page), "run `make public-api`"
    listed = [line for line in public_api.LIST.read_text().splitlines() if line.startswith("jvm ")]
    shown = set(re.findall(r"^\| `(\w+)\(", page, re.MULTILINE))
    functions = {re.search(r"(\w+)\(", line).group(1) for line in listed if ".functions: " in line}
    assert shown == functions and len(shown) >= 5
    assert {line.split(":")[0].rpartition(".")[2] for line in listed} == set(scala_page.CLASSES)


def test_the_docs_say_what_is_built():
    command = [sys.executable, str(TOP / "tools/build_facts.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_table_of_lines_has_a_row_for_each_jar():
    rows = build_facts.table([{**LINE, "java": 17, "tests": "full"}]).splitlines()
    assert rows[2] == "| `spark4.1_2.13` | 4.1.2 | 17+ | 4.4.0 | - | - | all |"


def test_the_changelog_begins_with_this_version():
    version = (TOP / "VERSION").read_text().strip()
    newest = re.search(r"^## \[([\d.]+)\]", (TOP / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest.group(1) == version


def test_no_source_has_a_header_or_a_licence_of_others():
    """ADR 62: LICENSE and NOTICE go with every archive, and files have no headers."""
    mark = re.compile(r"copyright|spdx-license|licensed (?:to|under)|all rights reserved", re.IGNORECASE)
    found = [
        path.relative_to(TOP).as_posix()
        for pattern in ("jvm/**/*.scala", "jvm/**/*.java", "python/src/**/*.py", "project/*.scala")
        for path in TOP.glob(pattern)
        if mark.search(path.read_text())
    ]
    assert found == []


def test_github_runs_what_ci_runs():
    workflow = (TOP / ".github/workflows/ci.yml").read_text()
    assert re.findall(r"^ +run: (.+)$", workflow, re.MULTILINE) == ["bash .ci/run"]
    # the versions that tools/prerequisites.sh asks for
    assert 'java-version: "17"' in workflow and 'python-version: "3.11"' in workflow


def test_issues_ask_for_what_doctor_prints():
    form = (TOP / ".github/ISSUE_TEMPLATE/bug.yml").read_text()
    assert "python -m spark_zorder doctor" in form
    for name in ("SECURITY.md", "NOTICE", ".github/PULL_REQUEST_TEMPLATE.md"):
        assert (TOP / name).is_file()
    assert "SECURITY.md" in (TOP / ".github/ISSUE_TEMPLATE/config.yml").read_text()
    assert json.loads((TOP / "target/spark-lines.json").read_text())
