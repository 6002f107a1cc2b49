"""Run as a program by test_metastore: tables in a Hive metastore, clustered by name.

The metastore is embedded Derby, or with a second argument one that is reached by thrift, as on clusters.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import spark_zorder
import thrift_metastore
from support import plain_builder, uncompiled

FOLDER = sys.argv[1]
ROWS = """
    SELECT cast(pmod(hash(id, 1), 1000) AS int) AS a, cast(pmod(hash(id, 2), 1000) AS int) AS b, id,
           cast(id % 3 AS int) AS day
    FROM range(0, 6000, 1, 4)"""


def digest(spark, table):
    return spark.sql(f"SELECT count(*), sum(xxhash64(a, b, id, day) % 1000003) FROM {table}").collect()[0]


def location(spark, table):
    rows = spark.sql(f"DESCRIBE FORMATTED {table}").collect()
    return next(row["data_type"] for row in rows if row["col_name"] == "Location")


def clustered(spark, table):
    """What happened to one table: statuses, whether its rows are the same, what stays behind."""
    before = digest(spark, table)
    run = spark.sql(f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = 4, force = true)").collect()[0]
    other = spark.newSession()
    seen = digest(other, table) == before
    spark.sql(f"INSERT INTO {table} SELECT a, b, id + 100000, day FROM {table} WHERE id < 10")
    appended = spark.table(table).count() == before[0] + 10
    again = spark.sql(f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = 4, force = true)").collect()[0]
    return {
        "status": run["status"],
        "same": seen,
        "appended": appended,
        "again": again["status"],
        "rows": spark.table(table).count(),
        "runs": spark.sql(f"SELECT * FROM zorder_history('{table}')").count(),
        "back": spark.sql(f"ZORDER ROLLBACK {table}").collect()[0]["status"],
        "kept": spark.table(table).count(),
    }


def lived(spark, table, by=""):
    """A managed table's life after a run: whether every step gives what it gives without a run."""

    def ids(name=table):
        return sorted(row[0] for row in spark.sql(f"SELECT id FROM {name}").collect())

    def run(name=table):
        text = f"ZORDER TABLE {name} FULL BY (a, id) WITH (fileCount = 2, force = true)"
        return spark.sql(text).collect()[0]["status"]

    def rows(first, last):
        columns = "cast(pmod(hash(id), 9) AS int) AS a, id, cast(id % 2 AS int) AS day"
        return f"SELECT {columns} FROM range({first}, {last}, 1, 2)"

    spark.sql(f"CREATE TABLE {table} USING parquet {by} AS {rows(0, 40)}")
    place = location(spark, table)
    facts = {"run": run() == "DONE" and location(spark, table) == place and ids() == list(range(40))}
    spark.sql(f"ALTER TABLE {table} RENAME TO {table}_new")
    facts["renamed"] = ids(f"{table}_new") == list(range(40))
    back = spark.sql(f"ZORDER ROLLBACK {table}_new").collect()[0]["status"]
    facts["rolled back"] = back == "ROLLED_BACK" and ids(f"{table}_new") == list(range(40))
    spark.sql(f"ALTER TABLE {table}_new RENAME TO {table}")
    facts["run again"] = run() == "DONE" and ids() == list(range(40))
    if by:
        spark.sql(f"ALTER TABLE {table} DROP PARTITION (day = 1)")
        spark.sql(f"MSCK REPAIR TABLE {table}")
        spark.sql(f"INSERT INTO {table} {rows(100, 110)}")
        wanted = sorted([*range(0, 40, 2), *range(100, 110)])
        facts["partition refilled"] = ids() == wanted
        spark.sql(f"INSERT OVERWRITE {table} PARTITION (day = 1) SELECT 1, 101L")
        facts["partition overwritten"] = ids() == sorted([*range(0, 40, 2), *range(100, 110, 2), 101])
    spark.sql(f"INSERT OVERWRITE {table} {rows(0, 7)}")
    facts["overwritten"] = ids() == list(range(7)) and run() == "DONE" and ids() == list(range(7))
    writer = spark.sql(rows(5, 9)).write.mode("overwrite").format("parquet")
    (writer.partitionBy("day") if by else writer).saveAsTable(table)
    facts["saved over"] = ids() == list(range(5, 9)) and run() == "DONE"
    spark.sql(f"TRUNCATE TABLE {table}")
    facts["truncated"] = ids() == []
    time.sleep(1.1)  # Hive keeps creation times in seconds
    spark.sql(f"DROP TABLE {table}")
    facts["gone"] = not Path(place.removeprefix("file:")).exists()
    spark.sql(f"CREATE TABLE {table} USING parquet {by} AS {rows(3, 6)}")
    facts["made anew"] = ids() == [3, 4, 5] and run() == "DONE"
    spark.sql(f"ZORDER VACUUM {table} RETAIN 0 HOURS")
    facts["vacuumed"] = ids() == [3, 4, 5]
    spark.sql(f"DROP TABLE {table}")
    folder = Path(place.removeprefix("file:")).parent
    facts["nothing left"] = not [p for p in folder.glob(f"*{table.split('.')[1]}*") if p.suffix != ".crc"]
    return facts


def session(key, value):
    """Its metastore is where this setting says."""
    builder = (
        uncompiled(plain_builder(FOLDER))
        .config("spark.sql.catalogImplementation", "hive")
        .config(f"spark.hadoop.{key}", value)
        .config(
            "spark.driver.extraJavaOptions",
            f"-Dderby.system.home={FOLDER}/derby -Dderby.system.durability=test",
        )
    )
    spark = spark_zorder.configure(builder).getOrCreate()
    spark.sql("CREATE DATABASE sales")
    return spark


def daily(spark):
    return lived(spark, "sales.daily", "PARTITIONED BY (day)")


def sized(spark):
    """A table with Hive's size alone, and the same after Spark has analyzed it."""
    place = f"{FOLDER}/sized"
    spark.sql(f"CREATE TABLE sales.sized USING parquet LOCATION '{place}' AS {ROWS}")
    spark.sql("ALTER TABLE sales.sized SET TBLPROPERTIES ('totalSize' = '100000000')")

    def own():
        """Spark's size, which no statement shows apart from Hive's."""
        catalog = spark._jsparkSession.sharedState().externalCatalog().unwrapped()
        properties = catalog.getRawTable("sales", "sized").properties()
        key = "spark.sql.statistics.totalSize"
        return properties.apply(key) if properties.contains(key) else None

    def run(files):
        text = f"ZORDER TABLE sales.sized FULL BY (a, b) WITH (fileCount = {files}, force = true)"
        return spark.sql(text).collect()[0]["status"]

    facts = {"left to Hive": own() is None and run(4) == "DONE" and own() is None}
    # without a new count of rows Spark writes nothing, since Hive has the same size
    spark.sql("ANALYZE TABLE sales.sized COMPUTE STATISTICS")
    facts["analyzed"] = own() is not None and run(2) == "DONE"
    sizes = [file.stat().st_size for file in Path(place).glob("*.parquet")]
    facts["renewed"] = own() == str(sum(sizes))
    return facts


def spoiled(spark, table):
    """Gives a table of `sales` a schema that Spark cannot read, as Hive's union types are."""
    catalog = spark._jsparkSession.sharedState().externalCatalog().unwrapped()
    found = catalog.getRawTable("sales", table)
    fields = [getattr(found, f"copy$default${n}")() for n in range(1, found.productArity() + 1)]
    fields[11] = found.properties().updated("spark.sql.sources.schema", "no schema")
    catalog.client().alterTable(found.copy(*fields))
    return catalog


def overlap(spark):
    """Whether a table inside of a directory is seen beside one that Spark cannot read."""
    spark.sql("CREATE TABLE sales.odd (a INT) USING parquet")
    catalog = spoiled(spark, "odd")
    spark.sql(f"CREATE TABLE sales.inner USING parquet LOCATION '{FOLDER}/around/inner' AS {ROWS}")
    spark.sql("USE sales")
    try:
        spark.sql(f"ZORDER TABLE '{FOLDER}/around' BY (a, b)").collect()
        return "not refused"
    except Exception as refused:
        return str(refused)
    finally:
        spark.sql("USE default")
        catalog.dropTable("sales", "odd", False, True)
        spark.sql("DROP TABLE sales.inner")


def hives(spark):
    """What is said of tables that Hive's own reader scans: one of text, and one of Parquet by a setting."""
    spark.sql("CREATE TABLE sales.textual (a INT) STORED AS TEXTFILE")
    spark.sql("CREATE TABLE sales.packed (a INT) STORED AS PARQUET")
    spark.sql("SET spark.sql.hive.convertMetastoreParquet = false")
    query = "SELECT * FROM sales.textual JOIN sales.packed USING (a)"
    rows = spark.sql(f"ZORDER EXPLAIN {query}").collect()
    spark.sql("RESET spark.sql.hive.convertMetastoreParquet")
    for table in ("textual", "packed"):
        spark.sql(f"DROP TABLE sales.{table}")
    return [[row["table"], row["considered"], row["reason"], row["summary"]] for row in rows]


def by_thrift():
    with thrift_metastore.running(FOLDER) as address:
        spark = session("hive.metastore.uris", address)
        facts = {"plain": lived(spark, "sales.plain"), "daily": daily(spark)}
        spark.stop()
    return facts


def embedded():
    derby = "jdbc:derby:memory:metastore;create=true"
    spark = session("javax.jdo.option.ConnectionURL", derby)
    spark.sql(f"CREATE TABLE sales.managed USING parquet AS {ROWS}")
    spark.sql(f"CREATE TABLE sales.parts USING parquet PARTITIONED BY (day) AS {ROWS}")
    spark.sql(f"CREATE TABLE sales.outside USING parquet LOCATION '{FOLDER}/outside' AS {ROWS}")
    facts = {name: clustered(spark, f"sales.{name}") for name in ("managed", "parts", "outside")}
    facts["daily"] = daily(spark)
    facts["sized"] = sized(spark)
    facts["overlap"] = overlap(spark)
    facts["hives"] = hives(spark)
    home = location(spark, "sales.managed")
    spark.sql("ZORDER VACUUM sales.managed RETAIN 0 HOURS")
    spark.sql("ZORDER REMOVE sales.managed")
    spark.sql("DROP TABLE sales.managed")
    spark.sql(f"CREATE TABLE sales.managed USING parquet AS {ROWS}")
    facts["created_again"] = spark.table("sales.managed").count()
    facts["home"] = home
    spark.stop()
    return facts


if __name__ == "__main__":
    print("FACTS " + json.dumps(by_thrift() if len(sys.argv) > 2 else embedded()))
