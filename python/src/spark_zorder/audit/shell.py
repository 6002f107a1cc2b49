"""``python -m spark_zorder audit``: the audit of a table from a shell, with Spark or without."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import _sql, _text
from .problem import AuditError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import SparkSession

    from .files.listing import Listing
    from .query.opened import Opened
    from .result import Result

DONE, USAGE, ALERT = 0, 2, 3
# footers between two reports of the progress
_MANY = 200


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command; the table, ``--json`` and those of a session are there already."""
    parser.add_argument("--columns", metavar="a,b", help="these columns; default: those it is clustered by")
    parser.add_argument("--where", metavar="PREDICATE", help="what a query with this filter would open")
    parser.add_argument(
        "--time-zone", metavar="ZONE", help="of timestamps in PREDICATE; default: this machine's"
    )
    parser.add_argument("--queries", metavar="LOG", help="a query log: a table, or a path with a slash")
    parser.add_argument("--report", metavar="FILE.html", help="write the report there, one file")
    parser.add_argument("--price-per-tib", type=float, metavar="X", help="what reading 1 TiB costs you")
    parser.add_argument("--spark", action="store_true", help="with a session also where none is needed")


def run(arguments: argparse.Namespace, session: Callable[[], SparkSession]) -> int:
    """Runs the command; ``session`` is asked only where Spark is needed. Returns the exit code."""
    try:
        _check(arguments)
        found = _without_spark(arguments)
        if arguments.where is not None:
            return _where(arguments, found, session)
        return _audit(arguments, found, session)
    except UsageError as error:
        print(error, file=sys.stderr)
        return USAGE


def _check(arguments: argparse.Namespace) -> None:
    others = ("columns", "queries", "report")
    named = [f"--{name}" for name in others if getattr(arguments, name) is not None]
    if arguments.where is not None and named:
        raise UsageError(f"--where answers for one query; leave out {', '.join(named)}.")
    if arguments.time_zone is not None:
        from .query import time_zone

        if arguments.where is None:
            raise UsageError("--time-zone is for the timestamps of --where.")
        time_zone.named(arguments.time_zone)
    price = arguments.price_per_tib
    if price is not None and not 0 <= price < float("inf"):
        raise UsageError("--price-per-tib takes a number, 0 or more, such as 5.0.")


def _without_spark(arguments: argparse.Namespace) -> Listing | None:
    """What lies at the path, if it can be answered without Spark; else None, and why on stderr."""
    if arguments.spark or not _sql.is_path(arguments.table):
        return None
    from . import plain

    if not plain.available():
        _say("pyarrow is not there (pip install 'spark-zorder[audit]'), so a Spark session is started.")
        return None
    if arguments.queries is not None:
        _say("A query log needs Spark, so a session is started.")
        return None
    found = plain.listed(arguments.table)
    if found.format is not None:
        _say(f"This is a table of another format ({found.format}), so a Spark session is started.")
        return None
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _where(arguments: argparse.Namespace, found: Listing | None, session: Callable[[], SparkSession]) -> int:
    from .query import opened_text, time_zone

    if found is None:
        from . import with_spark

        spark = session()
        if arguments.time_zone is not None:
            spark.conf.set("spark.sql.session.timeZone", arguments.time_zone)
        explained = with_spark.explained(spark, arguments.table, arguments.where)
        pages, note = _pages(spark, arguments)
        if explained:
            more = note or f"\n\n{opened_text.of_pages(pages[0])}"
            rows = [*explained, *(row._asdict() for row in pages)]
            _print(arguments, rows, _text.grid(explained) + more)
            return DONE
        opened, bytes_in_all = with_spark.would_open(spark, arguments.table, arguments.where)
        opened = [*opened, *pages]
    else:
        from . import plain

        zone = None if arguments.time_zone is None else time_zone.named(arguments.time_zone)
        with _progress(len(found.files)) as report, time_zone.of_session(zone):
            opened = plain.would_open(found, arguments.where, report)
        bytes_in_all = sum(file.length for file in found.files)
        note = f"\n\n{plain.PAGES}"
    text = opened_text.text(opened, bytes_in_all, arguments.price_per_tib)
    _print(arguments, [row._asdict() for row in opened], text + note)
    return DONE


def _pages(spark: SparkSession, arguments: argparse.Namespace) -> tuple[list[Opened], str]:
    """The row about pages, or why there is none."""
    from . import with_spark

    try:
        return [with_spark.pages(spark, arguments.table, arguments.where)], ""
    except AuditError as error:
        return [], f"\n\nPages are not counted: {error}"


def _print(arguments: argparse.Namespace, rows: Iterable[dict[str, Any]], text: str) -> None:
    print("\n".join(json.dumps(row, default=str) for row in rows) if arguments.json else text)


@contextmanager
def _progress(files: int) -> Iterator[Callable[[int], None] | None]:
    """Tells somebody who looks on how many footers are read."""
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

        columns, log = arguments.columns, arguments.queries
        result = with_spark.audit(session(), arguments.table, columns, log, pictures)
    else:
        from . import plain

        with _progress(len(found.files)) as report:
            result = plain.audit(found, arguments.columns, report).result(pictures)
    result = result.priced(arguments.price_per_tib)
    if pictures:
        _report(arguments, result)
    from ..view import terminal

    text = terminal.text(result.rows, table=arguments.table, queries=result.queries or None)
    prices = "" if arguments.price_per_tib is None else f"\n\n{result.price_text()}"
    _print(arguments, [*result.rows, *result.queries], text + prices)
    return ALERT if result.alert() else DONE


def _report(arguments: argparse.Namespace, result: Result) -> None:
    from .. import report

    more = {"boxes": result.boxes, "queries": result.queries or None, "history": result.history or None}
    path = report.write(arguments.report, result.rows, table=arguments.table, **more)
    _say(f"report: {path}")
