"""Installs spark-zorder into a session: before it starts (``configure``) or after (``attach``)."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _session
from ._errors import NoJarError, SetupError
from ._jars import file_name, jar_path, jars_folder, jars_in, own_jar
from ._session import EXTENSION
from ._sql import literal
from ._version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRESS = "spark.zorder.progress.show"
_SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"


def configure(builder: Any) -> Any:
    """Adds the right jar and the extension to a ``SparkSession.builder`` and returns the builder.

    Existing settings are kept: the jar and the extension are appended to those of the builder, of a running
    JVM, of ``PYSPARK_SUBMIT_ARGS``, and of the file that its ``--properties-file`` names, or else of
    ``spark-defaults.conf``. Our extension comes last, so that its parser sees a statement first; where it is
    listed already, it stays in its place. If ``PYSPARK_SUBMIT_ARGS`` has jars, or if there are packages
    anywhere, our jar is added to ``PYSPARK_SUBMIT_ARGS``: jars of the builder would not be loaded, or would
    take the place of those of the packages. A builder for a remote server (``sc://...``) is returned
    unchanged, since a server loads its own jars and extensions.

    Raises an error of one sentence if no jar fits the installed Spark and Scala, if one of another version is
    listed already, or if a session runs that does not have it.

    Examples:
        >>> spark = spark_zorder.configure(SparkSession.builder.appName("x")).getOrCreate()
    """
    if _session.is_remote(_option(builder, "spark.remote")):
        return builder
    if not _jvm_runs() and (_of_submit_args("spark.jars") or _existing(builder, "spark.jars.packages")):
        own = _split(_option(builder, "spark.jars"))
        others = _split(_of_submit_args("spark.jars")) or ([] if own else _split(_of_files("spark.jars")))
        jars = _with_ours([*others, *(jar for jar in own if jar not in others)])
        _submit_jars(jars)
        # without a list of its own, the session has what spark-submit finds, also for patterns and packages
        if own:
            builder.config("spark.jars", ",".join(jars))
    else:
        jars = _with_ours(_split(_existing(builder, "spark.jars")))
        builder.config("spark.jars", ",".join(jars))
        if _jvm_runs():
            _load()
    extensions = _split(_existing(builder, "spark.sql.extensions"))
    # where it is listed, somebody has chosen its place: some versions of Iceberg want to come after it
    ours = [] if EXTENSION in extensions else [EXTENSION]
    builder.config("spark.sql.extensions", ",".join([*extensions, *ours]))
    if _on_terminal() and _existing(builder, PROGRESS) is None:
        builder.config(PROGRESS, "true")
    return builder


def attach(spark: SparkSession) -> SparkSession:
    """Installs spark-zorder into a session that already runs, and returns the session.

    In a classic session, the jar of this wheel is added unless it is loaded, and the functions are
    registered. The parser of a running session cannot be replaced: ``OPTIMIZE`` and ``ZORDER`` statements do
    not work in ``spark.sql`` there, but all methods of this package do. A Spark Connect client cannot install
    anything. For such a session, ``attach`` checks that the server has the extension, and says what it needs
    if not. A second call changes nothing.
    """
    if _session.is_connect(spark):
        _check_server(spark)
        return spark
    # BuildInfo is plain Java, so it is found in a jar for any Spark line
    if _session.jvm_class(spark, "build.BuildInfo") is None:
        ours = own_jar(spark)
        spark.sql(f"ADD JAR {literal(ours)}").collect()
        if _session.jvm_class(spark, "build.BuildInfo") is None:
            raise SetupError(
                f"{ours} was added to the session, but its classes are not visible: start the session "
                "with spark_zorder.configure(SparkSession.builder) instead."
            )
    _check_jar(spark)
    session: Any = spark
    if _session.version_of(spark) is None:
        _session.require_bridge(spark).install(session._jsparkSession)
    if _on_terminal() and spark.conf.get(PROGRESS, "") == "":
        spark.conf.set(PROGRESS, "true")
    return spark


def _check_jar(spark: SparkSession) -> None:
    """Runs the start check of the jar, then compares its version with that of this package."""
    info, problem = _session.loaded_jar(spark)
    if problem is not None:
        raise SetupError(problem)
    version = str(info.version()) if info is not None else "unknown"
    if version != __version__:
        raise SetupError(
            f"The session has the spark-zorder jar {version}, but this Python package is {__version__}: "
            "use the jar of the same version, and only one of them."
        )


def _check_server(spark: SparkSession) -> None:
    version = _session.version_of(spark)
    if version is None:
        raise SetupError(_session.missing(spark))
    if version != __version__:
        raise SetupError(
            f"The Spark Connect server has spark-zorder {version}, but this Python package is {__version__}: "
            "use the same version on both sides."
        )


def _on_terminal() -> bool:
    """Whether standard error is a terminal. The JVM, which inherits it, cannot find out on every system."""
    return sys.stderr is not None and sys.stderr.isatty()


def _split(value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def _with_ours(jars: list[str]) -> list[str]:
    listed = [found.name for found in jars_in(jars)]
    try:
        ours = jar_path(own=True)
    except NoJarError:
        # the one that is listed counts
        if listed:
            return jars
        raise
    other = next((name for name in listed if file_name(name) != file_name(ours)), None)
    if other is not None:
        raise SetupError(
            f"{other} is among the jars of the session, but this Python package has {Path(ours).name}: "
            "remove the old one from spark.jars or --jars."
        )
    return jars if listed else [*jars, ours]


def _load() -> None:
    """Loads our jar into a driver that runs already: there, ``spark.jars`` reaches executors only."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if loader.getResource(f"{EXTENSION.replace('.', '/')}.class") is not None:
        return
    session = SparkSession.getActiveSession()
    if session is not None and _session.jvm_class(session, "build.BuildInfo") is not None:
        return
    if SparkContext._active_spark_context is not None:
        # its executors would not have the jar, and its parser stays as it is
        raise SetupError(
            "A session runs already, and getOrCreate() would return it as it is: call "
            "spark_zorder.attach(spark), or stop it first (spark.stop())."
        )
    try:
        loader.addURL(jvm.java.io.File(jar_path(own=True)).toURI().toURL())
    except NoJarError:
        # the one that is listed counts, wherever it is
        return
    except Py4JError as error:
        raise SetupError(
            "The JVM of this Python process runs already and takes no more jars: restart Python, or call "
            "spark_zorder.attach(spark) on the session."
        ) from error


def _option(builder: Any, key: str) -> str | None:
    value = getattr(builder, "_options", {}).get(key)
    return None if value is None else str(value)


def _existing(builder: Any, key: str) -> str | None:
    """The value that Spark would use for this key without us, from the first place where it is set."""
    for value in (_option(builder, key), _of_running_jvm(key), _of_submit_args(key), _of_files(key)):
        if value:
            return value
    return None


def _jvm_runs() -> bool:
    from pyspark import SparkContext

    # under spark-submit, the JVM has started Python
    return getattr(SparkContext, "_jvm", None) is not None or "PYSPARK_GATEWAY_PORT" in os.environ


def _of_running_jvm(key: str) -> str | None:
    """The configuration of a driver JVM that already runs, by spark-submit or for an earlier session."""
    from pyspark import SparkConf, SparkContext

    if not _jvm_runs():
        return None
    # connects to the JVM of spark-submit, of which Python knows nothing before
    SparkContext._ensure_initialized()
    return SparkConf().get(key)


# settings that are options of spark-submit, too
_SHORT = {"spark.jars": "--jars", "spark.jars.packages": "--packages"}
# options of spark-submit that take no value
_SWITCHES = (
    "--help",
    "-h",
    "--load-spark-defaults",
    "--supervise",
    "--usage-error",
    "--verbose",
    "-v",
    "--version",
)


def _of_submit_args(key: str) -> str | None:
    """The value that spark-submit takes: the last one, but that of an option such as ``--jars`` first."""
    options, _ = _submit_args()
    settings = [value for name, value in options if name in ("--conf", "-c") and value is not None]
    values = [value.partition("=")[2] for value in settings if value.partition("=")[0] == key]
    values += [value for name, value in options if name == _SHORT.get(key) and value is not None]
    return values[-1] if values else None


def _submit_jars(jars: list[str]) -> None:
    """Writes these jars into ``PYSPARK_SUBMIT_ARGS``, in place of others."""
    options, rest = _submit_args()
    kept = [word for option in options if option[0] != "--jars" for word in option if word is not None]
    # pyspark adds this word itself, but only where the variable is not set
    rest = rest or ["pyspark-shell"]
    os.environ[_SUBMIT_ARGS] = shlex.join(["--jars", ",".join(jars), *kept, *rest])


def _submit_args() -> tuple[list[tuple[str, str | None]], list[str]]:
    """The options of ``PYSPARK_SUBMIT_ARGS`` with their values, and the words behind the last one."""
    words = shlex.split(os.environ.get(_SUBMIT_ARGS, ""))
    options: list[tuple[str, str | None]] = []
    while words and words[0].startswith("-"):
        word = words.pop(0)
        name, _, value = word.partition("=")
        if word.startswith("--") and value:
            options.append((name, value))
        else:
            options.append((word, words.pop(0) if words and word not in _SWITCHES else None))
    return options, words


# a line as Java reads it: the first equals sign, colon or blank ends the key
_PROPERTY = re.compile(r"([^\s=:]+)\s*[=:\s]\s*(.*)")


def _of_files(key: str) -> str | None:
    values = (_of_file(file, key) for file in _property_files())
    return next((value for value in values if value is not None), None)


def _property_files() -> list[Path]:
    """The files of settings that spark-submit reads. Those of the first one count first."""
    options, _ = _submit_args()

    def named(option: str) -> list[Path]:
        return [Path(value) for name, value in reversed(options) if name == option and value is not None]

    given = named("--properties-file")[:1]
    folder = os.environ.get("SPARK_CONF_DIR") or str(jars_folder().parent / "conf")
    defaults = Path(folder) / "spark-defaults.conf"
    both = any(name == "--load-spark-defaults" for name, _ in options)
    return [*named("--extra-properties-file"), *given, *([defaults] if both or not given else [])]


def _of_file(file: Path, key: str) -> str | None:
    if not file.is_file():
        return None
    # other encodings occur in comments, and Java reads such a file, too
    lines = _lines(file.read_text(encoding="utf-8", errors="replace"))
    found = [_PROPERTY.fullmatch(line) for line in lines]
    values = [match[2] for match in found if match is not None and match[1] == key]
    return values[-1] if values else None


def _lines(text: str) -> list[str]:
    """The lines without comments; as in Java, one that ends in a backslash goes on in the next one."""
    lines = iter(text.split("\n"))
    found = []
    for first in lines:
        line = first.lstrip()
        if line.startswith(("#", "!")):
            continue
        # an even number of backslashes stands for backslashes
        while (len(line) - len(line.rstrip("\\"))) % 2 == 1:
            line = line[:-1] + next(lines, "").lstrip()
        found.append(line.strip())
    return found
