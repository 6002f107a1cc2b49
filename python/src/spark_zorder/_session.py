"""The two kinds of session, and how our statements reach each of them."""

from __future__ import annotations

import os
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Callable
from weakref import WeakSet

from . import _sql
from ._errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

EXTENSION = "org.apache.spark.sql.zorder.ZOrderExtensions"

_PACKAGE = "org.apache.spark.sql.zorder"
_NO_ESCAPES = "spark.sql.parser.escapedStringLiterals"
_PROBE = "ZORDER TABLE parquet.`/spark-zorder-probe` BY (a) DRY RUN"


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client, which has no JVM of its own."""
    return ".connect." in type(spark).__module__


def is_remote(setting: str | None) -> bool:
    """Whether a new session is one of a server: by this value of ``spark.remote``, or by SPARK_REMOTE."""
    return str(setting or os.environ.get("SPARK_REMOTE") or "").startswith("sc://")


def jvm_class(spark: SparkSession, name: str) -> Any | None:
    """The class ``org.apache.spark.sql.zorder.<name>`` of the driver, or None if no jar has it."""
    found = _lookup(spark, name)
    if found is None:
        # a jar that another Python thread has added is known to the session, but not yet to this thread
        session: Any = spark
        thread = session._jvm.java.lang.Thread.currentThread()
        thread.setContextClassLoader(session._jsparkSession.sharedState().jarClassLoader())
        found = _lookup(spark, name)
    return found


def _lookup(spark: SparkSession, name: str) -> Any | None:
    from py4j.java_gateway import JavaClass

    at: Any = spark
    at = at._jvm
    for part in (*_PACKAGE.split("."), name):
        at = getattr(at, part)
    return at if isinstance(at, JavaClass) else None


def loaded_jar(spark: SparkSession) -> tuple[Any | None, str | None]:
    """What the loaded jar was built as, None without a jar; and why it does not fit this Spark, if so."""
    check = jvm_class(spark, "build.StartCheck")
    problem = check.problem() if check is not None else None
    return jvm_class(spark, "build.BuildInfo"), None if problem is None else str(problem)


def understands(spark: SparkSession) -> bool:
    """Whether the session's own parser knows our statements. Finding out runs and reads nothing."""
    if is_connect(spark):
        return _parses(lambda: spark.sql(f"EXPLAIN {_PROBE}").collect())
    session: Any = spark
    parser = session._jsparkSession.sessionState().sqlParser()
    if str(parser.getClass().getName()).startswith(_PACKAGE):
        return True
    # another extension may come before ours; if ours is not in the list, the probe would only fill the log
    listed = EXTENSION in (spark.conf.get("spark.sql.extensions", None) or "")
    return listed and _parses(lambda: parser.parsePlan(_PROBE))


def _parses(probe: Callable[[], Any]) -> bool:
    try:
        probe()
    except Exception as error:
        # any other error comes after the parser, so the parser has understood
        return "ParseException" not in [kind.__name__ for kind in type(error).__mro__]
    return True


def has_functions(spark: SparkSession) -> bool:
    """Whether the session has our functions and table functions."""
    from pyspark.errors import AnalysisException

    try:
        return spark.catalog.functionExists("zorder_version")
    except AnalysisException:
        # Spark looks into the session first, then into the current catalog, which may have no functions
        return False


def require_functions(spark: SparkSession) -> None:
    """Refuses a session without our functions. The message says how to get them."""
    if not has_functions(spark):
        raise SetupError(missing(spark))


def require_jar() -> None:
    """Refuses to make a column if no session can have our functions.

    A column does not know its session. If the jar is loaded, Spark itself checks the session later.
    """
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    if spark is None or is_connect(spark) or spark.sparkContext in _with_jar:
        return
    if jvm_class(spark, "build.BuildInfo") is None:
        raise SetupError(missing(spark))
    _with_jar.add(spark.sparkContext)


_with_jar: WeakSet[Any] = WeakSet()


def missing(spark: SparkSession) -> str:
    """The sentence that says how to get spark-zorder into the session."""
    if is_connect(spark):
        return (
            "The Spark Connect server has no spark-zorder: start it with --jars <jar of this wheel for the "
            f"server's Spark and Scala> and --conf spark.sql.extensions={EXTENSION}."
        )
    return (
        "spark-zorder is not installed in this session: call spark_zorder.attach(spark), or stop the session "
        "and build it with spark_zorder.configure(SparkSession.builder).getOrCreate()."
    )


def version_of(spark: SparkSession) -> str | None:
    """The version of spark-zorder in the session, or None if its functions are missing."""
    if not has_functions(spark):
        return None
    return str(spark.sql("SELECT zorder_version()").collect()[0][0])


def query(spark: SparkSession, statement: str) -> DataFrame:
    """Runs a query of one of our table functions, whose strings are constants."""
    return spark.sql(_sql.without_escapes(statement) if _needs_escapes(spark, statement) else statement)


def run(spark: SparkSession, statement: str, texts: Sequence[str] = ()) -> DataFrame:
    """Runs one of our statements: as SQL if the parser knows it, else through the bridge of ``attach``.

    ``texts`` are those that Python has put in quotes.
    """
    for text in texts:
        if _needs_escapes(spark, _sql.literal(text)):
            raise SetupError(
                f"A statement cannot say {text!r} in this session, which takes a backslash in quotes as it "
                f"is: set {_NO_ESCAPES} to false."
            )
    if understands(spark):
        return spark.sql(statement)
    if is_connect(spark):
        raise SetupError(missing(spark))
    bridge = require_bridge(spark)
    session: Any = spark
    return dataframe(spark, bridge.run(session._jsparkSession, statement))


def _needs_escapes(spark: SparkSession, sql: str) -> bool:
    """Whether there are escapes in it that the session does not take for any."""
    return "\\" in sql and str(spark.conf.get(_NO_ESCAPES, "false")).lower() == "true"


def require_bridge(spark: SparkSession) -> Any:
    """The JVM's PythonBridge. If it is missing, the error says how to get it."""
    bridge = jvm_class(spark, "sql.PythonBridge")
    if bridge is None:
        raise SetupError(missing(spark))
    return bridge


def dataframe(spark: SparkSession, jdf: Any) -> DataFrame:
    """A Python DataFrame around a Java one."""
    from pyspark.sql import DataFrame

    make: Any = DataFrame
    made: DataFrame = make(jdf, spark)
    return made


def require_same(spark: SparkSession, log: DataFrame) -> None:
    """Refuses a log of another session: a statement of this one does not see a view of it."""
    if not _is_same(spark, log.sparkSession):
        raise ValueError("The log is a DataFrame of another session: make it with this one.")


def _is_same(one: Any, other: Any) -> bool:
    """Whether two objects of Python are one session of Spark."""
    if one is other:
        return True
    if is_connect(one) or is_connect(other):
        return is_connect(one) and is_connect(other) and bool(one.session_id == other.session_id)
    return bool(one._jsparkSession.equals(other._jsparkSession))


@contextmanager
def viewed(df: DataFrame) -> Iterator[str]:
    """A temporary view of a frame, by its name. Advice never names a view with this prefix."""
    view = f"zorder_queries_{uuid.uuid4().hex}"
    df.createOrReplaceTempView(view)
    try:
        yield view
    finally:
        df.sparkSession.catalog.dropTempView(view)
