"""What is in the wheel, and that the tests run against the installed one."""

from __future__ import annotations

import json
import re
import struct
import zipfile
from pathlib import Path

import pytest
import spark_zorder
from support import TOP

VERSION = (TOP / "VERSION").read_text().strip()
WHEEL = TOP / "python" / "dist" / f"spark_zorder-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def names():
    with zipfile.ZipFile(WHEEL) as wheel:
        return wheel.namelist()


@pytest.fixture(scope="module")
def lines():
    return json.loads((TOP / "target" / "spark-lines.json").read_text())


def jars():
    with zipfile.ZipFile(WHEEL) as wheel:
        found = [n for n in wheel.namelist() if n.endswith(".jar")]
        return {Path(n).name: wheel.read(n) for n in found}


def test_the_tests_run_against_the_installed_wheel():
    assert "site-packages" in str(Path(spark_zorder.__file__))


def test_version_is_the_same_everywhere():
    assert spark_zorder.__version__ == VERSION


def test_a_jar_for_each_line_and_no_other(names, lines):
    wanted = {f"spark_zorder/jars/{line['artifact']}-{VERSION}.jar" for line in lines}
    assert len(wanted) == 6
    assert {n for n in names if n.endswith(".jar")} == wanted


def test_typed_and_licensed_and_without_tests(names):
    assert "spark_zorder/py.typed" in names
    assert {n.rpartition("/")[2] for n in names if "/licenses/" in n} == {"LICENSE", "NOTICE"}
    assert not [n for n in names if "test" in n.lower() or "__pycache__" in n]
    tops = {n.split("/")[0] for n in names}
    assert tops == {"spark_zorder", f"spark_zorder-{VERSION}.dist-info"}


def test_it_needs_nothing_but_a_pyspark_of_the_users_choice(names):
    with zipfile.ZipFile(WHEEL) as wheel:
        metadata = wheel.read(f"spark_zorder-{VERSION}.dist-info/METADATA").decode()
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert required and all(re.search(r"extra == ['\"](spark|audit|report)['\"]", line) for line in required)
    assert "Requires-Python: >=3.9" in metadata
    # one address everywhere: the build writes it into the POMs
    home = re.search(r'val home = "(.+)"', (TOP / "project/Release.scala").read_text()).group(1)
    addresses = re.findall(r"^Project-URL: (\w+), (\S+)", metadata, re.MULTILINE)
    assert {name for name, _ in addresses} >= {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    assert all(address.startswith(home) for _, address in addresses)


def classes(content, folder):
    target = folder / "x.jar"
    target.write_bytes(content)
    with zipfile.ZipFile(target) as jar:
        for name in jar.namelist():
            if name.endswith(".class"):
                yield name, struct.unpack(">H", jar.read(name)[6:8])[0]


def test_the_licence_goes_with_every_jar(tmp_path):
    for name, content in jars().items():
        target = tmp_path / "z.jar"
        target.write_bytes(content)
        with zipfile.ZipFile(target) as jar:
            for file in ("LICENSE", "NOTICE"):
                assert jar.read(f"META-INF/{file}") == (TOP / file).read_bytes(), name


def test_class_files_are_as_old_as_the_sparks_that_run_them(tmp_path):
    """Spark 3.5 still runs on Java 8 (52); Spark 4 on 17 (61)."""
    for name, content in jars().items():
        majors = {major for _, major in classes(content, tmp_path)}
        if "spark3.5" in name:
            assert majors == {52}, name
        else:
            assert max(majors) <= 61, name


def test_no_class_of_anybody_else_and_small_jars(tmp_path):
    for name, content in jars().items():
        allowed = re.compile(r"(sparkzorder/|org/apache/spark/sql/(delta/)?zorder/)")
        assert [c for c, _ in classes(content, tmp_path) if not allowed.match(c)] == [], name
        assert len(content) < 6_500_000, name


def test_each_jar_says_what_it_was_built_for(tmp_path, lines):
    held = jars()
    for line in lines:
        target = tmp_path / "y.jar"
        target.write_bytes(held[f"{line['artifact']}-{VERSION}.jar"])
        with zipfile.ZipFile(target) as jar:
            text = jar.read("spark-zorder.properties").decode()
        facts = dict(pair.split("=", 1) for pair in text.split())
        assert (facts["version"], facts["spark"], facts["scala"]) == (VERSION, line["line"], line["scala"])
        assert facts["artifacts"].split(",") == [other["artifact"] for other in lines]
