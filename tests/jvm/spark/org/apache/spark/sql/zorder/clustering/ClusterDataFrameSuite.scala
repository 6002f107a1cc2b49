package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.{col, upper}
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.clustering.plan.DataFrameFiles
import org.apache.spark.sql.zorder.sql.PythonBridge
import sparkzorder.mark.SameOnAllLines

/** What Python's `cluster` and `fit` ask of the JVM: columns by name or as `Column`, and how many files. */
@SameOnAllLines
class ClusterDataFrameSuite extends AnyFunSuite with ZOrderSession {

  private def frame(rows: Long): DataFrame =
    spark.range(0, rows, 1, 2).selectExpr("id AS a", "hash(id) AS b", "named_struct('x.y', id % 7) AS s")

  private def refused(body: => Any): String = intercept[ZOrderException](body).condition

  test("columns by name and as Column are the same") {
    val df = frame(1000)
    val byName = PythonBridge.fit(df, Array("`a`", "`s`.`x.y`"), 4)
    assert(PythonBridge.fit(df, Array(df("a"), col("s.`x.y`")), 4) == byName)
    assert(PythonBridge.fit(df, Array("a", df("s")("x.y").as("renamed")), 4) == byName)
    assert(PythonBridge.cluster(df, Array(col("a"), "b"), 4).rdd.getNumPartitions == 4)
  }

  test("a column that is not there, and an expression") {
    assert(refused(PythonBridge.cluster(
      frame(9),
      Array(col("nosuch")),
      2)) == "ZORDER_COLUMN_NOT_FOUND.IN_DATAFRAME")
    assert(refused(PythonBridge.cluster(
      frame(9),
      Array(upper(col("a"))),
      2)) == "ZORDER_INVALID_COLUMNS.EXPRESSION")
  }

  test("the shuffle below a DataFrame runs once, to be counted and sampled") {
    withConf("spark.sql.adaptive.enabled" -> "true") {
      val df = frame(1000).selectExpr("a % 100 AS a").groupBy("a").count().toDF("a", "n")
      val (_, watch) = JobWatch(spark)(PythonBridge.fit(df, Array("a", "n"), 4))
      // one job for the stage before the shuffle, one for the sample
      assert(watch.jobs.length === 2, watch.jobs)
    }
  }

  test("without a number, as many files as a run would make of the size that Spark knows") {
    // 72 MB as Spark counts it, 8 MiB a file
    val df = spark.range(0, 6000000).selectExpr("id AS a", "id AS b")
    assert(DataFrameFiles.of(df) == 8)
    assert(DataFrameFiles.of(df.join(df.toDF("c", "d"), col("a") === col("d"))) == 16)
    assert(DataFrameFiles.of(spark.range(5).toDF("a")) == 1)
    withConf("spark.zorder.targetFileSize" -> "16m")(assert(DataFrameFiles.of(df) == 4))
    withConf("spark.zorder.fileCount" -> "5")(assert(DataFrameFiles.of(df) == 5))
  }

  test("rows of an RDD have no size: as many files as a shuffle has partitions") {
    val rows = spark.sparkContext.parallelize(Seq(Row(1L), Row(2L)))
    val df = spark.createDataFrame(rows, frame(1).select("a").schema)
    assert(DataFrameFiles.of(df) == 4)
    assert(PythonBridge.cluster(df, Array("a"), 0).collect().length == 2)
  }
}
