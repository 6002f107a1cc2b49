"""The errors of the Python side. Each message is one sentence."""

from __future__ import annotations

import re

NO_PYSPARK = "pyspark is not installed: type pip install 'spark-zorder[spark]', then the same again."


class SetupError(RuntimeError):
    """Spark, Scala, the jar or the session do not fit together. The message says what to do."""


class NoJarError(SetupError):
    """The wheel has no jar for this Spark, or cannot tell which one."""


class AuditError(Exception):
    """The audit is not possible as requested. The message says why, and what to do."""


class UsageError(AuditError):
    """The request itself is wrong, such as a column that does not exist (exit code 2 of the shell)."""


class AmbiguousError(UsageError):
    """A name is that of several columns, which differ in case."""


def is_conflict(error: BaseException) -> bool:
    """Whether others were at the table, so that a later try may succeed (exit code 4 of the shell)."""
    return _is(error, "ZOrderConflictException", "[ZORDER_CONFLICT.") or "[ZORDER_RETRY_QUERY." in str(error)


def needs_consent(error: BaseException) -> bool:
    """Whether the run needs the user's consent, because it would affect other jobs."""
    return _is(error, "ZOrderConsentException", "[ZORDER_CHOICE_NEEDED.MOVE")


def _is(error: BaseException, exception: str, condition: str) -> bool:
    origin = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    name = str(origin.getClass().getName()) if origin is not None else ""
    # a Connect client may get the message alone
    return name.endswith(exception) or exception in str(error) or condition in str(error)


# what Spark adds to the sentence of an analysis error: the place in the statement, then the plan as a tree
_PLACE = re.compile(r"; line \d+ pos \d+;?\Z|(?:; line \d+ pos \d+)?;\n'?[A-Z][\s\S]*")


def sentence(error: BaseException) -> str:
    """The message of an error without the Java stack trace or the plan that some pyspark errors carry."""
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "pyspark":
        return f"This needs Spark, and {NO_PYSPARK}"
    lines = [line for line in str(error).splitlines() if line.strip()]
    kept = []
    for line in lines:
        if line.lstrip().startswith(("at ", "JVM stacktrace:", "Caused by:")):
            break
        kept.append(line)
    return _PLACE.sub("", "\n".join(kept)) or type(error).__name__
