"""Finds what is wrong with a command of the shell before a session starts, which takes seconds.

Whatever needs a session to be sure is left to it.
"""

from __future__ import annotations

import difflib
import glob
import importlib.util
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from . import _sql
from ._errors import AuditError, UsageError

if TYPE_CHECKING:
    import argparse

# with these, a session may be on a cluster, whose file system is another one
_CLUSTERS = (
    "PYSPARK_GATEWAY_PORT",
    "PYSPARK_SUBMIT_ARGS",
    "SPARK_REMOTE",
    "SPARK_HOME",
    "SPARK_CONF_DIR",
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
)
# an empty variable of a script must not make a statement another one
_NEVER_EMPTY = ("by", "where", "into", "bloom", "values", "max_duration")
_OF_NEW_INDEXES = ("by", "bloom", "bloom_budget", "values")
_COLUMNS = ("by", "bloom", "values")
_ELSEWHERE = re.compile(r"spark\.(hadoop\.|master$|remote$|.*extraClassPath$)")


def check(arguments: argparse.Namespace) -> None:
    """Raises an error with one sentence if the command cannot succeed, whatever the session is."""
    for name in _NEVER_EMPTY:
        given = getattr(arguments, name, None)
        values = given if isinstance(given, list) else [given]
        if any(value is not None and not value.replace(",", " ").strip() for value in values):
            raise UsageError(f"--{name.replace('_', '-')} is empty: leave it out, or give it a value.")
    whole = [name for name in ("refresh", "describe", "drop") if getattr(arguments, name, False)]
    parts = [name for name in _OF_NEW_INDEXES if getattr(arguments, name, None) is not None]
    if whole and parts:
        raise UsageError(
            f"--{whole[0]} is about the whole index: leave out --{parts[0].replace('_', '-')}, "
            "which is for a new one."
        )
    _names(arguments)
    for name, _ in getattr(arguments, "option", ()):
        _option(name)
    if getattr(arguments, "packages", None) and os.environ.get("PYSPARK_GATEWAY_PORT"):
        raise UsageError(
            "spark-submit fetches packages before it starts the shell: write --packages before its path."
        )
    curve = getattr(arguments, "curve", None)
    if curve is not None and curve.lower() not in _sql.CURVES:
        raise UsageError(
            f"There is no curve {curve}.{_hint(curve, _sql.CURVES)} Use one of {', '.join(_sql.CURVES)}."
        )
    hours = getattr(arguments, "retain_hours", None)
    if hours is not None and not 0 <= hours < float("inf"):
        raise UsageError("--retain-hours takes a number of hours, 0 or more.")
    table = None if _audits_alone(arguments) else getattr(arguments, "table", None)
    if table is not None and _sql.is_path(table) and _on_this_machine(arguments) and not _is_there(table):
        raise AuditError(f"There is nothing at {table}.")


def _audits_alone(arguments: argparse.Namespace) -> bool:
    """Whether the command is an audit that looks for the path itself, since it may need no session."""
    return hasattr(arguments, "report") and not (arguments.spark or arguments.where)


def _names(arguments: argparse.Namespace) -> None:
    """Reads the name of the table, the columns and the filters as a statement does."""
    table: str | None = getattr(arguments, "table", None)
    name = table if table is not None and not _sql.is_path(table) else None
    # an audit without Spark looks for columns in files, whatever their names are
    read = () if name is None and _audits_alone(arguments) else _COLUMNS
    given = [getattr(arguments, option, None) for option in read]
    where: str | list[str] = getattr(arguments, "where", None) or []
    try:
        if name is not None:
            _sql.parts(name)
        _sql.columns([columns for columns in given if columns is not None])
        for predicate in [where] if isinstance(where, str) else where:
            _sql.predicate_text(predicate)
    except ValueError as error:
        raise UsageError(str(error)) from None


def _option(name: str) -> None:
    known = {option.lower() for option in _sql.OPTIONS}
    if name.lower() not in known:
        listed = ", ".join(_sql.OPTIONS)
        raise UsageError(f"There is no option {name}.{_hint(name, _sql.OPTIONS)} The options are {listed}.")


def _hint(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name.lower(), [k.lower() for k in known], 1)
    return "".join(f" Did you mean {k}?" for k in known if k.lower() in near)


def _on_this_machine(arguments: argparse.Namespace) -> bool:
    """Whether a path without a scheme is surely one of the local disk."""
    master = arguments.master or "local"
    elsewhere = any(_ELSEWHERE.match(name) for name, _ in arguments.conf)
    return (
        master.startswith("local")
        and not elsewhere
        and not any(os.environ.get(name) for name in _CLUSTERS)
        and not _has_settings()
    )


def _has_settings() -> bool:
    """Whether somebody has put settings into the pyspark that is installed."""
    found = importlib.util.find_spec("pyspark")
    places = found.submodule_search_locations if found is not None else None
    return any((Path(place) / "conf").exists() for place in places or ())


def _is_there(path: str) -> bool:
    """Whether the local disk has this path, or may have it again: a run that died may have left it aside."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):/", path)
    if scheme is not None and scheme[1] != "file":
        return True
    place = Path(re.sub(r"^file:/+", "/", path)).absolute()
    return place.exists() or any(place.parent.glob(f".{glob.escape(place.name)}.*")) or "*" in path
