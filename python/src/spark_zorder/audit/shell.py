"""The command ``python -m spark_zorder audit``: an audit from a shell, with or without Spark."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _machine, _sql
from .._errors import NO_PYSPARK, AuditError, UsageError
from ..view import notebook
from ..view.lines import visible
from .files.listing import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

    from .files.listing import Listing
    from .opened import Opened
    from .result import Result

DONE, USAGE, ALERT = 0, 2, 3
# the progress is reported after so many footers
_MANY = 200


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command. Table, columns, ``--json`` and those of a session exist already."""
    parser.add_argument("--where", metavar="PREDICATE", help="what a query with this filter would open")
    parser.add_argument(
        "--time-zone", metavar="ZONE", help="of timestamps in PREDICATE; default: the session's"
    )
    parser.add_argument("--queries", metavar="LOG", help="a query log: a table, or a path with a slash")
    parser.add_argument("--report", metavar="FILE.html", help="write the report to this file")
    parser.add_argument("--price-per-tib", type=float, metavar="X", help="what reading 1 TiB costs you")
    parser.add_argument("--spark", action="store_true", help="use a session even if none is needed")


def run(arguments: argparse.Namespace, session: Callable[[], SparkSession]) -> int:
    """Runs the command and returns the exit code. ``session`` is called only if Spark is needed."""
    try:
        _check(arguments)
        if arguments.where is not None:
            _needs_spark("A filter needs Spark", said=not arguments.spark)
            return _where(arguments, session())
        return _audit(arguments, _without_spark(arguments), session)
    except UsageError as error:
        _say(str(error))
        return USAGE


def _check(arguments: argparse.Namespace) -> None:
    others = ("by", "queries", "report")
    named = [f"--{name}" for name in others if getattr(arguments, name) is not None]
    if arguments.where is not None and named:
        raise UsageError(f"--where answers for one query; leave out {', '.join(named)}.")
    if arguments.time_zone is not None and arguments.where is None:
        raise UsageError("--time-zone is for the timestamps of --where.")
    price = arguments.price_per_tib
    if price is not None and not 0 <= price < float("inf"):
        raise UsageError("--price-per-tib takes a number, 0 or more, such as 5.0.")
    if arguments.report is not None:
        _check_report(Path(arguments.report))


def _check_report(path: Path) -> None:
    """An audit may take long, so what would stop its report is said before."""
    from .. import report

    if not report.available():
        raise UsageError(report.HOW_TO_GET)
    if path.is_dir():
        raise UsageError(f"--report takes the name of a file, and {path} is a directory.")
    if not path.parent.is_dir():
        raise UsageError(f"There is no directory {path.parent} for the report: make it first.")


def _without_spark(arguments: argparse.Namespace) -> Listing | None:
    """Lists the path. Returns None if the audit needs Spark, and says why on stderr."""
    if arguments.spark or not _sql.is_path(arguments.table):
        _needs_spark("A name of the catalog needs Spark" if not arguments.spark else "--spark was given")
        return None
    from . import plain

    trouble = _machine.pyarrow_trouble()
    if trouble is not None:
        if not _machine.has_pyspark():
            raise UsageError(f"{trouble}, then the same again.")
        _say(f"{trouble}. Until then a Spark session is started.")
        return None
    if arguments.queries is not None:
        _needs_spark("A query log needs Spark", said=True)
        return None
    found = plain.listed(arguments.table)
    if found.format is not None:
        _needs_spark(f"This is a table of another format ({found.format})", said=True)
        return None
    return found


def _needs_spark(why: str, said: bool = False) -> None:
    """Raises UsageError, with the command to type, if Spark is not installed. `said` tells why on stderr."""
    if not _machine.has_pyspark():
        raise UsageError(f"{why}, and {NO_PYSPARK}")
    if said:
        _say(f"{why}, so a Spark session is started.")


def _say(text: str) -> None:
    print(visible(text), file=sys.stderr)


def _where(arguments: argparse.Namespace, spark: SparkSession) -> int:
    from . import opened, with_spark

    if arguments.time_zone is not None:
        _set_time_zone(spark, arguments.time_zone)
    explained = with_spark.explained(spark, arguments.table, arguments.where)
    if any(row["filter"] is not None for row in explained):
        pages, note = _pages(spark, arguments)
        rows, price = _priced(spark, arguments, pages)
        lines = [notebook.text(explained), "", visible(note), *price]
        _print(arguments, [*explained, *rows], "\n".join(lines))
        return DONE
    why = explained[0]["reason"] if explained else "Spark finds that no row can meet it"
    levels = with_spark.would_open(spark, arguments.table, arguments.where)
    rows, price = _priced(spark, arguments, [level._replace(reason=why) for level in levels])
    lines = [opened.text(levels), *price, "", f"The parts of the filter are not told apart: {visible(why)}."]
    _print(arguments, rows, "\n".join(lines))
    return DONE


def _set_time_zone(spark: SparkSession, name: str) -> None:
    from pyspark.errors import PySparkException

    try:
        spark.conf.set("spark.sql.session.timeZone", name)
    except PySparkException:
        raise UsageError(
            f"There is no time zone {name}: write one such as Europe/Berlin or +02:00."
        ) from None


def _priced(
    spark: SparkSession, arguments: argparse.Namespace, levels: list[Opened]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of these levels and, if a price was given, what they cost, with a sentence about the last."""
    from . import opened, with_spark

    per_tib = arguments.price_per_tib
    if per_tib is None:
        return [level._asdict() for level in levels], []
    if not levels:
        return [], ["So it is not known what reading costs."]
    size = with_spark.total_bytes(spark, arguments.table)
    costs = [opened.prices(level, size, per_tib) for level in levels]
    rows = [{**level._asdict(), **cost._asdict()} for level, cost in zip(levels, costs)]
    return rows, [costs[-1].text]


def _pages(spark: SparkSession, arguments: argparse.Namespace) -> tuple[list[Opened], str]:
    """What is known of the pages and a sentence about it, or why nothing is."""
    from . import opened, with_spark

    try:
        page = with_spark.would_open(spark, arguments.table, arguments.where)[-1]
    except AuditError as error:
        return [], f"Pages are not counted: {error}"
    return [page], opened.pages_text(page)


def _print(arguments: argparse.Namespace, rows: Iterable[dict[str, Any]], text: str) -> None:
    print("\n".join(json.dumps(row, default=str) for row in rows) if arguments.json else text)


@contextmanager
def _progress(files: int) -> Iterator[Callable[[int], None] | None]:
    """Shows the number of footers that are read, if stderr is a terminal."""
    if files < _MANY or not sys.stderr.isatty():
        yield None
        return

    def report(done: int) -> None:
        if done % _MANY == 0 or done == files:
            print(f"\r{done:,} of {files:,} footers", end="", file=sys.stderr, flush=True)

    try:
        yield report
    finally:
        print("\r" + " " * 40 + "\r", end="", file=sys.stderr, flush=True)


def _audit(arguments: argparse.Namespace, found: Listing | None, session: Callable[[], SparkSession]) -> int:
    pictures = arguments.report is not None
    if found is None:
        from . import with_spark

        columns, log = arguments.by, arguments.queries
        result = with_spark.audit(session(), arguments.table, columns, log, pictures)
    else:
        from . import plain

        with _progress(len(found.files)) as report:
            result = plain.audit(found, arguments.by, report).result(pictures)
    result = result.priced(arguments.price_per_tib)
    from ..view import terminal

    text = terminal.text(result.rows, table=shown(arguments.table), queries=result.queries or None)
    prices = "" if arguments.price_per_tib is None else f"\n\n{result.price_text()}"
    _print(arguments, [*result.rows, *result.queries], text + prices)
    if pictures:
        _report(arguments, result)
    return ALERT if result.alert() else DONE


def _report(arguments: argparse.Namespace, result: Result) -> None:
    from .. import report

    more = {"boxes": result.boxes, "queries": result.queries or None, "history": result.history or None}
    path = report.write(arguments.report, result.rows, table=shown(arguments.table), **more)
    _say(f"report: {path}")
