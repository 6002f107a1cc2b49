package org.apache.spark.sql.zorder.clustering.sort

import org.scalatest.{Assertions, Suite}

import org.apache.spark.SparkEnv
import org.apache.spark.sql.{Column, DataFrame, Row}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.functions.{expr, xxhash64}
import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.curve.NormalizedBytes

/** Sorts of DataFrames, their plans, and what the rows of each partition must look like. */
trait SortFixture extends ZOrderSession with Assertions { this: Suite =>

  /** Spills after so many rows, whatever the memory. */
  def spillingEvery[T](rows: Int)(body: => T): T = {
    val key = "spark.shuffle.spill.numElementsForceSpillThreshold"
    val conf = SparkEnv.get.conf
    val before = conf.getOption(key)
    conf.set(key, rows.toString)
    try body
    finally before.fold(conf.remove(key))(conf.set(key, _))
  }

  def operators(df: DataFrame): Seq[SparkPlan] = {
    def below(plan: SparkPlan): Seq[SparkPlan] = plan match {
      case a: AdaptiveSparkPlanExec => below(a.executedPlan)
      case stage: QueryStageExec => below(stage.plan)
      case p => p +: (p.children ++ p.innerChildren.collect { case c: SparkPlan => c }).flatMap(below)
    }
    below(df.queryExecution.executedPlan)
  }

  def curveSorts(df: DataFrame): Seq[ZOrderSortExec] = operators(df).collect { case z: ZOrderSortExec => z }

  /** The rows of each partition, as they come. */
  def partitions(df: DataFrame): Seq[Seq[Row]] =
    df.rdd.mapPartitions(rows => Iterator(rows.map(_.copy()).toVector)).collect().toSeq

  /**
   * Sorts within partitions and checks that each holds its rows in the order of `keys`, which are compared
   * as Spark compares them after the sort, as columns; and that the rows are those of before.
   *
   * @param df
   *   with a column `id` that tells its rows apart
   */
  def checkSorted(df: DataFrame, order: Seq[Column], keys: Seq[(String, Boolean)]): DataFrame = {
    val sorted = df.sortWithinPartitions(order: _*)
    val whole = xxhash64(df.columns.toSeq.map(c => df(c)): _*)
    val found = sorted.select(Seq(df("id"), whole) ++ keys.map { case (sql, _) => expr(sql) }: _*)
    assert(curveSorts(found).length === 1, found.queryExecution.executedPlan)
    val parts = partitions(found)
    for (rows <- parts; (a, b) <- rows.zip(rows.drop(1))) {
      val signs = keys.indices.map { i =>
        val sign = SortFixture.compare(a.get(2 + i), b.get(2 + i))
        if (keys(i)._2) sign else -sign
      }
      if (signs.find(_ != 0).exists(_ > 0)) fail(s"$order: row ${a.get(0)} before row ${b.get(0)}")
    }
    def row(r: Row): (Any, Long) = (r.get(0), r.getLong(1))
    val before = df.select(df("id"), whole).collect().map(row)
    assert(parts.map(_.length).sum === before.length && parts.flatten.map(row).toSet === before.toSet)
    sorted
  }
}

object SortFixture {

  /** NULL first; byte strings as unsigned bytes; NaN greatest. */
  def compare(a: Any, b: Any): Int = (a, b) match {
    case (null, null) => 0
    case (null, _) => -1
    case (_, null) => 1
    case (x: Array[Byte], y: Array[Byte]) => NormalizedBytes.compareBytes(x, y)
    case (x, y) => Integer.signum(x.asInstanceOf[Comparable[Any]].compareTo(y))
  }
}
