"""The command line: ``python -m spark_zorder optimize PATH --by a,b``.

Exit codes: 0 done, or nothing to do; 1 failure; 2 wrong usage; 3 an alert of the audit; 4 a conflict with
another run or writer: run it again.
"""

from __future__ import annotations

import sys

if not __package__:
    # spark-submit starts a file by its path, so that it knows no package
    import runpy
    from pathlib import Path

    here = Path(__file__).resolve().parent
    # our modules must not be found without their package
    sys.path = [place for place in sys.path if place != str(here)]
    # in cluster mode this file is sent alone, and the package comes with --py-files
    if (here / "_sql.py").is_file() and str(here.parent) not in sys.path:
        sys.path.append(str(here.parent))
    runpy.run_module("spark_zorder", run_name="__main__", alter_sys=True)

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from . import _early, _machine, _sql, _streams
from ._errors import UsageError, is_conflict, sentence
from ._version import __version__
from .audit import shell
from .view import notebook
from .view.lines import visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

    from ._table import ZOrderTable

    _Command = Callable[[argparse.Namespace], int]
    _Call = Callable[[ZOrderTable, argparse.Namespace], DataFrame]

DONE, FAILED, USAGE, CONFLICT = 0, 1, 2, 4


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    with _streams.lasting():
        return _main(argv)


def _main(argv: Sequence[str] | None) -> int:
    arguments = _parser().parse_args(argv)
    command: _Command = arguments.command
    try:
        _early.check(arguments)
        return command(arguments)
    except KeyboardInterrupt:
        print("Interrupted: the table is as it was, or as last committed.", file=sys.stderr)
        return FAILED
    except UsageError as error:
        print(visible(str(error)), file=sys.stderr)
        return USAGE
    except Exception as error:
        print(visible_lines(_said(error, getattr(arguments, "table", None))), file=sys.stderr)
        return CONFLICT if is_conflict(error) else FAILED


def _said(error: Exception, table: str | None = None) -> str:
    """The sentence of an error, and of a name that is not found also where else it may be."""
    said = sentence(error)
    if not any(f"ZORDER_TABLE_NOT_FOUND.{what}]" in said for what in ("DATABASE", "TABLE")):
        return said
    if table is not None and Path(table).is_dir():
        return f"{said} There is a directory of that name: write ./{table}."
    return f"{said} {_HIVE}" if _in_memory() else said


_HIVE = "If it is a table of a Hive metastore or of Glue, add --hive."


def _in_memory() -> bool:
    """Whether the session knows no catalog but its own, which is empty when it starts."""
    from pyspark.sql import SparkSession

    spark = SparkSession.getActiveSession()
    return spark is None or spark.conf.get("spark.sql.catalogImplementation", "in-memory") == "in-memory"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_zorder", description="Cluster Spark tables.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    optimize = _add(commands, "optimize", _optimize, "cluster a table, or forecast it with --dry-run")
    _columns(optimize, "clustering columns; default: those of the table")
    text = "only files inside this SQL predicate; several are joined by AND"
    optimize.add_argument("--where", metavar="PREDICATE", action="append", default=[], help=text)
    optimize.add_argument("--curve", help=f"one of {', '.join(_sql.CURVES)}")
    _options(optimize)
    optimize.add_argument("--into", metavar="PATH", help="write a clustered copy there instead")
    optimize.add_argument("--full", action="store_true", help="also files that are in their place")
    optimize.add_argument("--dry-run", action="store_true", help="forecast only, write nothing")

    advise = _add(commands, "advise", _advise, "by which columns to cluster a table, and whether to")
    advise.add_argument("--queries", metavar="LOG", help="a query log: a table, or a path with a slash")

    audit = _add(commands, "audit", _audit, "is it clustered, what do look-ups and queries read")
    _columns(audit, "audit these columns; default: those that the table is clustered by")
    shell.arguments(audit)

    text = "cluster many tables by their own columns, those that gain most first"
    maintain = _add(commands, "maintain", _maintain, text, table=False)
    maintain.add_argument("--tables", required=True, metavar="FILE", help="a name or path on each line")
    maintain.add_argument("--max-duration", metavar="3h", help="begin no run after this time")
    _options(maintain)
    maintain.add_argument("--vacuum", action="store_true", help="then delete old files of each table")
    maintain.add_argument("--dry-run", action="store_true", help="forecast only, write and delete nothing")
    maintain.add_argument("--json", action="store_true", help="rows as JSON, one a line")

    _add(commands, "history", _rows(lambda table, _: table.history()), "the runs of a table")
    index = _add(commands, "index", _rows(_index), "make or refresh the statistics index of a table")
    _columns(index, "index these columns; default: all that have bounds")
    text = "add Bloom filters for these columns, which find single values"
    index.add_argument("--bloom", metavar="a,b", help=text)
    index.add_argument(
        "--bloom-budget", metavar="SHARE|SIZE", help="limit of their size; default: 10%% of the data"
    )
    text = "store the values of these columns, if a file has few"
    index.add_argument("--values", metavar="a,b", help=text)
    instead = index.add_mutually_exclusive_group()
    instead.add_argument("--refresh", action="store_true", help="read new and changed files only")
    text = "show what the index knows, column by column"
    instead.add_argument("--describe", action="store_true", help=text)
    instead.add_argument("--drop", action="store_true", help="delete the index")
    vacuum = _add(commands, "vacuum", _rows(_vacuum), "delete old files that runs have replaced")
    vacuum.add_argument("--retain-hours", type=float, metavar="N", help="keep files that are younger")
    vacuum.add_argument(
        "--late-files",
        choices=_sql.LATE_FILES,
        help="what to do with files that a job wrote to a directory after its files had moved",
    )
    vacuum.add_argument("--dry-run", action="store_true", help="say what it would delete, delete nothing")
    _add(commands, "rollback", _rows(lambda table, _: table.rollback()), "the state before the newest run")
    remove = _add(commands, "remove", _rows(_remove), "delete our state beside a table")
    remove.add_argument(
        "--home", choices=_sql.HOME, help="on an object store: whether moved files are copied home"
    )
    _add(commands, "doctor", _doctor, "what is installed, what is missing", table=False)
    path = commands.add_parser("jar", help="the path of our jar for this Spark, for --jars")
    path.set_defaults(command=_jar)
    path.add_argument("--spark", metavar="3.5", help="for this Spark, which need not be installed")
    path.add_argument("--scala", metavar="2.12", help="for this Scala; goes with --spark")
    _add(commands, "demo", _demo, "a small demonstration on generated data, about a minute", table=False)
    return parser


def _add(commands: Any, name: str, run: _Command, text: str, table: bool = True) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.set_defaults(command=run)
    made.register("action", None, _Once)
    session = made.add_argument_group("session", "under spark-submit these are its own options")
    session.add_argument("--master", metavar="URL", help="as in spark-submit; default: local[*]")
    session.add_argument("--jars", metavar="A,B", help="more jars, such as those of a table format")
    text = "Maven coordinates, such as those of a table format"
    session.add_argument("--packages", metavar="G:A:V", help=text)
    session.add_argument("--conf", action="append", default=[], type=_pair, metavar="NAME=VALUE")
    session.add_argument("--hive", action="store_true", help="use the catalog of a Hive metastore or of Glue")
    if table:
        made.add_argument("table", metavar="PATH|TABLE", help="a directory (with a slash), or a catalog name")
        made.add_argument("--json", action="store_true", help="rows as JSON, one a line")
    return made


def _columns(parser: argparse.ArgumentParser, text: str) -> None:
    """Adds ``--by``, and ``--columns`` as another spelling that the help does not name."""
    parser.add_argument("--by", metavar="A,B", help=text)
    parser.add_argument("--columns", dest="by", metavar="A,B", help=argparse.SUPPRESS)


def _options(parser: argparse.ArgumentParser) -> None:
    more: Any = {"action": "append", "default": [], "type": _pair, "metavar": "NAME=VALUE"}
    parser.add_argument("--option", help="as in WITH (...)", **more)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"it takes NAME=VALUE, not {text!r}")
    return name.strip(), value


class _Once(argparse.Action):
    """An option whose second value would silently take the place of the first."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest, None) is not None:
            parser.error(f"argument {option_string}: it stands there twice")
        setattr(namespace, self.dest, values)


def _optimize(arguments: argparse.Namespace) -> int:
    names = _names(arguments.by)
    run = _table(arguments).optimize().options(**dict(arguments.option))
    for predicate in arguments.where:
        run = run.where(predicate)
    run = run.usingCurve(arguments.curve) if arguments.curve else run
    run = run.into(arguments.into) if arguments.into else run
    run = run.full() if arguments.full else run
    run = run.dryRun() if arguments.dry_run else run
    row = (run.executeZOrderBy(names) if names else run.execute()).collect()[0]
    print(_as_json(row) if arguments.json else notebook.text([row]))
    return DONE


def _as_json(row: Row) -> str:
    """One row as one line of JSON. Dates, times and decimals become text."""
    return json.dumps(row.asDict(recursive=True), default=str)


def _advise(arguments: argparse.Namespace) -> int:
    _print(arguments, _table(arguments).advise(arguments.queries).collect())
    return DONE


def _print(arguments: argparse.Namespace, rows: list[Row]) -> None:
    if arguments.json:
        for row in rows:
            print(_as_json(row))
    else:
        print(notebook.text(rows))


def _audit(arguments: argparse.Namespace) -> int:
    return shell.run(arguments, lambda: _session(arguments))


def _maintain(arguments: argparse.Namespace) -> int:
    from . import _maintain as many

    try:
        tables = many.tables_in(arguments.tables)
        limit = many.seconds(arguments.max_duration) if arguments.max_duration else None
    except ValueError as error:
        raise UsageError(str(error)) from error

    def report(row: dict[str, Any]) -> None:
        line = f"{row['status']:<13} {row['table']}: {row['reason']}"
        print(json.dumps(row) if arguments.json else visible(line), flush=True)

    wish = many.Wish(dict(arguments.option), arguments.vacuum, arguments.dry_run)
    outcomes = many.maintain(_session(arguments), tables, wish, limit, report, _said)
    if not arguments.json:
        print(many.summary(outcomes))
    statuses = {outcome.status for outcome in outcomes}
    return FAILED if "FAILED" in statuses else CONFLICT if "CONFLICT" in statuses else DONE


def _rows(call: _Call) -> _Command:
    def run(arguments: argparse.Namespace) -> int:
        _print(arguments, call(_table(arguments), arguments).collect())
        return DONE

    return run


def _index(table: ZOrderTable, arguments: argparse.Namespace) -> DataFrame:
    if arguments.refresh:
        return table.refreshIndex()
    if arguments.describe:
        return table.describeIndex()
    if arguments.drop:
        return table.dropIndex()
    return table.index(
        *_sql_names(arguments.by),
        bloom=_sql_names(arguments.bloom),
        bloomBudget=arguments.bloom_budget,
        values=_sql_names(arguments.values),
    )


def _sql_names(text: str | None) -> list[str]:
    """The columns of a list as SQL: the method takes expressions, such as the difference `customer-id`."""
    try:
        return [_sql.column(name) for name in _names(text)]
    except ValueError as error:
        raise UsageError(str(error)) from None


def _names(text: str | None) -> list[str]:
    try:
        return _sql.listed(text or "")
    except ValueError as error:
        raise UsageError(str(error)) from None


def _vacuum(table: ZOrderTable, arguments: argparse.Namespace) -> DataFrame:
    return table.vacuum(arguments.retain_hours, arguments.late_files, arguments.dry_run)


def _remove(table: ZOrderTable, arguments: argparse.Namespace) -> DataFrame:
    return table.remove(arguments.home)


def _doctor(arguments: argparse.Namespace) -> int:
    from . import _doctor

    try:
        spark = _session(arguments)
    except Exception as error:
        _doctor.without_session(error, dict(arguments.conf).get("spark.remote"))
        return FAILED
    return DONE if _doctor.doctor(spark).ok else FAILED


def _jar(arguments: argparse.Namespace) -> int:
    from . import _jars

    if arguments.spark is not None:
        print(_jars.jar_for(arguments.spark, arguments.scala))
    elif arguments.scala is not None:
        raise UsageError("--scala goes with --spark, as in --spark 3.5 --scala 2.12.")
    else:
        print(_jars.jar())
    return DONE


def _demo(arguments: argparse.Namespace) -> int:
    from .demo import run

    return run(_session(arguments))


def _table(arguments: argparse.Namespace) -> ZOrderTable:
    from ._table import ZOrderTable

    return ZOrderTable._named(_session(arguments), arguments.table)


def _session(arguments: argparse.Namespace) -> SparkSession:
    """A session with spark-zorder. Under spark-submit it has that configuration, else it is a local one."""
    from pyspark.sql import SparkSession

    from ._install import attach, configure

    builder = SparkSession.builder.appName("spark-zorder")
    if arguments.master:
        builder = builder.master(arguments.master)
    if arguments.jars:
        builder = builder.config("spark.jars", arguments.jars)
    if arguments.packages:
        builder = builder.config("spark.jars.packages", arguments.packages)
    if arguments.hive:
        builder = builder.config("spark.sql.catalogImplementation", "hive")
    for name, value in arguments.conf:
        builder = builder.config(name, value)
    try:
        return attach(configure(builder).getOrCreate())
    except Exception as error:
        raise _machine.without_session(error) from error


if __name__ == "__main__":
    sys.exit(main())
