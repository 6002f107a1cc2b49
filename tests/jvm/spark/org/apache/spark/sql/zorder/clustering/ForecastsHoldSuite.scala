package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import sparkzorder.mark.LongTest

/** Runs with tables, columns and options at random: what is forecast is what is measured, in the worst of them. */
@LongTest
class ForecastsHoldSuite extends AnyFunSuite with RunFixture {
  private val columns =
    Seq("small", "wide", "eight", "skewed", "holes", "url", "day", "moment", "amount", "near", "month")
  private val most = Seq("files" -> 0.05, "row_groups" -> 0.08, "pages" -> 0.08)

  /** Independent columns of all kinds, and two that depend on others. */
  private def tables(dir: Path): Seq[Path] = Seq(60000L, 130000L, 250000L).map { rows =>
    val path = dir.resolve(s"of-$rows")
    TableOfKinds(spark, rows)
      .selectExpr("*", "wide + small * 20 as near", "cast(date_trunc('month', moment) as date) as month")
      .repartition(4).write.parquet(path.toString)
    path
  }

  private def clause(random: Random): (Int, String) = {
    val by = random.shuffle(columns).take(1 + random.nextInt(4))
    val files = 2 + random.nextInt(60)
    val pageRows = Seq(500, 1000, 2000, 20000)(random.nextInt(4))
    val curve = Seq("auto", "auto", "zorder", "hilbert", "tree")(random.nextInt(5))
    val rowGroups = if (random.nextInt(3) == 0) s", rowGroupSize = '${64 << random.nextInt(4)}k'" else ""
    (
      by.length,
      s"BY (${by.mkString(", ")}) USING CURVE $curve " +
        s"WITH (fileCount = $files, pageRowLimit = $pageRows$rowGroups, force = true, timestampType = 'micros')")
  }

  /** By how much the mean look-up of the clustering columns was forecast too high or too low. */
  private def off(row: Row, by: Int, level: String): Double = {
    def mean(what: String) = (0 until by).map(share(row, _, level, what)).sum
    mean("forecast") / mean("measured") - 1.0
  }

  test(
    "60 runs: the worst forecast is within 5 % of what is measured for files, 8 % for row groups and pages") {
    withTempDir { dir =>
      val from = tables(dir)
      val random = new Random(60)
      val found = (0 until 60).map { i =>
        val (by, text) = clause(random)
        val table = from(random.nextInt(from.length))
        val row = done(one(s"ZORDER TABLE '$table' $text INTO '${dir.resolve(s"c$i")}'"))
        (s"${table.getFileName} $text", most.map { case (level, _) => off(row, by, level) })
      }
      most.indices.foreach { l =>
        val sorted = found.map { case (text, offs) => (math.abs(offs(l)), offs(l), text) }.sortBy(-_._1)
        info(f"${most(l)._1}: worst ${100 * sorted.head._2}%.1f %%, " +
          f"mean ${100 * sorted.map(_._1).sum / sorted.length}%.1f %%; ${sorted.head._3}")
      }
      for ((text, offs) <- found; l <- most.indices)
        assert(math.abs(offs(l)) <= most(l)._2, s"${most(l)._1}: $text")
    }
  }
}
