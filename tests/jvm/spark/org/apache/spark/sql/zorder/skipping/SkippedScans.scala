package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path}

import org.scalatest.TestSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.zorder.{UncompiledQueries, ZOrderSession}
import org.apache.spark.sql.zorder.skipping.scan.{SkippingUsage, TableUsage}

/** Queries of indexed tables, the files that they open, and the same queries without skipping. */
trait SkippedScans extends UncompiledQueries with AdaptiveSparkPlanHelper { this: TestSuite =>

  /** As if the files had been there for an hour: entries of fresh files are not trusted. */
  protected def aged(path: Path, millis: Long = 3600000): Unit =
    Files.walk(path).filter(_.toString.endsWith(".parquet")).forEach { f =>
      f.toFile.setLastModified(System.currentTimeMillis() - millis)
      ()
    }

  /** Makes an index of files that are old enough to be trusted; returns what the statement says. */
  protected def index(path: Path, columns: String*): Row =
    indexOf(path, if (columns.isEmpty) "" else columns.mkString("COLUMNS (", ", ", ")"))

  protected def indexWith(path: Path, options: String): Row = indexOf(path, s"WITH ($options)")

  private def indexOf(path: Path, clause: String): Row = {
    aged(path)
    one(s"ZORDER INDEX '$path' $clause")
  }

  /** Queries that do next to nothing: compiling them costs more than running them. */
  protected def quick[T](body: => T): T = withConf(
    ZOrderSession.interpreted ++ Seq(
      "spark.sql.shuffle.partitions" -> "1",
      "spark.sql.files.minPartitionNum" -> "1"): _*)(body)

  protected def opened(df: DataFrame): Long =
    collectWithSubqueries(df.queryExecution.executedPlan) { case s: FileSourceScanExec =>
      s.metrics("numFiles").value
    }.sum

  /** Those of the tables whose directory has the name. */
  protected def openedOf(table: String, df: DataFrame): Long =
    collectWithSubqueries(df.queryExecution.executedPlan) {
      case s: FileSourceScanExec if s.relation.location.rootPaths.exists(_.getName == table) =>
        s.metrics("numFiles").value
    }.sum

  /**
   * Joins are shuffled, and nothing is broadcast before its size is known. Two tasks read six kilobytes at once, as our
   * rules see it; for Spark they are one.
   */
  protected def shuffled[T](body: => T): T = withConf(
    "spark.sql.autoBroadcastJoinThreshold" -> "-1",
    "spark.sql.adaptive.autoBroadcastJoinThreshold" -> "10MB",
    "spark.sql.files.maxPartitionBytes" -> "3000",
    "spark.sql.files.maxPartitionNum" -> "1")(body)

  /** Without the checks of plans that Spark makes under test alone. */
  protected def asInProduction[T](body: => T): T = {
    val testing = Option(System.clearProperty("spark.testing"))
    try body
    finally testing.foreach(System.setProperty("spark.testing", _))
  }

  /** The files that the query opens; its answer must be that of a session that skips nothing. */
  protected def opens(query: => DataFrame): Long = {
    val df = query
    val rows = df.collect().map(_.toString).sorted.toSeq
    withoutSkipping {
      assert(query.collect().map(_.toString).sorted.toSeq === rows)
    }
    opened(df)
  }

  protected def withoutSkipping[T](body: => T): T =
    withConf("spark.zorder.skipping.enabled" -> "false")(body)

  /**
   * Whether a query opens fewer files than its format plans; its rows must be the same, also where others have written to
   * the table since both were planned.
   */
  protected def opensFewer(text: String, isOrdered: Boolean, change: Option[String])(
      ask: String => DataFrame): Boolean = {
    def planned: DataFrame = {
      val df = ask(text)
      assert(df.queryExecution.executedPlan.output.nonEmpty)
      df
    }
    def answer(df: DataFrame): Seq[String] = {
      val rows = df.collect().map(_.toString).toSeq
      if (isOrdered) rows else rows.sorted
    }
    val (whole, narrowed) = (withoutSkipping(planned), planned)
    change.foreach(ask)
    assert(answer(narrowed) === withoutSkipping(answer(whole)), s"$text; meanwhile: $change")
    opened(narrowed) < opened(whole)
  }
}

object SkippedScans {

  /** What was skipped, one entry a table. */
  def usage: Seq[TableUsage] = SkippingUsage.all.filter(_.column.isEmpty)
}
