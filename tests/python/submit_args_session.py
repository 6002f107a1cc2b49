"""A session of configure() beside jars of PYSPARK_SUBMIT_ARGS, or under spark-submit: what it has."""

from __future__ import annotations

import json
import os
import sys
import zipfile

import spark_zorder
from support import plain_builder


def names(jars):
    return [jar.rsplit("/", 1)[-1] for jar in jars.split(",")]


folder, *options = sys.argv[1:]
with zipfile.ZipFile(f"{folder}/other.jar", "w") as other:
    other.writestr("other.txt", "here")
if options:
    os.environ["PYSPARK_SUBMIT_ARGS"] = " ".join([*options, "pyspark-shell"])
spark = spark_zorder.configure(plain_builder(folder)).getOrCreate()
statement = f"ZORDER TABLE '{folder}/t' BY (id) DRY RUN"
spark.range(0, 1000, 1, 2).write.mode("overwrite").parquet(f"{folder}/t")
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
facts = {
    "status": spark.sql(statement).collect()[0]["status"],
    "other": loader.getResource("other.txt") is not None,
    "jars": names(spark.conf.get("spark.jars", "")),
    "sent": sorted(names(spark._jsc.sc().listJars().mkString(","))),
    "extensions": spark.conf.get("spark.sql.extensions").split(","),
}
print("FACTS " + json.dumps(facts))
spark.stop()
