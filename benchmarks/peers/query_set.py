"""The queries of the query benchmark: look-ups, narrow ranges, boxes, top-k and a star join."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clustered import BY

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

SUMS = "SELECT count(*), sum(ss_net_paid), sum(ss_ticket_number) FROM {table} WHERE "
# customers of one segment: few, and nowhere near each other
SEGMENTS = 40_000


def queries(spark: SparkSession, view: str, folder: Path, count: int) -> dict[str, list[str]]:
    """Texts with `{table}` in them, `count` of each kind, values drawn from the rows by a hash."""
    dimension(spark, view, folder)
    columns = ", ".join(BY)
    drawn = spark.sql(
        f"SELECT {columns} FROM {view} WHERE {BY[0]} IS NOT NULL AND {BY[1]} IS NOT NULL "
        f"ORDER BY xxhash64(ss_ticket_number, ss_item_sk) LIMIT {count * 5}"
    ).collect()
    limits = spark.sql(f"SELECT {', '.join(f'max({c})' for c in BY)} FROM {view}").head()
    assert limits is not None
    wide = [int(most) for most in limits]
    values = [drawn[i * 5 : i * 5 + 5] for i in range(count)]

    def between(column: int, rows: list[Row], share: float) -> str:
        half = int(wide[column] * share / 2)
        low = min(max(rows[0][column] - half, 1), wide[column] - 2 * half)
        return f"{BY[column]} BETWEEN {low} AND {low + 2 * half}"

    found = {}
    for i, column in enumerate(BY):
        found[f"one value of {column}"] = [SUMS + f"{column} = {rows[0][i]}" for rows in values]
        found[f"0.1 % of {column}"] = [SUMS + between(i, rows, 0.001) for rows in values]
    several = [", ".join(str(row[0]) for row in rows) for rows in values]
    found[f"IN: five values of {BY[0]}"] = [SUMS + f"{BY[0]} IN ({v})" for v in several]
    found["a box: 3 % of each column"] = [
        SUMS + f"{between(0, rows, 0.03)} AND {between(1, rows, 0.03)}" for rows in values
    ]
    found[f"ORDER BY {BY[0]} DESC LIMIT 100"] = [
        f"SELECT * FROM {{table}} ORDER BY {BY[0]} DESC LIMIT {100 + i}" for i in range(count)
    ]
    found["a star join: a segment of customers"] = [
        "SELECT count(*), sum(ss_net_paid), sum(ss_ticket_number) FROM {table} JOIN customer "
        f"ON ss_customer_sk = c_customer_sk WHERE c_segment = {i * 7}"
        for i in range(count)
    ]
    return found


def dimension(spark: SparkSession, view: str, folder: Path) -> None:
    """The view `customer`: its key and a segment."""
    path = str(folder / "customer")
    spark.sql(
        f"SELECT DISTINCT {BY[0]} AS c_customer_sk, pmod(hash({BY[0]}), {SEGMENTS}) AS c_segment FROM {view} "
        f"WHERE {BY[0]} IS NOT NULL"
    ).repartition(4).write.parquet(path)
    spark.read.parquet(path).createOrReplaceTempView("customer")


def answer(rows: list[Row]) -> Any:
    """What must be equal in all layouts: sums, or of rows in an order, what they are ordered by."""
    if len(rows) == 1:
        return tuple(rows[0])
    return tuple(row[BY[0]] for row in rows)
