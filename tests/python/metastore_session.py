"""Run as a program by test_metastore: tables in a Hive metastore (embedded Derby), clustered by name."""

from __future__ import annotations

import json
import sys

import spark_zorder
from support import plain_builder

FOLDER = sys.argv[1]
ROWS = """
    SELECT cast(pmod(hash(id, 1), 1000) AS int) AS a, cast(pmod(hash(id, 2), 1000) AS int) AS b, id,
           cast(id % 3 AS int) AS day
    FROM range(0, 60000, 1, 4)"""


def digest(spark, table):
    return spark.sql(f"SELECT count(*), sum(xxhash64(a, b, id, day) % 1000003) FROM {table}").collect()[0]


def location(spark, table):
    rows = spark.sql(f"DESCRIBE FORMATTED {table}").collect()
    return next(row["data_type"] for row in rows if row["col_name"] == "Location")


def clustered(spark, table):
    """What happened to one table: statuses, whether its rows are the same, what stays behind."""
    before = digest(spark, table)
    run = spark.sql(f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = 8, force = true)").collect()[0]
    other = spark.newSession()
    seen = digest(other, table) == before
    spark.sql(f"INSERT INTO {table} SELECT a, b, id + 100000, day FROM {table} WHERE id < 10")
    appended = spark.table(table).count() == before[0] + 10
    again = spark.sql(f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = 8, force = true)").collect()[0]
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


def main():
    derby = f"jdbc:derby:;databaseName={FOLDER}/metastore;create=true"
    builder = (
        plain_builder(FOLDER)
        .config("spark.sql.catalogImplementation", "hive")
        .config("spark.hadoop.javax.jdo.option.ConnectionURL", derby)
        .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={FOLDER}/derby")
    )
    spark = spark_zorder.configure(builder).getOrCreate()
    spark.sql("CREATE DATABASE sales")
    spark.sql(f"CREATE TABLE sales.managed USING parquet AS {ROWS}")
    spark.sql(f"CREATE TABLE sales.parts USING parquet PARTITIONED BY (day) AS {ROWS}")
    spark.sql(f"CREATE TABLE sales.outside USING parquet LOCATION '{FOLDER}/outside' AS {ROWS}")
    facts = {name: clustered(spark, f"sales.{name}") for name in ("managed", "parts", "outside")}
    home = location(spark, "sales.managed")
    spark.sql("ZORDER VACUUM sales.managed RETAIN 0 HOURS")
    spark.sql("ZORDER REMOVE sales.managed")
    spark.sql("DROP TABLE sales.managed")
    spark.sql(f"CREATE TABLE sales.managed USING parquet AS {ROWS}")
    facts["created_again"] = spark.table("sales.managed").count()
    facts["home"] = home
    spark.stop()
    print("FACTS " + json.dumps(facts))


if __name__ == "__main__":
    main()
