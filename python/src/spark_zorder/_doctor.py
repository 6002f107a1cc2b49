"""Shows what is installed and what is missing, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

from . import _jars, _session, _text
from ._errors import SetupError, sentence
from ._version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Fact:
    """One line of the table. ``advice`` is empty if nothing is wrong."""

    name: str
    value: str
    advice: str = ""


class Report:
    """The facts about one session. ``ok`` is true if nothing is missing. Printing it shows the table."""

    def __init__(self, facts: list[Fact]) -> None:
        """The table shows one fact a line, in this order."""
        self.facts = facts

    @property
    def ok(self) -> bool:
        """Whether nothing has to be done."""
        return not any(fact.advice for fact in self.facts)

    def __str__(self) -> str:
        """The table, then what to do about each thing that is missing."""
        table = _text.grid([{"what": f.name, "found": f.value} for f in self.facts])
        todo = [f"- {f.name}: {f.advice}" for f in self.facts if f.advice]
        return "\n".join([table, "", *(["To do:", *todo] if todo else ["Nothing is missing."])])

    def __repr__(self) -> str:
        """A short text, since ``doctor`` has already printed the table."""
        missing = sum(1 for f in self.facts if f.advice)
        return f"<spark_zorder doctor: {len(self.facts)} facts, {missing} to do>"


def doctor(spark: SparkSession, show: Callable[[str], Any] | None = print) -> Report:
    """Prints the facts about spark-zorder in this session, and returns them. Changes nothing."""
    report = Report(_facts(spark))
    if show is not None:
        show(str(report))
    return report


def _facts(spark: SparkSession) -> list[Fact]:
    import pyspark

    connect = _session.is_connect(spark)
    facts = [
        Fact("spark-zorder (Python)", __version__),
        Fact("pyspark", pyspark.__version__),
        Fact("Spark", spark.version),
        Fact("session", "Spark Connect" if connect else "classic"),
        _wheel(connect),
        _jar(spark),
    ]
    ours = [_functions(spark, connect), _statements(spark, connect)]
    return [*facts, *([] if connect else _classic(spark)), *ours]


def _wheel(connect: bool) -> Fact:
    names = [f"{j.spark}_{j.scala}" for j in _jars.packaged()]
    advice = "" if names or connect else "install the wheel: this is a source folder without jars"
    return Fact("jars in this package", ", ".join(names) or "none", advice)


def _jar(spark: SparkSession) -> Fact:
    """The fact about the jar of this package. Another fact reports that no jar fits."""
    try:
        return Fact("jar for this Spark", _jars.jar(spark))
    except SetupError as error:
        return Fact("jar for this Spark", f"none ({sentence(error)})")


def _classic(spark: SparkSession) -> list[Fact]:
    session: Any = spark
    scala = Fact("Scala", str(session._jvm.scala.util.Properties.versionNumberString()))
    info = _session.jvm_class(spark, "build.BuildInfo")
    if info is None:
        return [scala, Fact("jar on the class path", "none", "call spark_zorder.attach(spark)")]
    problem = _session.jvm_class(spark, "build.StartCheck")
    problem = None if problem is None else problem.problem()
    version = str(info.version())
    stale = "" if version == __version__ else f"use the jar of version {__version__}, and only one of them"
    return [
        scala,
        Fact("jar on the class path", f"{info.artifact()}-{version}", stale),
        Fact("jar built for", f"Spark {info.spark()}, Scala {info.scala()}", str(problem or "")),
    ]


def _functions(spark: SparkSession, connect: bool) -> Fact:
    version = _session.version_of(spark)
    if version is not None:
        return Fact("functions", f"registered (version {version})")
    advice = (
        "start the server with --jars <our jar> and --conf "
        "spark.sql.extensions=org.apache.spark.sql.zorder.ZOrderExtensions"
        if connect
        else "call spark_zorder.attach(spark)"
    )
    return Fact("functions", "missing", advice)


def _statements(spark: SparkSession, connect: bool) -> Fact:
    if _session.understands(spark):
        return Fact("OPTIMIZE and ZORDER in spark.sql", "understood")
    advice = (
        "the server needs the extension when it starts"
        if connect
        else "ZOrderTable works after attach; for spark.sql build the session with spark_zorder.configure"
    )
    return Fact("OPTIMIZE and ZORDER in spark.sql", "not understood", advice)
