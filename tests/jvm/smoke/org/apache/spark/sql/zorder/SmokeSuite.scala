package org.apache.spark.sql.zorder

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{AnalysisException, DataFrame, SparkSession}
import org.apache.spark.sql.functions.{col, expr => column}
import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.sql.{PythonBridge, ZOrderParser}

/** What every Spark line must do. */
class SmokeSuite extends AnyFunSuite with ZOrderSession {

  test("the extension loads: our parser is outermost") {
    assert(Shims.classic(spark).sessionState.sqlParser.isInstanceOf[ZOrderParser])
  }

  test("zorder_version() answers, folded, interpreted and generated") {
    assert(spark.sql("SELECT zorder_version()").head().getString(0) == BuildInfo.version())
    assert(BuildInfo.version().matches("""\d+\.\d+\.\d+.*"""))
    val query = "SELECT zorder_version() AS v FROM range(3)"
    Seq("CODEGEN_ONLY", "NO_CODEGEN").foreach { mode =>
      withConf(
        "spark.sql.codegen.factoryMode" -> mode,
        "spark.sql.optimizer.excludedRules" -> "org.apache.spark.sql.catalyst.optimizer.ConstantFolding") {
        assert(spark.sql(query).collect().map(_.getString(0)).toSeq == Seq.fill(3)(BuildInfo.version()))
      }
    }
  }

  test("a thread without an active session has none after code that needs one") {
    val session = Shims.classic(spark)
    SparkSession.clearActiveSession()
    try {
      ActiveSession.during(session)(assert(SparkSession.getActiveSession.contains(session)))
      assert(SparkSession.getActiveSession.isEmpty)
    } finally SparkSession.setActiveSession(session)
  }

  test("functions are listed and described") {
    assert(spark.sql("SHOW FUNCTIONS LIKE 'zorder_version'").collect().map(_.getString(0)).toSeq ==
      Seq("zorder_version"))
    assert(spark.sql(
      "DESCRIBE FUNCTION zorder_version").collect().mkString.contains("The version of spark-zorder"))
  }

  test("ordinary statements pass, with and without parameters") {
    assert(spark.sql("SELECT 1 AS optimize").head().getInt(0) == 1)
    assert(spark.sql("SELECT :x + 1", Map[String, Any]("x" -> 1)).head().getInt(0) == 2)
    assert(spark.sql("SELECT ? + 1", Array[Any](41)).head().getInt(0) == 42)
  }

  test("a statement of ours is recognised and explained without being run") {
    val plan =
      spark.sql("EXPLAIN ZORDER TABLE no.such.t BY (a, b) WITH (fileCount = 8) DRY RUN").head().getString(0)
    assert(plan.contains("ZOrderTable no.such.t by (a, b) with (fileCount=8) dry run"))
  }

  test("a session that was started without the extension gets it from the bridge") {
    val late = withoutExtension()
    assert(!Shims.classic(late).sessionState.sqlParser.isInstanceOf[ZOrderParser])
    intercept[AnalysisException](late.sql("SELECT zorder_version()").collect())
    PythonBridge.install(late)
    PythonBridge.install(late)
    assert(late.sql("SELECT zorder_version()").head().getString(0) == BuildInfo.version())
    val wrong = intercept[AnalysisException](late.sql("SELECT * FROM zorder_history(1)"))
    assert(wrong.getMessage.contains("zorder_history takes one string"))
    val plan = PythonBridge.run(late, "EXPLAIN ZORDER TABLE no.such.t BY (a)").head().getString(0)
    assert(plan.contains("ZOrderTable no.such.t by (a)"))
    val refused = intercept[ZOrderException](PythonBridge.run(late, "SELECT 1"))
    assert(refused.getMessage.contains("OPTIMIZE and ZORDER statements only"))
    assert(sorts(late) == Seq("ZOrderSort"))
  }

  test("a sort by a curve is planned without its key, and sorts as the key would") {
    assert(sorts(spark) == Seq("ZOrderSort"))
    for (curve <- Seq("zorder(a, b, s)", "hilbert(a, b)"); direction <- Seq("", " DESC")) {
      // a column of its own, so that Spark's own sort takes it
      val byKey = rows(spark).selectExpr("id", s"$curve k")
        .sortWithinPartitions(if (direction.isEmpty) col("k") else col("k").desc, col("id"))
      val order = if (direction.isEmpty) column(curve) else column(curve).desc
      val found = rows(spark).sortWithinPartitions(order, col("id")).collect().map(_.getLong(0)).toSeq
      assert(found == byKey.collect().map(_.getLong(0)).toSeq)
    }
  }

  private def rows(session: SparkSession): DataFrame = session.range(0, 10000, 1, 1).selectExpr(
    "id",
    "cast(pmod(xxhash64(id, 1), 700) as int) a",
    "if(id % 10 = 0, null, xxhash64(id, 2)) b",
    "cast(id % 7 as string) s")

  /** Names of the sort operators of a sort by a curve. */
  private def sorts(session: SparkSession): Seq[String] =
    rows(session).sortWithinPartitions(column("zorder(a, b)")).queryExecution.executedPlan.collect {
      case p if p.nodeName.contains("Sort") => p.nodeName
    }

  /** A second session on the same Spark, with every part of the extension switched off at its start. */
  private def withoutExtension(): SparkSession = {
    val shared = spark
    val switches = Seq("parser", "functions", "tableFunctions", "sort").map("spark.zorder.inject." + _)
    switches.foreach(System.setProperty(_, "false"))
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    try SparkSession.builder().getOrCreate()
    finally {
      switches.foreach(System.clearProperty)
      SparkSession.setDefaultSession(shared)
      SparkSession.setActiveSession(shared)
    }
  }
}
