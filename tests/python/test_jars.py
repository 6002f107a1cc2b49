"""The choice of the jar: by the Spark and the Scala that are really there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from spark_zorder import _jars
from spark_zorder._errors import SetupError

HELD = _jars.jars_in(
    [
        "spark-zorder-spark3.5_2.12-0.1.0.jar",
        "spark-zorder-spark3.5_2.13-0.1.0.jar",
        "spark-zorder-spark4.1_2.13-0.1.0.jar",
        "something-else_2.12-1.0.jar",
    ]
)


class Remote:
    """As much of a Spark Connect session as jar() looks at."""

    def __init__(self, version):
        self.version = version


Remote.__module__ = "pyspark.sql.connect.session"


def test_the_jar_of_this_machine_and_of_a_server(monkeypatch):
    assert _jars.jar() == _jars.jar_path() and Path(_jars.jar()).is_file()
    monkeypatch.setattr(_jars, "packaged", lambda: HELD)
    assert Path(_jars.path_of(HELD[2])).name in _jars.jar(Remote("4.1.3"))
    with pytest.raises(SetupError, match=r"cannot see which Scala .*spark3\.5_2\.12.*spark3\.5_2\.13"):
        _jars.jar(Remote("3.5.4"))
    with pytest.raises(SetupError, match=r"no spark-zorder jar for Spark 9\.1\.0"):
        _jars.jar(Remote("9.1.0"))


def test_the_jar_for_a_spark_that_is_not_here(monkeypatch):
    monkeypatch.setattr(_jars, "packaged", lambda: HELD)
    assert Path(_jars.jar_for("3.5.4", "2.12.18")).name == HELD[0].name
    assert Path(_jars.jar_for("4.1", None)).name == HELD[2].name
    with pytest.raises(SetupError, match=r"more than one Scala: add --scala 2\.12 or --scala 2\.13\."):
        _jars.jar_for("3.5", None)
    with pytest.raises(
        SetupError, match=r"no spark-zorder jar for Spark 3\.4 with Scala any .*holds jars for"
    ):
        _jars.jar_for("3.4", None)


def folder(tmp_path, *names):
    for name in names:
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("core", "scala", "wanted"),
    [
        ("spark-core_2.12-3.5.9.jar", "scala-library-2.12.18.jar", "spark-zorder-spark3.5_2.12-0.1.0.jar"),
        ("spark-core_2.13-3.5.2.jar", "scala-library-2.13.8.jar", "spark-zorder-spark3.5_2.13-0.1.0.jar"),
        (
            "spark-core_2.12-3.5.2-amzn-1.jar",
            "scala-library-2.12.18.jar",
            "spark-zorder-spark3.5_2.12-0.1.0.jar",
        ),
        ("spark-core_2.13-4.1.2.jar", "scala-library-2.13.17.jar", "spark-zorder-spark4.1_2.13-0.1.0.jar"),
    ],
)
def test_by_the_names_of_sparks_own_jars(tmp_path, core, scala, wanted):
    assert _jars.choose(_jars.installed(folder(tmp_path, core, scala)), HELD).name == wanted


def test_spark_from_pyspark_where_a_vendor_renames_its_jars(tmp_path):
    import pyspark

    here = _jars.installed(folder(tmp_path, "scala-library-2.13.17.jar", "vendor--core.jar"))
    assert here.spark == pyspark.__version__ and here.scala == "2.13"


def test_an_unsupported_line_is_named_with_what_the_wheel_holds():
    with pytest.raises(SetupError) as caught:
        _jars.choose(_jars.Installed("3.4.1", "2.12", "/jars"), HELD)
    text = str(caught.value)
    assert "Spark 3.4.1 with Scala 2.12" in text and "Spark 3.5 with Scala 2.13; Spark 4.1" in text
    assert "\n" not in text


def test_a_scala_that_this_line_has_not():
    with pytest.raises(SetupError, match=r"Spark 4\.1\.2 with Scala 2\.12"):
        _jars.choose(_jars.Installed("4.1.2", "2.12", "/jars"), HELD)


def test_no_scala_library_at_all(tmp_path):
    with pytest.raises(SetupError, match=r"No scala-library-\*\.jar was found"):
        _jars.choose(_jars.installed(tmp_path), HELD)


def test_no_jars_in_a_source_folder():
    with pytest.raises(SetupError, match="holds no jars: install the wheel"):
        _jars.choose(_jars.Installed("3.5.9", "2.12", "/jars"), [])


def test_pyspark_of_another_line_than_spark_home():
    with pytest.raises(SetupError, match=r"pyspark is 4\.3\.0 but the Spark jars in /x are 3\.5\.9"):
        _jars.check_pairing(_jars.Installed("3.5.9", "2.12", "/x"), "4.3.0")


def test_spark_home_is_looked_at_first(tmp_path, monkeypatch):
    (tmp_path / "jars").mkdir()
    folder(tmp_path / "jars", "spark-core_2.13-4.1.2.jar", "scala-library-2.13.17.jar")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert _jars.installed()[:2] == ("4.1.2", "2.13")


ZIPPED = """
from spark_zorder import _jars
jar = _jars.packaged()[0]
print(*[_jars.path_of(jar, own) for own in (False, True) for _ in range(2)], sep="\\n")
"""


def test_of_a_package_in_a_zip_one_jar_is_copied(tmp_path):
    package, place = Path(_jars.__file__).parent, tmp_path / "place"
    place.mkdir()
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as made:
        for file in package.rglob("*.py"):
            made.write(file, file.relative_to(package.parent))
        made.writestr(f"{package.name}/jars/{HELD[0].name}", "the jar")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "package.zip"), "TMPDIR": str(place)}
    done = subprocess.run(
        [sys.executable, "-c", ZIPPED], capture_output=True, text=True, check=True, env=environment
    )
    lasting, again, own, *more = map(Path, done.stdout.split())
    assert (lasting, [own]) == (again, more) and lasting != own and own.name == HELD[0].name
    # somebody may start a cluster with the path that was printed
    assert lasting.read_text() == "the jar" and list(place.iterdir()) == [lasting.parent]


def test_the_installed_wheel_has_the_jar_for_this_spark():
    assert _jars.jar_path().endswith(".jar")
