"""Shows what is installed and what is missing, and what to do about it, also where a session cannot start."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

from . import _jars, _machine, _session
from ._errors import NO_PYSPARK, SetupError, sentence
from ._version import __version__
from .view.lines import visible_lines
from .view.parts import Table, as_text

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
        table = as_text([Table("", ["what", "found"], [[f.name, f.value] for f in self.facts])])
        todo = [visible_lines(f"- {f.name}: {f.advice}") for f in self.facts if f.advice]
        return "\n".join([table, "", *(["To do:", *todo] if todo else ["Nothing is missing."])])

    def __repr__(self) -> str:
        """A short text, since ``doctor`` has already printed the table."""
        missing = sum(1 for f in self.facts if f.advice)
        return f"<spark_zorder doctor: {len(self.facts)} facts, {missing} to do>"


_COMET_BROADCAST = "spark.comet.exec.broadcastExchange.enabled"
_ELSEWHERE = "reads and writes our tables as ordinary ones, and skips less"


def doctor(spark: SparkSession | None = None, show: Callable[[str], Any] | None = print) -> Report:
    """Prints the facts about spark-zorder in this session, and returns them. Changes nothing.

    Without a session, the facts are those of this machine.
    """
    return _shown(Report(_facts(spark, None, _session.is_remote(None))), show)


def without_session(failure: Exception, remote: str | None = None) -> Report:
    """Prints the facts about this machine, on which a session has failed to start, and returns them.

    ``remote`` is the session's value of ``spark.remote``, if it has one.
    """
    return _shown(Report(_facts(None, failure, _session.is_remote(remote))), print)


def _shown(report: Report, show: Callable[[str], Any] | None) -> Report:
    if show is not None:
        show(str(report))
    return report


def _facts(spark: SparkSession | None, failure: Exception | None, remote: bool) -> list[Fact]:
    connect = spark is not None and _session.is_connect(spark)
    facts = [Fact("spark-zorder (Python)", __version__), _pyspark()]
    if spark is None:
        # Java and the jars are those of the server
        here = [_pyarrow()] if remote else [_java(), _pyarrow(), _wheel(connect)]
        facts += [*here, _no_session(failure, remote)]
    else:
        kind = "Spark Connect" if connect else "classic"
        facts += [Fact("Spark", spark.version), Fact("session", kind), _pyarrow(), _wheel(connect)]
        facts += [_jar(spark), *([] if connect else _classic(spark))]
        facts += [_functions(spark, connect), _statements(spark, connect), *_comet(spark)]
    return [*facts, Fact("a cluster without the jar", _ELSEWHERE)]


def _pyspark() -> Fact:
    if not _machine.has_pyspark():
        return Fact("pyspark", "not installed", NO_PYSPARK.partition(": ")[2])
    import pyspark

    return Fact("pyspark", pyspark.__version__)


def _java() -> Fact:
    found = _machine.java()
    return Fact("Java", str(found.version or "none"), _machine.java_trouble() or "")


def _pyarrow() -> Fact:
    """Only audits without Spark need it. So it may be missing, but not unfit."""
    trouble = _machine.pyarrow_trouble()
    if trouble is not None and "not there" in trouble:
        return Fact("pyarrow", f"not installed (for audits without Spark: {_machine.AUDIT_EXTRA})")
    if trouble is not None:
        return Fact("pyarrow", "unfit", trouble)
    import pyarrow

    return Fact("pyarrow", str(pyarrow.__version__))


# how pyspark and this package name the Java that does not start
_OF_JAVA = re.compile(r"\bJava\b|JAVA_")


def _no_session(failure: Exception | None, remote: bool) -> Fact:
    if failure is None:
        return Fact("session", "none: doctor(spark) says more")
    without_pyspark = isinstance(failure, ModuleNotFoundError) and not _machine.has_pyspark()
    # another fact has the advice then
    known = without_pyspark or (
        not remote and bool(_OF_JAVA.search(str(failure))) and _machine.java_trouble() is not None
    )
    return Fact("session", "does not start", "" if known else sentence(failure))


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
    java = Fact("Java", str(session._jvm.System.getProperty("java.version")))
    scala = Fact("Scala", str(session._jvm.scala.util.Properties.versionNumberString()))
    info, problem = _session.loaded_jar(spark)
    if info is None:
        return [java, scala, Fact("jar on the class path", "none", "call spark_zorder.attach(spark)")]
    version = str(info.version())
    stale = "" if version == __version__ else f"use the jar of version {__version__}, and only one of them"
    return [
        java,
        scala,
        Fact("jar on the class path", f"{info.artifact()}-{version}", stale),
        Fact("jar built for", f"Spark {info.spark()}, Scala {info.scala()}", problem or ""),
        *([] if stale or problem else [_internals(spark)]),
    ]


def _internals(spark: SparkSession) -> Fact:
    """Whether this Spark has each method and field that the jar refers to. A vendor may have changed some."""
    check: Any = _session.jvm_class(spark, "build.LinkCheck")
    try:
        found = check.ofThisJar()
        missing = list(found.missing())
    except Exception as error:
        # such as a class loader that does not say where a class comes from
        return Fact("Spark internals", f"not looked up ({sentence(error).splitlines()[0]})")
    value = f"{found.count() - len(missing):,} of {found.count():,} that the jar uses are there"
    advice = (
        f"this Spark differs from the release {spark.version}, and what needs {missing[0]} fails: use the "
        f"vendor's release that has it, and report all {len(missing)} ({', '.join(missing[:20])})"
        if missing
        else ""
    )
    return Fact("Spark internals", value, advice)


def _functions(spark: SparkSession, connect: bool) -> Fact:
    version = _session.version_of(spark)
    if version is not None:
        # a classic session has said so of its jar
        other = connect and version != __version__
        advice = f"start the server with the jar of version {__version__}, or install {version} here"
        return Fact("functions", f"registered (version {version})", advice if other else "")
    advice = (
        "start the server with --jars <our jar> and --conf "
        "spark.sql.extensions=org.apache.spark.sql.zorder.ZOrderExtensions"
        if connect
        else "call spark_zorder.attach(spark)"
    )
    return Fact("functions", "missing", advice)


def _comet(spark: SparkSession) -> list[Fact]:
    """What an accelerator changes; nothing where there is none."""
    if "CometPlugin" not in str(spark.conf.get("spark.plugins", "")):
        return []
    if str(spark.conf.get(_COMET_BROADCAST, "true")).lower() == "false":
        return [Fact("DataFusion Comet", "reads the files that are left")]
    keys = f"joins leave out files only with {_COMET_BROADCAST} = false"
    return [Fact("DataFusion Comet", f"reads the files that are left; {keys}")]


def _statements(spark: SparkSession, connect: bool) -> Fact:
    if _session.understands(spark):
        return Fact("OPTIMIZE and ZORDER in spark.sql", "understood")
    advice = (
        "the server needs the extension when it starts"
        if connect
        else "ZOrderTable works after attach; for spark.sql build the session with spark_zorder.configure"
    )
    return Fact("OPTIMIZE and ZORDER in spark.sql", "not understood", advice)
