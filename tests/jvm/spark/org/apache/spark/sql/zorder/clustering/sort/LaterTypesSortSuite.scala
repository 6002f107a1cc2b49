package org.apache.spark.sql.zorder.clustering.sort

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.expr

/** Types that only later Spark lines have: their sort is in the order of the BINARY key, too. */
class LaterTypesSortSuite extends AnyFunSuite with SortFixture {
  private val rows = 3000L

  /** NULLs and equal values in each column; an INT to sort beside. */
  private def check(column: String): Unit = {
    val df = spark.range(0, rows, 1, 1).selectExpr(
      "id",
      "cast(pmod(xxhash64(id, 1), 700) as int) i",
      s"CASE WHEN id % 11 = 3 THEN NULL ELSE $column END v").localCheckpoint()
    for (key <- Seq("zorder(v)", "zorder(i, v)", "hilbert(v, i)")) {
      checkSorted(df, Seq(expr(key)), Seq(key -> true))
      checkSorted(df, Seq(expr(key).desc), Seq(key -> false))
    }
    spillingEvery(500)(checkSorted(df, Seq(expr("zorder(v, i)")), Seq("zorder(v, i)" -> true)))
  }

  test("TIME (Spark 4.1)") {
    assume(spark.version >= "4.1", "TIME exists from Spark 4.1 on")
    withConf("spark.sql.timeType.enabled" -> "true") {
      check("cast(make_time(cast(id % 24 as int), 2, cast(id % 59 as decimal(16, 6))) as time(6))")
    }
  }

  for (collation <- Seq("UTF8_LCASE", "UNICODE", "UNICODE_CI"))
    test(s"strings of collation $collation (Spark 4)") {
      assume(spark.version >= "4", "Spark 3.5 has no collations")
      check(s"if(id % 2 = 0, 'Row ', 'row ') || cast(id % 500 as string) COLLATE $collation")
    }

  test("a lower-case collation: strings that it takes for equal stay side by side, by the next order") {
    assume(spark.version >= "4", "Spark 3.5 has no collations")
    val sorted = spark.range(0, 200, 1, 1)
      .selectExpr("id", "if(id % 2 = 0, 'A', 'a') COLLATE UTF8_LCASE v")
      .sortWithinPartitions(expr("zorder(v)"), expr("id"))
    assert(curveSorts(sorted).length === 1)
    assert(sorted.collect().map(_.getLong(0)).toSeq === (0L until 200L))
  }
}
