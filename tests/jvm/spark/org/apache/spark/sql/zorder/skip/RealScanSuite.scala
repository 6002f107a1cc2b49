package org.apache.spark.sql.zorder.skip

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.zorder.{SameOnAllLines, ZOrderSession}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.scan.SkippingUsage

/** Filters at random through real scans of real files, with and without skipping: the answers are the same. */
@SameOnAllLines
class RealScanSuite extends AnyFunSuite with ZOrderSession {
  private val queries = 40

  test("filters at random give the same rows with skipping and without, and some files are skipped") {
    withTempDir { dir =>
      val before = pruned()
      (0 until 4).foreach { seed =>
        val random = new RandomFilters(1000L + seed)
        val path = dir.resolve(s"t$seed")
        withConf(
          "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS",
          "spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED") {
          (0 until 6).foreach(_ =>
            rows(random, random.nextInt(6)).coalesce(1).write.mode("append").parquet(path.toString))
        }
        Files.walk(path).filter(_.toString.endsWith(".parquet")).forEach { f =>
          f.toFile.setLastModified(System.currentTimeMillis() - 3600000)
          ()
        }
        spark.sql(s"ZORDER INDEX '$path'")
        (0 until queries / 4).foreach { _ =>
          val filter = random.filter()
          val skipping = count(path, filter)
          val reading = withConf("spark.zorder.skipping.enabled" -> "false")(count(path, filter))
          assert(skipping === reading, s"seed $seed: $filter")
        }
      }
      assert(pruned() > before)
    }
  }

  private def pruned(): Long = SkippingUsage.tables.map(_.pruned).sum

  private def rows(random: RandomFilters, n: Int): DataFrame =
    Shims.ofRows(Shims.classic(spark), LocalRelation(random.columns, Seq.fill(n)(random.row())))

  private def count(path: Path, filter: Expression): Long = {
    val plan = spark.read.parquet(path.toString).queryExecution.analyzed
    val on = filter.transform { case a: AttributeReference => plan.output.find(_.name == a.name).get }
    Shims.ofRows(Shims.classic(spark), Filter(on, plan)).count()
  }
}
