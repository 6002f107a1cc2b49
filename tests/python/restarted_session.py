"""Run as a program by test_attach: configure in a JVM whose first session, without us, has stopped."""

from __future__ import annotations

import json
import sys

import spark_zorder
from support import plain_builder, uncompiled, write_table

FOLDER = sys.argv[1]


def main():
    spark = uncompiled(plain_builder(FOLDER)).getOrCreate()
    path = write_table(spark, f"{FOLDER}/t")
    spark.stop()
    spark = spark_zorder.configure(uncompiled(plain_builder(FOLDER))).getOrCreate()
    row = spark.sql(f"ZORDER TABLE '{path}' BY (a, b) WITH (fileCount = 4, force = true)").collect()[0]
    keys = spark.range(4).repartition(2).select(spark_zorder.zorder("id")).distinct().count()
    facts = {"status": row["status"], "keys": keys, "doctor": spark_zorder.doctor(spark).ok}
    spark.stop()
    print("FACTS " + json.dumps(facts))


if __name__ == "__main__":
    main()
