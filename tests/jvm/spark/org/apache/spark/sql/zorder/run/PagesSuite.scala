package org.apache.spark.sql.zorder.run

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.zorder.sort.SortFixture

/** The rows of a file are cut where its writer ends pages. */
class PagesSuite extends AnyFunSuite with RunFixture with SortFixture {
  private val rows = 64000L

  private def run(path: Path, more: String = ""): Row =
    keepsRows(path)(done(zorder(path, s"FULL BY (b, id) WITH (fileCount = 16, pageRowLimit = 500$more)")))

  private def overBound(row: Row): Double = mean(row, "measured") / mean(row, "bound")

  private def mean(row: Row, what: String): Double =
    (share(row, 0, "pages", what) + share(row, 1, "pages", what)) / 2

  private def withTable(body: Path => Unit): Unit = withTempDir { dir =>
    val path = dir.resolve("t")
    numbers(rows).selectExpr("pmod(xxhash64(id, 9), 1000000) id", "a", "b", "s", "d").repartition(4)
      .write.parquet(path.toString)
    body(path)
  }

  test("pages are near the bound, as forecast, and a look-up reads what is measured") {
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

  test("without, and where a task spills or a file has several row groups, the rows follow the curve") {
    withTable { path =>
      withConf("spark.zorder.pages.enabled" -> "false") {
        val row = run(path)
        assert(overBound(row) > 1.12)
        assert(math.abs(mean(row, "forecast") / mean(row, "measured") - 1) < 0.08)
      }
      spillingEvery(1000)(assert(overBound(run(path, ", force = true")) > 1.12))
      val small = run(path, ", force = true, rowGroupSize = '64k'")
      assert(metric[Long](small, "rowGroups") > 16 && overBound(small) > 1.12)
    }
  }

  test("pages have even sizes where every file has as many") {
    withTable { path =>
      val row = done(zorder(path, "BY (b, id) WITH (fileCount = 16, pageRowLimit = 3000)"))
      assert(metric[Long](row, "pages") <= 40)
      assert(overBound(row) < 1.15)
    }
  }

  test("row groups are forecast as the writer ends them: by compressed pages and a raw one") {
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
