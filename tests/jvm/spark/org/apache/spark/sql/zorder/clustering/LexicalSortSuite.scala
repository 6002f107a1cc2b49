package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.clustering.sort.SortFixture
import sparkzorder.mark.SameOnAllLines

/** Sorts by columns of many values, of which a layout gives some thousand one rank each. */
@SameOnAllLines
class LexicalSortSuite extends AnyFunSuite with RunFixture {

  private def sort(path: Path, by: Seq[String], options: String): Unit = {
    done(zorder(path, s"FULL BY (${by.mkString(", ")}) USING CURVE lexical WITH ($options)"))
    for (file <- dataFiles(path).keys) {
      val rows = spark.read.parquet(path.resolve(file).toString).select(by.map(col(_)): _*).collect()
      val unsorted = rows.zip(rows.drop(1)).find { case (x, y) =>
        by.indices.map(c => SortFixture.compare(x.get(c), y.get(c))).find(_ != 0).exists(_ > 0)
      }
      assert(rows.nonEmpty && unsorted.isEmpty, s"$by in $file")
    }
  }

  private def nulled(value: String, name: String): String = s"if(id % 50 = 0, null, $value) AS $name"

  test("rows of a file are sorted by strings, binary values and long decimals, and by what follows") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).selectExpr(
        "a",
        nulled("s", "s"),
        nulled("cast(s as binary)", "x"),
        nulled("cast(b as decimal(30, 2))", "n")).repartition(3).write.parquet(path.toString)
      for (c <- Seq("s", "x", "n")) {
        sort(path, Seq(c, "a"), "fileCount = 2")
        sort(path, Seq("a", c), "fileCount = 2")
      }
    }
  }

  test("in each partition, too") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).selectExpr("a", "s", "id % 3 AS p").repartition(2).write.partitionBy("p")
        .parquet(path.toString)
      sort(path, Seq("s", "a"), "fileCount = 2")
    }
  }

  test("a forecast knows that the pages of a sort have no value in common but at their ends") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(64000).selectExpr("s", "b").repartition(4).write.parquet(path.toString)
      // three bins of the layout a page
      val options = "WITH (fileCount = 4, pageRowLimit = 200)"
      val row = done(zorder(path, s"FULL BY (s, b) USING CURVE lexical $options"))
      val (forecast, measured) = (share(row, 0, "pages", "forecast"), share(row, 0, "pages", "measured"))
      // of 320 pages, most of the values are in one alone
      assert(measured < 1.2 / 320 && math.abs(forecast / measured - 1) < 0.1)
    }
  }
}
