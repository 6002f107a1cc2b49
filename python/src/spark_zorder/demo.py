"""A small demonstration that needs only the wheel: what look-ups read before and after ZORDER TABLE."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import _sql, report
from ._table import OptimizeBuilder, ZOrderTable
from .view import terminal
from .view.lines import columns
from .view.notebook import show
from .view.parts import Table, as_text
from .view.readings import dicts
from .view.units import UNKNOWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")

ROWS = 300_000
FILES = 16
# smaller than the default, so that a small table has pages to skip
PAGE_ROWS = 2_000
COLUMNS = ("customer", "product")
LOOKUPS = 40
# spaces before what the audits say
_INDENT = 3

Answers = dict[str, list[tuple[int, int, int]]]


def run(spark: SparkSession) -> int:
    """Generates a table in a temporary directory, clusters it, repeats the same look-ups and removes it."""
    folder = tempfile.mkdtemp(prefix="spark-zorder-demo-")
    start = time.monotonic()
    try:
        _show(spark, str(Path(folder) / "sales"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{time.monotonic() - start:.0f} s in all; the table was in {folder} and is gone.")
    print("Next, a forecast for a table of your own; it writes nothing:")
    print("   python -m spark_zorder optimize /path/of/table/ --by a,b --dry-run")
    return 0


def _show(spark: SparkSession, path: str) -> None:
    what = f"1. write {ROWS:,} rows as an ordinary Parquet table of {FILES} files"
    with_time(what, lambda: generate(spark, path))
    table = ZOrderTable.forPath(spark, path)
    by = ", ".join(COLUMNS)
    answers = with_time(f"2. look up {LOOKUPS} values of each of {by}", lambda: look_up(spark, path))
    before = with_time("3. audit it, from footers alone", lambda: audited(spark, path))
    print("\n" + _indented(terminal.text(before["audit"], table=path, width=columns() - _INDENT)) + "\n")
    ask = _wanted(table).dryRun()
    forecast = with_time(f"4. ask: ZORDER TABLE ... BY ({by}) ... DRY RUN", lambda: _row(ask))
    row = with_time(f"5. do: ZORDER TABLE ... BY ({by})", lambda: _row(_wanted(table)))
    spark.catalog.refreshByPath(path)
    again = with_time("6. the same look-ups again", lambda: look_up(spark, path))
    if again != answers:
        raise RuntimeError("The look-ups answer differently after the run: please report this.")
    print("   the same answers")
    now = with_time("7. audit it again", lambda: audited(spark, path))
    print(_indented(terminal.text(now["audit"], width=columns() - _INDENT).partition("\n\n")[0]))
    print("\nShare of the table that a look-up of one value reads, and the least that any layout could:\n")
    print(as_text([table_of(forecast, row)]))
    print("\nWhat the run says:\n")
    show([row])
    print(f"\n{reported(now, before, table)}")


def audited(spark: SparkSession, path: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of an audit, and the rows of ``clustering_boxes``."""
    target = _sql.Target(path, is_path=True).argument
    boxes = spark.sql(f"SELECT * FROM clustering_boxes({target}, {_sql.literal(', '.join(COLUMNS))})")
    rows = ZOrderTable.forPath(spark, path).audit(*COLUMNS)
    return {"audit": dicts(rows), "boxes": dicts(boxes)}


def reported(now: dict[str, Any], before: dict[str, Any], table: ZOrderTable) -> str:
    """Writes a report to a file and says where it is. If the extra is missing, says how to get it."""
    if not report.available():
        return f"No report with pictures: {report.HOW_TO_GET[0].lower()}{report.HOW_TO_GET[1:]}"
    handle, path = tempfile.mkstemp(prefix="spark-zorder-demo-", suffix=".html")
    os.close(handle)
    boxes = {"boxes": now["boxes"], "boxes_before": before["boxes"]}
    history = table.history()
    report.write(path, now["audit"], before=before["audit"], history=history, table="sales", **boxes)
    return f"Before and after in pictures, open it in a browser: {path}"


def _indented(text: str) -> str:
    return "\n".join(f"{' ' * _INDENT}{line}".rstrip() for line in text.splitlines())


def _wanted(table: ZOrderTable) -> OptimizeBuilder:
    return table.optimize().options(fileCount=FILES, pageRowLimit=PAGE_ROWS)


def _row(run: OptimizeBuilder) -> Any:
    return run.executeZOrderBy(*COLUMNS).collect()[0]


def table_of(forecast: Any, row: Any) -> Table:
    """One line for each column and level. ``forecast`` is the row of the dry run, ``row`` that of the run."""
    lines = []
    for asked, done in zip(forecast["columns"], row["columns"]):
        for level in ("files", "pages"):
            before, after, bound = asked[level]["now"], done[level]["measured"], done[level]["bound"]
            figures = [_figure(x) for x in (before, after, bound, before / after)]
            lines.append([_sql.unquoted(done["name"]), *figures, level])
    return Table("", ["look-up on", "before", "after", "bound", "times fewer", "of"], lines, range(1, 5))


def _figure(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:.3f}"


def generate(spark: SparkSession, path: str) -> None:
    """Writes two skewed columns that do not depend on the order of the rows, always the same data."""
    spark.range(0, ROWS, 1, FILES).selectExpr(
        "cast(floor(20000 * pow(pmod(hash(id, 1), 1000003) / 1000003d, 3)) as int) as customer",
        "cast(floor(5000 * pow(pmod(hash(id, 2), 1000003) / 1000003d, 2)) as int) as product",
        "id as sale",
        "cast(pmod(hash(id, 3), 10000) / 100 as decimal(8, 2)) as price",
    ).write.option("parquet.page.row.count.limit", PAGE_ROWS).parquet(path)


def look_up(spark: SparkSession, path: str) -> Answers:
    """Looks up values of rows that are spread evenly. Counts the matching rows and sums their sales."""
    rows = spark.read.parquet(path)
    found: Answers = {}
    for column in COLUMNS:
        drawn = rows.where(f"sale % {ROWS // LOOKUPS} = 7").select(column).distinct().collect()
        wanted = rows.where(f"{column} in ({', '.join(str(row[0]) for row in drawn)})")
        counted = wanted.groupBy(column).agg({"*": "count", "sale": "sum"}).orderBy(column).collect()
        found[column] = [(int(row[0]), int(row[1]), int(row[2])) for row in counted]
    return found


def with_time(what: str, action: Callable[[], T]) -> T:
    """Prints what happens now, and afterwards how long it took."""
    print(f"{what} ...", flush=True)
    start = time.monotonic()
    done = action()
    print(f"   {time.monotonic() - start:.1f} s", flush=True)
    return done
