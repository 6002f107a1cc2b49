package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.functions.col
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Columns that a table is not clustered by, and that its files skip by today. */
@SameOnAllLines
class WatchedColumnsSuite extends AnyFunSuite with RunFixture {
  private val small = "WITH (fileCount = 16, pageRowLimit = 500)"

  /** 16 files in the order of t; a and b are in none; u rises with t. */
  private def arrived: DataFrame = numbers(40000).selectExpr(
    "timestamp_seconds(1600000000 + id) t",
    "a",
    "b",
    "named_struct('u', id div 100) s").repartitionByRange(16, col("t"))

  private def others(row: Row): Map[String, Row] = names(row, "others").zip(list(row, "others")).toMap

  private def files(other: Row, what: String): Double = other.getAs[Row]("files").getAs[Double](what)

  test("a table in the order of time: what its time column loses is told before") {
    inOrderOfTime { path =>
      val (dry, jobs) = JobWatch(spark)(zorder(path, s"BY (a, b) $small DRY RUN"))
      assert(jobs.reads.length === 1)
      assert(others(dry).keySet === Set("t", "s.u"))
      val t = others(dry)("t")
      assert(math.abs(files(t, "now") - 1 / 16.0) < 0.01 && files(t, "forecast") > 0.95, t)
      assert(t.getAs[String]("verdict") === "GETS WORSE" && files(t, "bound") < 0.45)
      // sixteen files by three columns: two or four slices of each
      assert(t.getAs[Double]("as_one_more_column") < 0.6 && t.getAs[Double]("as_one_more_column") > 0.2)
      assert(reason(dry).contains("GETS WORSE") && reason(dry).contains("look-ups by t read 6."))
    }
  }

  private def inOrderOfTime(body: Path => Unit): Unit = withTempDir { dir =>
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      val path = dir.resolve("t")
      arrived.write.parquet(path.toString)
      body(path)
    }
  }

  test("a table in the order of time: what its time column loses is measured after", LongTest) {
    inOrderOfTime { path =>
      val t = others(zorder(path, s"BY (a, b) $small DRY RUN"))("t")
      val (row, watch) = JobWatch(spark)(done(zorder(path, s"BY (a, b) $small")))
      assert(watch.reads.map(_._1.split(": ").last) === Seq("sample", "rewrite"), watch.jobs)
      // so few that the driver reads them
      assert(watch.ofFooters.isEmpty)
      val after = others(row)("t")
      assert(math.abs(files(after, "measured") - shareRead(read(path), "t")) < 0.01)
      assert(math.abs(files(after, "measured") - files(after, "forecast")) < 0.05)
      val with3 = done(zorder(path, s"BY (a, b, t) $small INTO '${path.resolveSibling("c")}'"))
      assert(math.abs(share(with3, 2, "files", "measured") - t.getAs[Double]("as_one_more_column")) < 0.1)
      assert(list(with3, "others").isEmpty)
    }
  }

  test("a log that asks for time: the run is refused, forced it is done and told", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).selectExpr("id t", "a", "b").repartitionByRange(16, col("t"))
        .write.parquet(path.toString)
      logOf(
        "recent",
        path,
        (0 until 20).map(i => s"t > ${i * 2000}") ++ (0 until 5).map(i => s"a = ${i * 100}"))
      val row = zorder(path, "BY (a, b) WITH (fileCount = 16, queryLog = 'recent')")
      assert(status(row) === "NO_GAIN", reason(row))
      assert(reason(row).startsWith("The queries of the log as a whole would get worse"), reason(row))
      assert(queries(row) === Seq("t >= ?", "a = ?"))
      val forced = done(zorder(path, "BY (a, b) WITH (fileCount = 16, queryLog = 'recent', force = true)"))
      val asked = list(forced, "queries").head.getAs[Row]("files")
      assert(asked.getAs[Double]("now") < 0.6 && asked.getAs[Double]("measured") > 0.95)
    }
  }
}
