"""The command line: ``python -m spark_zorder optimize PATH --by a,b``.

Exit codes: 0 done, or nothing to do; 1 failure; 2 wrong usage; 3 an alert of the audit; 4 the table changed
under the run (CONFLICT).
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any, Callable

from . import _sql, _text
from ._errors import is_conflict, sentence
from ._version import __version__
from .audit import shell
from .view import notebook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

    from ._table import ZOrderTable

    _Command = Callable[[argparse.Namespace], int]
    _Call = Callable[[ZOrderTable, argparse.Namespace], DataFrame]

DONE, FAILED, USAGE, CONFLICT = 0, 1, 2, 4


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    arguments = _parser().parse_args(argv)
    command: _Command = arguments.command
    try:
        return command(arguments)
    except KeyboardInterrupt:
        print("Interrupted: the table is as it was, or as last committed.", file=sys.stderr)
        return FAILED
    except Exception as error:
        print(sentence(error), file=sys.stderr)
        return CONFLICT if is_conflict(error) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m spark_zorder", description="Cluster Spark tables.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    optimize = _add(commands, "optimize", _optimize, "cluster a table, or forecast it with --dry-run")
    optimize.add_argument("--by", metavar="A,B", help="clustering columns; default: those of the table")
    optimize.add_argument("--where", metavar="PREDICATE", help="only files inside this SQL predicate")
    optimize.add_argument("--curve", help=f"one of {', '.join(_sql.CURVES)}")
    optimize.add_argument(
        "--option",
        action="append",
        default=[],
        type=_pair,
        metavar="NAME=VALUE",
        help="as in WITH (...)",
    )
    optimize.add_argument("--into", metavar="PATH", help="write a clustered copy there instead")
    optimize.add_argument("--full", action="store_true", help="also files that are in their place")
    optimize.add_argument("--dry-run", action="store_true", help="forecast only, write nothing")

    advise = _add(commands, "advise", _advise, "by which columns to cluster a table, and whether to")
    advise.add_argument("--queries", metavar="LOG", help="a query log: a table, or a path with a slash")

    shell.arguments(_add(commands, "audit", _audit, "is it clustered, what do look-ups and queries read"))

    maintain = _add(commands, "maintain", _maintain, "cluster many tables, worst first", table=False)
    maintain.add_argument("--tables", required=True, metavar="FILE", help="a name or path on each line")
    maintain.add_argument("--max-duration", metavar="3h", help="begin no table after this time")
    maintain.add_argument("--json", action="store_true", help="rows as JSON, one a line")

    _add(commands, "history", _rows(lambda table, _: table.history()), "the runs of a table")
    index = _add(commands, "index", _rows(_index), "make or refresh the statistics index of a table")
    index.add_argument("--columns", metavar="a,b", help="index these columns; default: all that have bounds")
    index.add_argument(
        "--bloom", metavar="a,b", help="add Bloom filters for these columns, which find single values"
    )
    index.add_argument(
        "--bloom-budget", metavar="SHARE|SIZE", help="limit of their size; default: 10%% of the data"
    )
    index.add_argument("--values", metavar="a,b", help="store the values of these columns, if a file has few")
    index.add_argument("--refresh", action="store_true", help="read new and changed files only")
    index.add_argument("--describe", action="store_true", help="show what the index knows, column by column")
    index.add_argument("--drop", action="store_true", help="delete the index")
    vacuum = _add(commands, "vacuum", _rows(_vacuum), "delete old files that runs have replaced")
    vacuum.add_argument("--retain-hours", type=float, metavar="N", help="keep files that are younger")
    vacuum.add_argument(
        "--late-files",
        choices=_sql.LATE_FILES,
        help="what to do with files that a job wrote to a directory after its files had moved",
    )
    _add(commands, "rollback", _rows(lambda table, _: table.rollback()), "the state before the newest run")
    remove = _add(commands, "remove", _rows(_remove), "delete our state beside a table")
    remove.add_argument(
        "--home", choices=_sql.HOME, help="on an object store: whether moved files are copied home"
    )
    _add(commands, "doctor", _doctor, "what is installed, what is missing", table=False)
    path = commands.add_parser("jar", help="the path of our jar for this Spark, for --jars")
    path.set_defaults(command=_jar)
    _add(commands, "demo", _demo, "a small demonstration on generated data, about a minute", table=False)
    return parser


def _add(commands: Any, name: str, run: _Command, text: str, table: bool = True) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    made.set_defaults(command=run)
    session = made.add_argument_group("session", "under spark-submit these are its own options")
    session.add_argument("--master", metavar="URL", help="as in spark-submit; default: local[*]")
    session.add_argument("--jars", metavar="A,B", help="more jars, such as those of a table format")
    session.add_argument("--conf", action="append", default=[], type=_pair, metavar="NAME=VALUE")
    if table:
        made.add_argument("table", metavar="PATH|TABLE", help="a directory (with a slash), or a catalog name")
        made.add_argument("--json", action="store_true", help="rows as JSON, one a line")
    return made


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise argparse.ArgumentTypeError(f"it takes NAME=VALUE, not {text!r}")
    return name.strip(), value


def _optimize(arguments: argparse.Namespace) -> int:
    names = _names(arguments.by)
    run = _table(arguments).optimize().options(**dict(arguments.option))
    run = run.where(arguments.where) if arguments.where else run
    run = run.usingCurve(arguments.curve) if arguments.curve else run
    run = run.into(arguments.into) if arguments.into else run
    run = run.full() if arguments.full else run
    run = run.dryRun() if arguments.dry_run else run
    row = (run.executeZOrderBy(names) if names else run.execute()).collect()[0]
    print(_text.as_json(row) if arguments.json else notebook.text([row]))
    return DONE


def _advise(arguments: argparse.Namespace) -> int:
    rows = _table(arguments).advise(arguments.queries).collect()
    print("\n".join(_text.as_json(row) for row in rows) if arguments.json else notebook.text(rows))
    return DONE


def _audit(arguments: argparse.Namespace) -> int:
    return shell.run(arguments, lambda: _session(arguments))


def _maintain(arguments: argparse.Namespace) -> int:
    from . import _maintain as many

    try:
        names = many.tables_in(arguments.tables)
        limit = many.seconds(arguments.max_duration) if arguments.max_duration else None
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return USAGE

    def report(row: dict[str, Any]) -> None:
        line = json.dumps(row) if arguments.json else f"{row['status']:<13} {row['table']}: {row['reason']}"
        print(line, flush=True)

    statuses = {outcome.status for outcome in many.maintain(_session(arguments), names, limit, report)}
    return FAILED if "FAILED" in statuses else CONFLICT if "CONFLICT" in statuses else DONE


def _rows(call: _Call) -> _Command:
    def run(arguments: argparse.Namespace) -> int:
        rows: list[Row] = call(_table(arguments), arguments).collect()
        if arguments.json:
            for row in rows:
                print(_text.as_json(row))
        else:
            print(_text.grid([_text.flat(row.asDict(recursive=True)) for row in rows]))
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
        *_names(arguments.columns),
        bloom=_names(arguments.bloom),
        bloomBudget=arguments.bloom_budget,
        values=_names(arguments.values),
    )


def _names(text: str | None) -> list[str]:
    return [n.strip() for n in (text or "").split(",") if n.strip()]


def _vacuum(table: ZOrderTable, arguments: argparse.Namespace) -> DataFrame:
    return table.vacuum(arguments.retain_hours, arguments.late_files)


def _remove(table: ZOrderTable, arguments: argparse.Namespace) -> DataFrame:
    return table.remove(arguments.home)


def _doctor(arguments: argparse.Namespace) -> int:
    from ._doctor import doctor

    return DONE if doctor(_session(arguments)).ok else FAILED


def _jar(_: argparse.Namespace) -> int:
    from ._jars import jar

    print(jar())
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
    for name, value in arguments.conf:
        builder = builder.config(name, value)
    return attach(configure(builder).getOrCreate())


if __name__ == "__main__":
    sys.exit(main())
