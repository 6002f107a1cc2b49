"""A session that has our jar by `--jars` alone, as spark-submit gives it: what it knows of us."""

from __future__ import annotations

import json
import os
import sys

import spark_zorder
from support import plain_builder

os.environ["PYSPARK_SUBMIT_ARGS"] = f"--jars {spark_zorder._jars.jar_path()} pyspark-shell"
spark = plain_builder(sys.argv[1]).getOrCreate()
known = spark.catalog.functionExists("zorder_version")
spark_zorder.attach(spark)
facts = {"version": spark.version, "known": known, "attached": spark.catalog.functionExists("zorder_version")}
if known:
    path = f"{sys.argv[1]}/t"
    spark.range(0, 1000, 1, 2).write.parquet(path)
    facts["status"] = spark.sql(f"ZORDER TABLE '{path}' BY (id) DRY RUN").collect()[0]["status"]
print("FACTS " + json.dumps(facts))
spark.stop()
