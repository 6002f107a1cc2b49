"""The two kinds of session, and how our statements reach each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_PACKAGE = "org.apache.spark.sql.zorder"
_PROBE = "ZORDER TABLE parquet.`/spark-zorder-probe` BY (a) DRY RUN"


def is_connect(spark: SparkSession) -> bool:
    """Whether the session is a Spark Connect client, which has no JVM of its own."""
    return ".connect." in type(spark).__module__


def jvm_class(spark: SparkSession, name: str) -> Any | None:
    """The class ``org.apache.spark.sql.zorder.<name>`` of the driver, or None where no jar has it."""
    found = _lookup(spark, name)
    if found is None:
        # a jar added by another Python thread is known to the session, not yet to this thread
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


def understands(spark: SparkSession) -> bool:
    """Whether the session's own parser knows our statements. Nothing is run and nothing is read."""
    if is_connect(spark):
        return _parses(lambda: spark.sql(f"EXPLAIN {_PROBE}").collect())
    session: Any = spark
    parser = session._jsparkSession.sessionState().sqlParser()
    if str(parser.getClass().getName()).startswith(_PACKAGE):
        return True
    # another extension may stand before ours; without ours in the list the probe would only fill the log
    listed = f"{_PACKAGE}.ZOrderExtensions" in (spark.conf.get("spark.sql.extensions", None) or "")
    return listed and _parses(lambda: parser.parsePlan(_PROBE))


def _parses(probe: Callable[[], Any]) -> bool:
    try:
        probe()
    except Exception as error:
        # any other error comes after the parser, which has then understood
        return "ParseException" not in [kind.__name__ for kind in type(error).__mro__]
    return True


def version_of(spark: SparkSession) -> str | None:
    """The version of spark-zorder that the session runs, or None where its functions are missing."""
    if not spark.catalog.functionExists("zorder_version"):
        return None
    return str(spark.sql("SELECT zorder_version()").collect()[0][0])


def run(spark: SparkSession, statement: str) -> DataFrame:
    """Runs one of our statements: as SQL where the parser knows it, else through the bridge of ``attach``."""
    if is_connect(spark) or understands(spark):
        return spark.sql(statement)
    bridge = require_bridge(spark)
    session: Any = spark
    return dataframe(spark, bridge.run(session._jsparkSession, statement))


def require_bridge(spark: SparkSession) -> Any:
    """The JVM's Bridge, or a sentence that says how to get it."""
    from ._errors import SetupError

    bridge = jvm_class(spark, "Bridge")
    if bridge is None:
        raise SetupError(
            "spark-zorder is not installed in this session: call spark_zorder.attach(spark), or build the "
            "session with spark_zorder.configure(SparkSession.builder).getOrCreate()."
        )
    return bridge


def dataframe(spark: SparkSession, jdf: Any) -> DataFrame:
    """A Python DataFrame around a Java one, in the class that this pyspark has for it."""
    from pyspark.sql import DataFrame

    make: Any = DataFrame
    made: DataFrame = make(jdf, spark)
    return made
