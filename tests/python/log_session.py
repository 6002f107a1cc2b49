"""Run as a program by test_query_log: a setting of the application logs until the application ends."""

from __future__ import annotations

import json
import sys

import spark_zorder
from support import plain_builder, write_table

FOLDER = sys.argv[1]


def main():
    log = f"{FOLDER}/log"
    builder = plain_builder(FOLDER).config("spark.zorder.queryLog.path", log)
    spark = spark_zorder.configure(builder).getOrCreate()
    path = write_table(spark, f"{FOLDER}/t")
    for i in range(7):
        spark.read.parquet(path).where(f"a = {i}").collect()
    spark.stop()
    spark = plain_builder(FOLDER).config("spark.zorder.queryLog.path", "").getOrCreate()
    facts = {"weights": [row["weight"] for row in spark.read.parquet(log).collect()]}
    spark.stop()
    print("FACTS " + json.dumps(facts))


if __name__ == "__main__":
    main()
