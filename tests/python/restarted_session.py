"""Run as a program by test_attach: configure in a JVM whose first session, without us, has stopped.

A third one begins to count what it skips.
"""

from __future__ import annotations

import json
import sys

import spark_zorder
from support import plain_builder, uncompiled, write_table

FOLDER = sys.argv[1]


def usage(spark, path):
    """The rows of zorder_skipping_usage() after a query by an index: of the table, and of the column."""
    spark.sql(f"ZORDER INDEX '{path}' COLUMNS (a)").collect()
    spark.read.parquet(path).where("a = 3").collect()
    return counted(spark, path)


def counted(spark, path):
    return spark_zorder.skipping_usage(spark).where(f"table LIKE '%{path}'").count()


def main():
    spark = uncompiled(plain_builder(FOLDER)).getOrCreate()
    path = write_table(spark, f"{FOLDER}/t")
    spark.stop()
    spark = spark_zorder.configure(uncompiled(plain_builder(FOLDER))).getOrCreate()
    row = spark.sql(f"ZORDER TABLE '{path}' BY (a, b) WITH (fileCount = 4, force = true)").collect()[0]
    keys = spark.range(4).repartition(2).select(spark_zorder.zorder("id")).distinct().count()
    facts = {"status": row["status"], "keys": keys, "doctor": spark_zorder.doctor(spark).ok}
    facts["usage"] = [usage(spark, path)]
    spark.stop()
    spark = spark_zorder.configure(uncompiled(plain_builder(FOLDER))).getOrCreate()
    facts["usage"] += [counted(spark, path), usage(spark, path)]
    spark.stop()
    print("FACTS " + json.dumps(facts))


if __name__ == "__main__":
    main()
