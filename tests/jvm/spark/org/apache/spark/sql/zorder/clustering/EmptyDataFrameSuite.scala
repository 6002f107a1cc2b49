package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.mark.SameOnAllLines

/** Layouts of DataFrames without rows, of one row, of NULLs. */
@SameOnAllLines
class EmptyDataFrameSuite extends AnyFunSuite with RunFixture {

  test("a DataFrame without rows is one empty file; there is no layout to fit on it") {
    val some = numbers(2000)
    val frames = Seq(
      some.where("id < 0"),
      some.limit(0),
      spark.createDataFrame(
        new java.util.ArrayList[org.apache.spark.sql.Row],
        some.schema),
      some.where("id < 0").repartition(3))
    for (empty <- frames) withTempDir { dir =>
      val laid = ClusterDataFrame.cluster(empty, Seq("a", "b"), 8)
      assert(laid.schema === empty.schema && laid.count() === 0 && laid.rdd.getNumPartitions <= 1)
      laid.write.parquet(dir.resolve("t").toString)
      assert(read(dir.resolve("t")).columns.toSeq === some.columns.toSeq)
      assert(dataFiles(dir.resolve("t")).size === 1)
      val sentence = intercept[ZOrderException](ClusterDataFrame.fit(empty, Seq("a", "b"), 8)).getMessage
      assert(sentence.contains("has no rows") && !sentence.contains('\n'))
    }
    // what is wrong with the list is said all the same
    assert(intercept[ZOrderException](ClusterDataFrame.cluster(some.limit(0), Seq("aa"), 8)).getMessage
      .contains("no column aa"))
  }

  test("one row, and columns of NULLs") {
    val one = numbers(1)
    assert(ClusterDataFrame.cluster(one, Seq("a", "b"), 8).count() === 1)
    val nulls = numbers(100).selectExpr("id", "cast(null as int) n")
    assert(ClusterDataFrame.cluster(nulls, Seq("n"), 4).count() === 100)
  }
}
