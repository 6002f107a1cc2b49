package org.apache.spark.sql.zorder.sql

import org.apache.spark.sql.{Column, DataFrame, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.zorder.build.StartCheck
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.{ClusterDataFrame, StoredLayout}
import org.apache.spark.sql.zorder.clustering.plan.DataFrameFiles
import org.apache.spark.sql.zorder.clustering.request.{ColumnResolver, Progress}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.SkippingRule
import org.apache.spark.sql.zorder.skipping.scan.PlannedScanStrategy
import org.apache.spark.sql.zorder.insight.explain.ExplainQuery
import org.apache.spark.sql.zorder.clustering.sort.ZOrderSortStrategy
import org.apache.spark.sql.zorder.sql.function.{ScalarFunctions, TableFunctions}
import org.apache.spark.sql.zorder.sql.statement.TableRefParser
import org.apache.spark.sql.zorder.table.parquet.ExchangeGuard

/**
 * What Python calls in the JVM: static methods with types that py4j can pass. A session that was started
 * without the extension gets from here what can be added to a session, and runs its statements here.
 */
object PythonBridge {

  /**
   * Gives this session alone the functions, the sort, skipping by an index and the guard of exchanges. What can only be
   * injected as a session starts is left out: the parser, the query log, and the rules by which joins skip. Calling it
   * again changes nothing.
   */
  def install(session: SparkSession): Unit = {
    Option(StartCheck.problem()).foreach(problem => throw new IllegalStateException(problem))
    SessionKeys.register()
    val state = Shims.classic(session).sessionState
    // the one spelling that means the same on every Spark line
    ScalarFunctions.all.foreach { f =>
      state.functionRegistry.createOrReplaceTempFunction(f.name, f.builder, "scala_udf")
    }
    TableFunctions.all.foreach { f =>
      state.tableFunctionRegistry.createOrReplaceTempFunction(f.name, f.builder, "scala_udf")
    }
    val experimental = session.experimental
    Seq(ZOrderSortStrategy, PlannedScanStrategy).filterNot(experimental.extraStrategies.contains).foreach {
      s =>
        experimental.extraStrategies = experimental.extraStrategies :+ s
    }
    if (!experimental.extraOptimizations.exists(_.isInstanceOf[SkippingRule]))
      experimental.extraOptimizations =
        experimental.extraOptimizations ++ Seq(ExchangeGuard(session), SkippingRule(session))
  }

  /** Runs an `OPTIMIZE` or `ZORDER` statement for a session whose parser does not know it. */
  def run(session: SparkSession, sqlText: String): DataFrame = {
    val classic = Shims.classic(session)
    val plan = session.withActive(new StatementPlanner(session, classic.sessionState.sqlParser).plan(sqlText))
    Shims.ofRows(
      classic,
      plan.getOrElse(refuse("ZORDER_SYNTAX.OTHER_STATEMENT")))
  }

  /**
   * A DataFrame with its rows partitioned into `files` partitions and ordered in them, for any writer.
   *
   * @param by
   *   names, or objects of Spark's class `Column`
   * @param files
   *   0 for the number that a run would choose
   */
  def cluster(df: DataFrame, by: Array[Object], files: Int): DataFrame =
    ClusterDataFrame.cluster(df, names(df, by), wanted(df, files))

  /** The JSON of a layout fitted on a DataFrame; arguments as for `cluster`. */
  def fit(df: DataFrame, by: Array[Object], files: Int): String =
    ClusterDataFrame.fit(df, names(df, by), wanted(df, files))

  private def wanted(df: DataFrame, files: Int): Int = if (files == 0) DataFrameFiles.of(df) else files

  private def names(df: DataFrame, by: Array[Object]): Seq[String] = by.toSeq.map {
    case column: Column => ColumnResolver.nameOf(df, column)
    case name => name.toString
  }

  /** The JSON of the newest layout that a table keeps, or null; `target` as in a statement. */
  def layout(session: SparkSession, target: String): String = {
    val classic = Shims.classic(session)
    session.withActive(StoredLayout.newest(classic, TableRefParser.ofText(session, target)).orNull)
  }

  /**
   * What the scans of a DataFrame skip, as `ZORDER EXPLAIN` says it; nothing is run.
   *
   * @param target
   *   the only table to say it of, as in a statement; null for all
   */
  def explainSkipping(df: DataFrame, target: String): DataFrame = {
    val session = Shims.classic(df.sparkSession)
    val rows = session.withActive {
      val only = Option(target).map(TableRefParser.ofText(session, _))
      ExplainQuery.of(session, df.queryExecution.analyzed, only)
    }
    Shims.ofRows(
      session,
      LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(ExplainQuery.schema), rows))
  }

  /** The lines so far of the latest run of a session: a notebook, which has no terminal, asks for them. */
  def progressLines(session: SparkSession): Array[String] = Progress.lines(session)

  /** Forgets the lines of the run before, which are not those of the next one. */
  def forgetProgress(session: SparkSession): Unit = Progress.forget(session)
}
