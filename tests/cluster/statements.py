"""What runs on the cluster where no Python of ours is: statements alone, on a table by its path or its name.

statements.py PATH [NAME]
"""

from __future__ import annotations

import sys

from checks import check, executors_of, rows, totals
from pyspark.sql import SparkSession


def main(path: str, name: str | None) -> int:
    spark = SparkSession.builder.appName("spark-zorder, statements alone").getOrCreate()
    known = spark.catalog.functionExists("zorder_version")
    check("the session knows our functions", known)
    keyed = executors_of(
        spark.range(0, 4000, 1, 4).selectExpr("zorder(id, id % 7) AS k").where("length(k) > 0")
    )
    check(f"zorder() ran on both executors ({', '.join(sorted(keyed))})", len(keyed) == 2)
    check("all keys were computed", sum(keyed.values()) == 4000)
    if name:
        catalog = spark.conf.get("spark.sql.catalogImplementation")
        check(f"the catalog is {catalog}", catalog == "hive")
        spark.sql("CREATE DATABASE sales")
        rows(spark).write.saveAsTable(name)
    else:
        rows(spark).write.parquet(path)
    table, source = (name, name) if name else (f"'{path}'", f"parquet.`{path}`")
    before = totals(spark.table(source))
    statement = f"ZORDER TABLE {table} BY (a, b) WITH (fileCount = 16, force = true)"
    dry = spark.sql(f"{statement} DRY RUN").collect()[0]
    check(f"the dry run is {dry['status']}", dry["status"] == "DRY_RUN")
    done = spark.sql(statement).collect()[0]
    check(f"the run is {done['status']}", done["status"] == "DONE")
    check("the rows are the same", totals(spark.table(source)) == before)
    index = spark.sql(f"ZORDER INDEX {table}").collect()[0]
    check(f"the index is {index['status']}", index["status"] == "INDEXED")
    last = spark.sql(f"ZORDER EXPLAIN SELECT * FROM {source} WHERE a = 17").collect()[-1]
    check(f"a query opens {last['kept']} of {last['considered']} files", last["kept"] < last["considered"])
    check("and finds its rows", spark.table(source).where("a = 17").count() > 50)
    audit = spark.sql(f"ZORDER AUDIT {table}").collect()
    check("the audit has a verdict and the columns", [r["column"] for r in audit] == [None, "a", "b"])
    runs = spark.sql(f"ZORDER HISTORY {table}").collect()
    check("the history has one run", {(r["run"], r["status"]) for r in runs} == {(1, "DONE")})
    kept = spark.sql(f"ZORDER VACUUM {table}").collect()
    check("the vacuum says until when files are kept", "kept until" in (kept[0]["reason"] or ""))
    back = spark.sql(f"ZORDER ROLLBACK {table}").collect()[0]
    check(f"the rollback is {back['status']}", back["status"] == "ROLLED_BACK")
    check("the rows are the same again", totals(spark.table(source)) == before)
    spark.stop()
    return 0


if __name__ == "__main__":
    check("our Python package is not imported", "spark_zorder" not in sys.modules)
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
