package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.zorder.clustering.sort.SortFixture
import org.apache.spark.sql.zorder.table.file.RowGroupLimit
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** The rows of a file are cut where its writer ends pages. */
class PagesSuite extends AnyFunSuite with RunFixture with SortFixture {
  private val rows = 64000L

  private def run(path: Path, more: String = "", files: Int = 16): Row =
    keepsRows(path)(done(zorder(path, s"FULL BY (b, id) WITH (fileCount = $files, pageRowLimit = 500$more)")))

  private def overBound(row: Row): Double = mean(row, "measured") / mean(row, "bound")

  private def mean(row: Row, what: String): Double =
    (share(row, 0, "pages", what) + share(row, 1, "pages", what)) / 2

  private def withTable(body: Path => Unit): Unit = withTempDir { dir =>
    val path = dir.resolve("t")
    numbers(rows).selectExpr("pmod(xxhash64(id, 9), 1000000) id", "a", "b", "s", "d").repartition(4)
      .write.parquet(path.toString)
    body(path)
  }

  test("pages are near the bound, as forecast, and a look-up reads what is measured", LongTest) {
    withTable { path =>
      val row = run(path)
      assert(overBound(row) < 1.12)
      assert(math.abs(mean(row, "forecast") / mean(row, "measured") - 1) < 0.08)
      val read = Seq("b", "id").flatMap { column =>
        this.read(path).select(column).limit(500).collect().grouped(100).map(_.head.getLong(0)).map { value =>
          val query = this.read(path).where(s"$column = $value")
          query.collect()
          operators(query).collectFirst { case s: FileSourceScanExec => s.metrics("numOutputRows").value }.get
        }
      }
      val found = read.sum.toDouble / read.length / rows
      assert(math.abs(found / mean(row, "measured") - 1) < 0.2)
    }
  }

  test("without, the rows follow the curve", LongTest) {
    withTable { path =>
      withConf("spark.zorder.pages.enabled" -> "false") {
        val row = run(path)
        assert(overBound(row) > 1.12)
        assert(math.abs(mean(row, "forecast") / mean(row, "measured") - 1) < 0.08)
      }
    }
  }

  // 4,000 rows a file, in four parts
  test("a task that spills cuts the same pages", SameOnAllLines)(spilling(1000, files = 16))

  test("a task that spills when its last row is there cuts the same pages", LongTest)(
    spilling(rows.toInt, files = 1))

  private def spilling(every: Int, files: Int): Unit = {
    withTable { path =>
      val row = spillingEvery(every)(run(path, ", force = true", files))
      assert(overBound(row) < 1.12)
      assert(math.abs(mean(row, "forecast") / mean(row, "measured") - 1) < 0.08)
    }
  }

  test(
    "a file of several row groups, where the writer counts their rows; else the rows follow the curve",
    SameOnAllLines) {
    withTable { path =>
      val options = ", force = true, rowGroupSize = '64k'"
      if (RowGroupLimit.supported) {
        val row = run(path, options, files = 4)
        val curve = withConf("spark.zorder.pages.enabled" -> "false")(run(path, options, files = 4))
        assert(metric[Long](row, "rowGroups") % 4 == 0 && metric[Long](row, "rowGroups") > 4)
        assert(mean(row, "measured") < 0.95 * mean(curve, "measured"))
        for (level <- Seq("pages", "row_groups")) {
          def both(what: String) = share(row, 0, level, what) + share(row, 1, level, what)
          assert(math.abs(both("forecast") / both("measured") - 1) < 0.08, level)
        }
      } else {
        val row = run(path, options)
        assert(metric[Long](row, "rowGroups") > 16 && overBound(row) > 1.12)
        // and the reason says how large row groups have to be
        val advised = "rowGroupSize = '(\\d+)m'".r.findFirstMatchIn(reason(row)).get.group(1)
        val one = run(path, s", force = true, rowGroupSize = '${advised}m'")
        assert(metric[Long](
          one,
          "rowGroups") === 16 && overBound(one) < 1.12 && !reason(one).contains("row group"))
      }
    }
  }

  test("pages have even sizes where every file has as many", LongTest) {
    withTable { path =>
      val row = done(zorder(path, "BY (b, id) WITH (fileCount = 16, pageRowLimit = 3000)"))
      assert(metric[Long](row, "pages") <= 40)
      assert(overBound(row) < 1.15)
    }
  }

  test("pages have the rows that are planned for them, whatever page size the session sets", SameOnAllLines) {
    withTable { path =>
      withConf("parquet.page.size" -> "65536") {
        // two of 16,000 rows a file: of eight bytes, where the setting would end one after 8,192
        val row = done(zorder(path, "FULL BY (b, id) WITH (fileCount = 2)"))
        assert(metric[Long](row, "pages") <= 6)
      }
    }
  }

  test("row groups are forecast as the writer ends them: by compressed pages and a raw one", LongTest) {
    withTable { path =>
      for (size <- Seq("300k", "240k", "180k")) {
        val options = s"WITH (fileCount = 2, pageRowLimit = 2000, rowGroupSize = '$size', force = true)"
        val row = done(zorder(path, s"FULL BY (b, id) $options"))
        assert(metric[Long](row, "rowGroups") >= 4)
        for (c <- 0 to 1) {
          def read(what: String) = share(row, c, "row_groups", what)
          assert(math.abs(read("forecast") / read("measured") - 1) < 0.08, s"$size, column $c")
        }
      }
    }
  }
}
