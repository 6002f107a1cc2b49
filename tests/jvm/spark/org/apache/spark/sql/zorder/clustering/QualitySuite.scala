package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import sparkzorder.mark.LongTest

/** Share read against the bound, on the kinds of data that spoil other layouts. */
@LongTest
class QualitySuite extends AnyFunSuite with RunFixture {
  private val rows = 200000L

  private val pairs =
    Seq("small, wide", "eight, wide", "skewed, wide", "holes, wide", "url, day", "moment, amount")

  private def against(row: Row, level: String): Seq[Double] = {
    val columns = row.getSeq[Row](row.fieldIndex("columns")).indices
    columns.map(c => share(row, c, level, "measured") / share(row, c, level, "bound"))
  }

  test("64 files: each column within 1.15 of the bound, pages within 1.35; 50 files: mean within 1.12") {
    withTempDir { dir =>
      withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
        val path = dir.resolve("t")
        TableOfKinds(spark, rows).repartition(4).write.parquet(path.toString)
        val found = for (by <- pairs) yield {
          // Three pages a file, as a real table has. With 1000 rows a file of 3,125 leaves a remnant of 125,
          // and one page figure was 1.356 x the bound on Spark 3.5.
          val pages = "pageRowLimit = 1400, force = true"
          val copy = dir.resolve("c64_" + by.take(5))
          val r64 = done(zorder(path, s"BY ($by) WITH (fileCount = 64, $pages) INTO '$copy'"))
          val r50 = done(zorder(
            path,
            s"BY ($by) WITH (fileCount = 50, $pages) INTO '${dir.resolve("c50_" + by.take(5))}'"))
          val checked = by.split(", ").zipWithIndex.map { case (c, i) =>
            math.abs(share(r64, i, "files", "measured") - shareRead(read(copy), c))
          }
          (by, against(r64, "files"), against(r64, "pages"), against(r50, "files"), checked.max)
        }
        def text(x: Seq[Double]) = x.map(v => f"$v%.3f").mkString("[", ", ", "]")
        val said = found.map { case (by, f, p, f50, off) =>
          s"$by: files ${text(f)} pages ${text(p)} fifty ${text(f50)} off $off"
        }.mkString("\n")
        info(said)
        found.foreach { case (by, f64, p64, f50, off) =>
          assert(off < 0.005, by)
          // with many NULLs, layouts read less than the bound of independent columns: that of the densest boxes takes its
          // place, which is below what can be reached (ADR 44)
          val (each, mean) = if (by.contains("holes")) (1.35, 1.2) else (1.15, 1.12)
          assert(f64.max <= each, said)
          assert(p64.max <= 1.35, said)
          assert(f50.sum / f50.length <= mean && f50.max <= 1.35, said)
        }
      }
    }
  }
}
