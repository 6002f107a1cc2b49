package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Predicates and other expressions as clustering columns. */
@SameOnAllLines
class ExpressionColumnsSuite extends AnyFunSuite with RunFixture {
  private val by = "BY (a, b, status = 'OPEN')"
  private val small = "fileCount = 16, pageRowLimit = 500"

  /** One row in ten is OPEN. */
  private def orders(n: Long): DataFrame = numbers(n).selectExpr(
    "*",
    "elt(1 + cast(pmod(hash(id, 9), 10) as int), 'OPEN', 'DONE', 'DONE', 'DONE', 'DONE', 'LOST', 'LOST', 'LOST', " +
      "'LOST', 'LOST') status")

  test("a predicate is a dimension: cells of its own, judged by the statistics of its column", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      orders(40000).repartition(4).write.parquet(path.toString)
      logOf(
        "open",
        path,
        (0 until 20).flatMap(i => Seq("status = 'OPEN'", s"a = ${i * 50}", s"b < ${i * 50000}")))
      val row = done(keepsRows(path)(zorder(path, s"$by WITH ($small, queryLog = 'open')")))
      val open = list(row, "queries").find(_.getAs[String]("query") == "status = ?").get.getAs[Row]("files")
      assert(open.getAs[Double]("now") === 1.0)
      assert(open.getAs[Double]("measured") < 0.3, open)
      assert(math.abs(open.getAs[Double]("forecast") / open.getAs[Double]("measured") - 1) < 0.1, open)
      assert(names(row, "columns") === Seq("a", "b", "status = 'OPEN'"))
      val predicate = list(row, "columns")(2).getAs[Row]("files")
      Seq("now", "measured").foreach(what => assert(predicate.isNullAt(predicate.fieldIndex(what)), what))
      // the files by what is in them, by nobody's statistics but their own
      val holding = read(path).selectExpr("input_file_name() f", "status = 'OPEN' o").distinct()
        .groupBy("f").count().where("count = 2").count()
      assert(holding === 0)
      assert(names(row, "others") === Seq("status"))
      assert(status(zorder(path, s"$by WITH ($small, queryLog = 'open')")) === "NOTHING_TO_DO")
    }
  }

  test("zorder_file over the stored layout says where rows are") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      orders(20000).repartition(4).write.parquet(path.toString)
      done(zorder(path, s"$by WITH ($small)"))
      val files =
        read(path).selectExpr("input_file_name() f", s"zorder_file('path:$path', a, b, status = 'OPEN') n")
      assert(files.distinct().count() === 16 && files.select("n").distinct().count() === 16)
      val layout = spark.sql(s"SELECT * FROM zorder_history('$path')")
      assert(layout.count() === 1)
    }
  }

  test("expressions alone: the year of a day", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      orders(20000).repartition(4).write.parquet(path.toString)
      val row = done(keepsRows(path)(zorder(path, "BY (year(d), a) WITH (fileCount = 8)")))
      val day = list(row, "others").find(_.getAs[String]("name") == "d").get
      assert(day.getAs[String]("verdict") === "GETS BETTER")
      assert(math.abs(day.getAs[Row]("files").getAs[Double]("measured") - shareRead(read(path), "d")) < 0.02)
    }
  }
}
