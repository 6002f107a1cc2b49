"""Finds the jar of this wheel that fits the installed Spark and Scala."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ._errors import NoJarError, SetupError
from ._machine import has_pyspark
from ._session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OURS = re.compile(r"(?P<artifact>spark-zorder-spark(?P<spark>\d+\.\d+)_(?P<scala>\d+\.\d+))-.+\.jar$")
_SCALA = re.compile(r"scala-library-(\d+\.\d+)\.\d+.*\.jar$")
_SPARK = re.compile(r"spark-core_(\d+\.\d+)-(\d+\.\d+[^/]*)\.jar$")


class Jar(NamedTuple):
    """One jar of the wheel, with the Spark line and the Scala binary version that it is built for."""

    name: str
    spark: str
    scala: str


class Installed(NamedTuple):
    """The full version of Spark and the binary version of Scala on this machine. None means unknown."""

    spark: str | None
    scala: str | None
    where: str


def line_of(version: str) -> str:
    """The first two numbers of a version: ``4.1.2`` gives ``4.1``."""
    return ".".join(re.split(r"[.\-]", version)[:2])


def packaged() -> list[Jar]:
    """The jars inside this installation, by name."""
    folder = files(__package__).joinpath("jars")
    return jars_in(entry.name for entry in folder.iterdir()) if folder.is_dir() else []


def jars_in(names: Iterable[str]) -> list[Jar]:
    """Our jars among these file names."""
    matches = ((name, _OURS.search(name)) for name in sorted(names))
    return [Jar(name, m.group("spark"), m.group("scala")) for name, m in matches if m]


def file_name(jar: str) -> str:
    """The file name of one of our jars, without the group that Ivy writes before it."""
    found = _OURS.search(jar)
    return jar.rsplit("/", 1)[-1] if found is None else found[0]


def jars_folder() -> Path:
    """The folder of Spark's own jars. SPARK_HOME comes before the pyspark package, as for pyspark itself."""
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home) / "jars"
    import pyspark

    return Path(pyspark.__file__).parent / "jars"


def installed(folder: Path | None = None) -> Installed:
    """Reads the versions from the names of Spark's own jars. Without such a jar, pyspark's version counts."""
    folder = jars_folder() if folder is None else folder
    names = sorted(p.name for p in folder.glob("*.jar")) if folder.is_dir() else []
    scala = next((m.group(1) for m in map(_SCALA.match, names) if m), None)
    core = next((m for m in map(_SPARK.match, names) if m), None)
    if core is not None:
        return Installed(core.group(2), scala or core.group(1), str(folder))
    import pyspark

    return Installed(pyspark.__version__, scala, str(folder))


def choose(here: Installed, jars: list[Jar]) -> Jar:
    """The jar that fits. If none does, the error names the installed versions and all jars."""
    if not jars:
        raise NoJarError(
            "This installation of spark-zorder holds no jars: install the wheel (make wheel makes "
            "python/dist/*.whl) instead of the source folder."
        )
    held = "; ".join(f"Spark {j.spark} with Scala {j.scala}" for j in jars)
    if here.spark is None or here.scala is None:
        raise NoJarError(
            f"No scala-library-*.jar was found in {here.where}, so the jar for Spark {here.spark} "
            f"cannot be chosen: add one of the wheel's jars to spark.jars yourself ({held})."
        )
    for jar in jars:
        if (jar.spark, jar.scala) == (line_of(here.spark), here.scala):
            return jar
    raise NoJarError(
        f"There is no spark-zorder jar for Spark {here.spark} with Scala {here.scala} "
        f"(found in {here.where}); this wheel holds jars for: {held}."
    )


def check_pairing(here: Installed, pyspark_version: str) -> None:
    """Refuses a pyspark of another line than the Spark that it would start."""
    if here.spark is not None and line_of(here.spark) != line_of(pyspark_version):
        raise SetupError(
            f"pyspark is {pyspark_version} but the Spark jars in {here.where} are {here.spark}: install "
            f"pyspark {line_of(here.spark)} or point SPARK_HOME to a Spark {line_of(pyspark_version)}."
        )


def path_of(jar: Jar, own: bool = False) -> str:
    """The path of a real file with the jar's content, even if the package is imported from a zip.

    ``own`` says that only sessions of this process use it.
    """
    inside = files(__package__).joinpath("jars").joinpath(jar.name)
    return str(inside) if isinstance(inside, Path) else _copied(jar.name, own)


@cache
def _copied(name: str, own: bool) -> str:
    """A copy of a jar that is in a zip, one for the whole process.

    One of its own is deleted when the process ends. Another one stays, since its path may have been asked for
    to start another program with it.
    """
    inside = files(__package__).joinpath("jars").joinpath(name)
    folder = Path(tempfile.mkdtemp(prefix="spark-zorder-"))
    if own:
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / name
    target.write_bytes(inside.read_bytes())
    return str(target)


def jar_path(own: bool = False) -> str:
    """The path of the jar for the Spark of this machine."""
    if not has_pyspark():
        raise SetupError(
            "pyspark is not installed, so name the Spark, as in "
            "python -m spark_zorder jar --spark 3.5 --scala 2.12."
        )
    import pyspark

    here = installed()
    check_pairing(here, pyspark.__version__)
    return path_of(choose(here, packaged()), own)


def jar_for(spark: str, scala: str | None) -> str:
    """The path of the jar for a Spark that need not be here, such as 3.5 with Scala 2.12."""
    line = line_of(spark)
    fitting = [jar for jar in packaged() if jar.spark == line]
    if scala is None and len(fitting) > 1:
        known = " or ".join(f"--scala {jar.scala}" for jar in fitting)
        raise SetupError(f"Spark {line} is built with more than one Scala: add {known}.")
    wanted = line_of(scala) if scala is not None else fitting[0].scala if fitting else "any"
    return path_of(choose(Installed(spark, wanted, "the options"), packaged()))


def jar(spark: SparkSession | None = None) -> str:
    """The path of our jar for the Spark of this machine, to use in ``--jars`` or ``spark.jars``.

    With a session, it is the jar for the session's own Spark, which may be a server elsewhere.
    """
    return jar_path() if spark is None else path_of(choose(_installed_in(spark), packaged()))


def own_jar(spark: SparkSession) -> str:
    """The same for a session of this process, which needs the jar no longer than the process lives."""
    return path_of(choose(_installed_in(spark), packaged()), own=True)


def _installed_in(spark: SparkSession) -> Installed:
    if not is_connect(spark):
        session: Any = spark
        scala = str(session._jvm.scala.util.Properties.versionNumberString())
        return Installed(spark.version, line_of(scala), "the session")
    fitting = [jar for jar in packaged() if jar.spark == line_of(spark.version)]
    if len(fitting) > 1:
        raise SetupError(
            "A Spark Connect client cannot see which Scala its server has: call jar() there, or choose one "
            f"of {', '.join(path_of(jar) for jar in fitting)}."
        )
    return Installed(spark.version, fitting[0].scala if fitting else "of a server", "the session")
