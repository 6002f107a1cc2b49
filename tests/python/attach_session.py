"""Run as a program by test_attach: a plain session, then attach, then all that must work without a parser."""

from __future__ import annotations

import json
import sys
import threading

import spark_zorder
from spark_zorder import _session
from support import digest, plain_builder, uncompiled, write_table

FOLDER = sys.argv[1]


def plan_of(df):
    return df._jdf.queryExecution().executedPlan().toString()


def refusals(spark):
    """What a session says that has nothing of ours."""
    df = spark.range(3)
    table = spark_zorder.ZOrderTable.forPath(spark, "/x")
    calls = {
        "optimize": lambda: table.optimize().executeZOrderBy("a"),
        "history": table.history,
        "advise": table.advise,
        "append": lambda: table.append(df),
        "zorder": lambda: df.select(spark_zorder.zorder("id")),
        "zorder_key": lambda: spark_zorder.zorder_key("{}", "id"),
        "cluster": lambda: spark_zorder.cluster(df, "id", files=2),
        "of_sql": lambda: spark_zorder.query_log.of_sql(spark, ["SELECT 1"]),
        "of_event_log": lambda: spark_zorder.query_log.of_event_log(spark, "/x"),
        "log": lambda: spark_zorder.query_log.start(spark, "/x"),
    }
    return {name: said(call) for name, call in calls.items()}


def said(call):
    try:
        call()
    except spark_zorder._errors.SetupError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def main():
    spark = uncompiled(plain_builder(FOLDER)).getOrCreate()
    before = spark_zorder.doctor(spark, show=None)
    refused = refusals(spark)
    configured = said(lambda: spark_zorder.configure(plain_builder(FOLDER)))
    path = write_table(spark, f"{FOLDER}/t")
    rows = digest(spark, path)
    spark_zorder.attach(spark_zorder.attach(spark))
    after = spark_zorder.doctor(spark, show=None)
    again = said(lambda: spark_zorder.configure(plain_builder(FOLDER)))
    table = spark_zorder.ZOrderTable.forPath(spark, path)
    run = table.optimize().option("fileCount", 4).option("force", True)
    dry = run.dryRun().executeZOrderBy("a", "b").collect()[0]
    row = run.executeZOrderBy("a", "b").collect()[0]
    spark_zorder.query_log.start(spark, f"{FOLDER}/log")
    spark.read.parquet(path).where("a = 1").count()
    logged = spark_zorder.query_log.stop(spark).collect()[0]["queries"]
    in_thread = []
    thread = threading.Thread(
        target=lambda: in_thread.append(_session.jvm_class(spark, "sql.PythonBridge") is not None)
    )
    thread.start()
    thread.join()
    facts = {
        "ok_before": before.ok,
        "refused": refused,
        "jar": spark_zorder.jar(spark) == spark_zorder.jar(),
        "advice_before": [f.advice for f in before.facts if f.advice],
        "understood": _session.understands(spark),
        "configured": [configured, again],
        "functions": _session.version_of(spark),
        "advice_after": [f.name for f in after.facts if f.advice],
        "guarded": "ExchangeGuard" in spark._jsparkSession.experimental().extraOptimizations().toString(),
        "ordered": "ZOrderSort" in plan_of(spark.range(4).orderBy(spark_zorder.zorder("id"))),
        "dry": dry["status"],
        "status": row["status"],
        "same": digest(spark, path) == rows,
        "logged": logged,
        "of_sql": spark_zorder.query_log.of_sql(
            spark, [f"SELECT * FROM parquet.`{path}` WHERE b = 2"]
        ).count(),
        "history": table.history().count(),
        "cluster": spark_zorder.cluster(spark.read.parquet(path), "a", "b", files=4).rdd.getNumPartitions(),
        "in_thread": in_thread == [True],
    }
    spark.stop()
    print("FACTS " + json.dumps(facts))


if __name__ == "__main__":
    main()
