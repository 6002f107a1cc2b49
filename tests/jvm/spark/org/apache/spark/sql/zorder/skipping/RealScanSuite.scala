package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/**
 * Filters at random through real scans of real files, with and without skipping: the answers are the same. Tables are
 * plain, partitioned, or evolved: files lack columns or have them in another order.
 */
@SameOnAllLines
class RealScanSuite extends AnyFunSuite with SkippedScans {
  private var valueFiles = 0L

  // six seeds have all kinds of tables and of indexes
  test("48 filters at random give the same rows with skipping and without")(scans(0 until 6, each = 8))

  test(
    "2,850 filters at random give the same rows with skipping and without",
    LongTest)(scans(6 until 120, each = 25))

  private def scans(seeds: Seq[Int], each: Int): Unit = {
    val before = pruned()
    // many small queries: compiling each costs more than running it
    withConf(
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.codegen.factoryMode" -> "NO_CODEGEN",
      "spark.sql.adaptive.enabled" -> "false",
      "spark.sql.files.minPartitionNum" -> "1",
      "spark.sql.parquet.mergeSchema" -> "true",
      "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS",
      "spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED") {
      seeds.foreach(seed => withTempDir(dir => scan(seed, each, dir.resolve("t"))))
    }
    assert(pruned() > before && valueFiles > seeds.length)
  }

  private def scan(seed: Int, each: Int, path: Path): Unit = {
    val random = new RandomFilters(1000L + seed)
    // dictionaries are for values that come again and again
    write(random, path, seed % 3, if (seed % 4 == 2) 20 else 1)
    seed % 4 match {
      case 0 => index(path)
      case 2 => indexWith(path, "values = 'i, d, s, t, n, x'")
      case _ => indexWith(path, "bloom = 'i, s, t, n, x', bloomBudget = '900%'")
    }
    valueFiles += spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[Long]("value_files")).sum
    val all = random.columns.foldLeft(new StructType())((s, c) => s.add(c.name, c.dataType)).add("p", "int")
    val table = spark.read.schema(if (seed % 3 == 1) all else StructType(all.init)).parquet(path.toString)
    (0 until each).foreach { _ =>
      val filter = random.filter()
      val skipping = count(table, filter)
      val reading = withConf("spark.zorder.skipping.enabled" -> "false")(count(table, filter))
      assert(skipping === reading, s"seed $seed: $filter")
    }
  }

  private def write(random: RandomFilters, path: Path, kind: Int, times: Int): Unit =
    (0 until 6).foreach { i =>
      val made = rows(random, random.nextInt(6), times).coalesce(1)
      kind match {
        case 0 => made.write.mode("append").parquet(path.toString)
        case 1 =>
          made.selectExpr("*", s"${i % 2} AS p").write.mode("append").partitionBy("p").parquet(path.toString)
        case _ =>
          // the first file has every column, as a reader needs one that says what types they have
          val names = made.columns.toSeq
          val kept = if (i == 0) names else names.filterNot(_ => random.nextInt(4) == 0)
          val written = if (kept.isEmpty) names else kept.reverse
          made.select(written.map(made(_)): _*).write.mode("append").parquet(path.toString)
      }
    }

  private def pruned(): Long = SkippedScans.usage.map(_.pruned).sum

  private def rows(random: RandomFilters, n: Int, times: Int): DataFrame = {
    val made = Seq.fill(n)(random.row())
    Shims.ofRows(Shims.classic(spark), LocalRelation(random.columns, Seq.fill(times)(made).flatten))
  }

  private def count(table: DataFrame, filter: Expression): Long = {
    val plan = table.queryExecution.analyzed
    val on = filter.transform { case a: AttributeReference => plan.output.find(_.name == a.name).get }
    // without an aggregate: one stage a query
    Shims.ofRows(Shims.classic(spark), Filter(on, plan)).queryExecution.toRdd.count()
  }
}
