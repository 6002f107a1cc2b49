"""The tables of TPC-DS, and by what those of sales, returns and inventory are clustered."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import data
from workload import Table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

# by date and item: what the queries join them by
CLUSTERED = {
    "store_sales": Table(("ss_sold_date_sk", "ss_item_sk"), 1, ("ss_ticket_number",)),
    "catalog_sales": Table(("cs_sold_date_sk", "cs_item_sk"), 1 / 2, ("cs_order_number",)),
    "web_sales": Table(("ws_sold_date_sk", "ws_item_sk"), 1 / 4, ("ws_order_number",)),
    "inventory": Table(("inv_date_sk", "inv_item_sk"), 1 / 2, ("inv_date_sk", "inv_warehouse_sk")),
    "store_returns": Table(("sr_returned_date_sk", "sr_item_sk"), 1 / 8, ("sr_ticket_number",)),
    "catalog_returns": Table(("cr_returned_date_sk", "cr_item_sk"), 1 / 16, ("cr_order_number",)),
    "web_returns": Table(("wr_returned_date_sk", "wr_item_sk"), 1 / 16, ("wr_order_number",)),
}
AS_THEY_ARE = (
    *("catalog_page", "customer", "customer_address", "customer_demographics", "date_dim", "item"),
    *("promotion", "store", "time_dim", "warehouse", "web_page", "web_site"),
)
# of the generator's types; all keys fit INT at the scales that one machine takes
TYPES = {"IDENTIFIER": "INT", "INTEGER": "INT", "DATE": "DATE"}


def source(spark: SparkSession, folder: Path, scale: float) -> dict[str, DataFrame]:
    """The tables as the generator writes them, as Parquet; the generator comes from Maven Central."""
    if not data.GENERATOR.is_file():
        data.fetch_generator()
    text = folder / "text"
    text.mkdir()
    data.write_text(scale, text)
    options = {"sep": "|", "quote": "", "encoding": "ISO-8859-1"}
    found = {}
    for name, schema in schemas(spark).items():
        rows = spark.read.schema(schema).options(**options)
        # one file of each of the generator's two threads, `store_1_2.dat`
        rows.csv(str(text / f"{name}_?_2.dat")).write.parquet(str(folder / "generated" / name))
        found[name] = spark.read.parquet(str(folder / "generated" / name))
    shutil.rmtree(text)
    return found


def schemas(spark: SparkSession) -> dict[str, str]:
    """Columns and types of the tables, asked of the generator's own classes."""
    enum = _loaded(spark, "io.trino.tpcds.Table")
    wanted = {*CLUSTERED, *AS_THEY_ARE}
    return {t.getName(): _columns(t) for t in enum.getEnumConstants() if t.getName() in wanted}


def _columns(table: Any) -> str:
    return ", ".join(f"{c.getName()} {_type(c.getType())}" for c in table.getColumns())


def _type(of: Any) -> str:
    base = of.getBase().name()
    if base == "DECIMAL":
        return f"DECIMAL({of.getPrecision().get()}, {of.getScale().get()})"
    return TYPES.get(base, "STRING")


def _loaded(spark: SparkSession, name: str) -> Any:
    """A class of the generator, whose libraries must not meet those of Spark."""
    context = spark._sc
    jvm = context._jvm
    urls = context._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.io.File(str(data.GENERATOR)).toURI().toURL()
    parent = jvm.java.lang.ClassLoader.getPlatformClassLoader()
    return jvm.java.net.URLClassLoader(urls, parent).loadClass(name)
