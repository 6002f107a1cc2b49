package org.apache.spark.sql.zorder.insight.audit

import java.nio.file.Path

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.{FileSourceScanExec, LocalTableScanExec}
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.clustering.RunFixture
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** What a filter reads by the audit is what Spark's own scan reads, row for row. */
class FilterAuditSuite extends AnyFunSuite with RunFixture {

  private def audit(path: Path, filter: String): Map[String, Row] =
    spark.sql(s"""SELECT * FROM clustering_where('$path', "$filter")""").collect()
      .map(r => r.getAs[String]("level") -> r).toMap

  private def audited(level: Row): Long = level.getAs[Long]("read_rows")

  /** Files of several row groups of several pages; the pages of the columns do not end at the same rows. */
  private def table(path: Path): Unit =
    numbers(24000)
      .selectExpr("id", "if(a % 10 = 0, NULL, a) a", "b", "s", "d", "cast(b AS decimal(12, 2)) / 100 c")
      .repartitionByRange(4, col("a"))
      .sortWithinPartitions("d", "b")
      .write
      .option("parquet.block.size", 64 * 1024)
      .option("parquet.block.size.row.check.min", 100)
      .option("parquet.page.size", 2048)
      .option("parquet.page.row.count.limit", 300)
      .parquet(path.toString)

  /** Rows that the scan hands on: of pages that it could not skip. Spark 4.1 scans nothing for `a < 1 AND a > 2`. */
  private def rowsRead(path: Path, filter: String): Long = {
    val query = spark.read.parquet(path.toString).where(filter)
    query.collect()
    val plan = query.queryExecution.executedPlan
    plan.collectFirst {
      case s: FileSourceScanExec => s.metrics("numOutputRows").value
      case s: LocalTableScanExec if s.rows.isEmpty => 0L
    }.getOrElse(fail(s"no scan of files:\n$plan"))
  }

  private def comparison(random: Random): String = {
    def value(column: String): String = column match {
      case "a" => random.nextInt(1000).toString
      case "b" => random.nextInt(1000000).toString
      case "id" => random.nextInt(24000).toString
      case "s" => f"'customer/${random.nextInt(5000)}%08d'"
      case _ => s"date_add(date'2020-01-01', ${random.nextInt(900)})"
    }
    val column = Seq("a", "b", "id", "s", "d")(random.nextInt(5))
    random.nextInt(8) match {
      case 0 | 1 => s"$column = ${value(column)}"
      case 2 => s"$column < ${value(column)}"
      case 3 => s"$column >= ${value(column)}"
      case 4 =>
        val (x, y) = (value(column), value(column))
        s"$column BETWEEN least($x, $y) AND greatest($x, $y)"
      case 5 => s"$column IN (${value(column)}, ${value(column)}, ${value(column)})"
      case 6 => s"NOT $column <= ${value(column)}"
      case _ => if (random.nextBoolean()) "a IS NULL" else "a IS NOT NULL"
    }
  }

  private def filter(random: Random, depth: Int): String =
    if (depth == 0 || random.nextInt(3) == 0) comparison(random)
    else {
      val both = if (random.nextInt(3) == 0) "OR" else "AND"
      s"(${filter(random, depth - 1)} $both ${filter(random, depth - 1)})"
    }

  private def same(filters: Int): Unit = withTempDir { dir =>
    val path = dir.resolve("t")
    table(path)
    val random = new Random(18)
    // dictionaries and Bloom filters skip row groups that no statistics rule out
    withConf("parquet.filter.dictionary.enabled" -> "false", "parquet.filter.bloom.enabled" -> "false") {
      val found = (0 until filters).map { _ =>
        val text = filter(random, 2)
        val levels = audit(path, text)
        val page = audited(levels("page"))
        assert(page === rowsRead(path, text), text)
        assert(page <= audited(levels("row group")), text)
        page
      }
      // and not because all or nothing is read
      info(s"$filters filters: ${found.count(_ == 0)} read nothing, ${found.count(_ == 24000)} everything")
      assert(found.distinct.length > filters / 3)
      val pages = audit(path, "d = date'2021-05-05' OR id = 7")
      def total(level: String): Long = pages(level).getAs[Long]("total_count")
      assert(
        total("file") === 4 && total("row group") > 8 && total("page") > 100)
      assert(pages("page").getAs[Long]("read_count") < total("page"))
    }
  }

  test("pages of a filter are the rows that Spark's scan outputs: a dozen filters", SameOnAllLines)(same(12))

  test("pages of a filter are the rows that Spark's scan outputs: 100 filters", LongTest)(same(100))

  test("partitions, and what nothing is known of") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr(
        "id",
        "b",
        "id DIV 2000 p").repartition(2).write.partitionBy("p").parquet(path.toString)
      def rows(filter: String): Seq[Long] =
        Seq("file", "row group", "page").map(level => audited(audit(path, filter)(level)))
      assert(rows("p = 1") === Seq(2000, 2000, 2000))
      assert(rows("p = 1 AND id < 0") === Seq(0, 0, 0))
      assert(rows("abs(id) = 3") === Seq(4000, 4000, 4000))
      val refused = intercept[org.apache.spark.sql.AnalysisException](audit(path, "nope = 1")).getMessage
      assert(refused.contains("WHERE names a column nope that"), refused)
    }
  }

  test("a filter that cannot be parsed is refused in one line") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(10).write.parquet(path.toString)
      val refused = intercept[org.apache.spark.sql.AnalysisException](audit(path, "id = ")).getMessage
      assert(refused.contains("Syntax error") && !refused.trim.contains("\n"), refused)
    }
  }

  test("a partition column of type CHAR, whose directories have its blanks or not") {
    withTable("w_c") {
      spark.sql("CREATE TABLE w_c (id INT, p CHAR(5)) USING parquet PARTITIONED BY (p)")
      spark.sql("INSERT INTO w_c VALUES (1, 'x1'), (2, 'y2')")
      def read(filter: String): Long =
        spark.sql(s"""SELECT * FROM clustering_where('w_c', "$filter")""").head().getAs[Long]("read_count")
      def found(filter: String): Long = spark.table("w_c").where(filter).count()
      for (filter <- Seq("p = 'x1'", "p = 'x1  '", "p IN ('x1', 'z')", "p > 'x1'", "p = 'x'", "'y2   ' <= p"))
        assert(read(filter) === found(filter), filter)
    }
  }
}
