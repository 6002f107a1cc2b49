package org.apache.spark.sql.zorder.insight.audit

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.skipping.SkippedScans
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** What an audit says of logged queries is what these queries open. */
@SameOnAllLines
class QueryAuditSuite extends AnyFunSuite with RunFixture with SkippedScans {

  private def queries(path: Path, log: String): Map[String, Row] =
    spark.sql(s"SELECT * FROM clustering_queries('$path', '$log')").collect()
      .map(r => r.getAs[String]("query") -> r).toMap

  private def audited(path: Path, columns: String, log: String): Row =
    spark.sql(s"SELECT * FROM clustering_information('$path', '$columns', '$log')").collect().head

  private def double(row: Row, name: String): Double = row.getAs[Double](name)

  private def note(row: Row): String = row.getSeq[String](row.fieldIndex("notes")).last

  /** 16 days of four files of 100 rows each, whose c does not overlap. */
  private def days(path: Path): Unit =
    spark.range(0, 6400, 1, 4)
      .selectExpr("id % 16 day", "cast(id DIV 1600 * 25 + pmod(xxhash64(id), 25) AS int) c", "id v")
      .write.partitionBy("day").parquet(path.toString)

  private def filesOf(path: Path, filter: String): Long = {
    val query = spark.read.parquet(path.toString).where(filter)
    query.collect()
    opened(query)
  }

  test(
    "conditions on partitions count: each shape of query reads the files that Spark opens for it",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      days(path)
      val shapes = Seq(
        Seq(0, 5, 10, 15).map(d => s"day = $d AND c = ${6 * d}"),
        Seq("day = 3"),
        Seq("day IN (1, 2) AND v >= 0"),
        Seq("c = 60"),
        Seq("day >= 14 OR c = 10"),
        Seq("day % 5 = 2"),
        Seq("day % 5 = 2 AND c < 30"),
        Seq("day = 99"),
        Seq("(day = 1 AND c = 7) OR (day = 5 AND c = 60)"),
        Seq("(day = 1 AND c = 7) OR day = 5"))
      val read = quick {
        index(path)
        shapes.map { filters =>
          logOf("one_shape", path, filters)
          val found = queries(path, "one_shape").values.toSeq
          assert(found.length === 1, found)
          val real = filters.map(filesOf(path, _))
          assert(math.abs(64 * double(found.head, "share") - real.sum.toDouble / real.length) < 1e-6, found)
          assert(double(found.head, "bound") <= double(found.head, "share"))
          (found.head, real)
        }
      }
      // known by how the table was written, too
      assert(read.map(r => math.round(64 * double(r._1, "share"))) === Seq(1, 4, 8, 16, 64, 12, 6, 0, 4, 8))
      // of `day >= 14 OR c = 10` Spark asks neither partitions nor files, whatever the layout
      assert(read.forall(r => !r._1.getAs[Boolean]("alert")), read)
      val all = read.flatMap(_._2)
      logOf("all_shapes", path, shapes.flatten)
      val together = queries(path, "all_shapes").values.map(r => double(r, "weight") * double(r, "share")).sum
      assert(math.abs(64 * together - all.sum.toDouble / all.length) < 1e-6)
      val mean = f"The queries of the log read ${100.0 / 64 * all.sum / all.length}%.1f %% of the rows"
      assert(note(audited(path, "c", "all_shapes")).startsWith(mean))
    }
  }

  test("a layout is made in each partition: the bound of a look-up in one day is a file of that day") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(16000).selectExpr("a % 16 day", "b", "id").repartition(4).write.partitionBy("day").parquet(
        path.toString)
      logOf("look_ups", path, (0 until 16).map(d => s"day = $d AND b = ${50000 * d + 7}"))
      val one = queries(path, "look_ups").values.head
      // sizes of days differ by chance, and so do those of files
      assert(math.abs(double(one, "share") - 1.0 / 16) < 0.005 && !one.getAs[Boolean]("alert"), one)
      assert(math.abs(double(one, "bound") - 1.0 / 64) < 0.005, one)
      logOf("anywhere", path, Seq("b = 500000", "b = 700000"))
      val all = queries(path, "anywhere").values.head
      assert(double(all, "share") > 0.9 && all.getAs[Boolean]("alert"), all)
      assert(math.abs(double(all, "bound") - 0.25) < 0.02, all)
      val read = f"The queries of the log read ${100 * double(one, "share")}%.1f %% of the rows"
      assert(note(audited(path, "b", "look_ups")).startsWith(read))
    }
  }

  test("a log without values: days are drawn with the values of their files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      days(path)
      logOf("with_values", path, Seq("day = 3 AND c = 7", "day = 3"))
      spark.table("with_values").selectExpr(
        "table",
        "weight",
        "transform(boxes, b -> transform(b, c -> named_struct('column', c.column, 'kind', c.kind))) boxes")
        .createOrReplaceTempView("without_values")
      val found = queries(path, "without_values")
      assert(math.abs(double(found("c = ? AND day = ?"), "share") - 1.0 / 64) < 1e-9, found)
      assert(math.abs(double(found("day = ?"), "share") - 1.0 / 16) < 1e-9, found)
    }
  }

  test("queries of partitions alone are served by these: they make no columns wrong") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      days(path)
      logOf("only_days", path, (0 until 16).map(d => s"day = $d") :+ "day % 2 = 1")
      val found = queries(path, "only_days")
      assert(found.keySet === Set("day = ?", "(day % 2L) = ?") || found.size === 2, found)
      assert(math.abs(double(found("day = ?"), "share") - 1.0 / 16) < 1e-9)
      assert(found.values.forall(r => double(r, "bound") === double(r, "share")), found)
      val row = audited(path, "c", "only_days")
      assert(row.getAs[String]("verdict") === "OK", row)
      logOf("days_and_others", path, Seq("day = 1", "day = 2", "day = 3 AND v = 7", "v = 8", "v = 9"))
      val wrong = audited(path, "c", "days_and_others")
      assert(wrong.getAs[String]("verdict") === "WRONG COLUMNS", wrong)
      assert(
        wrong.getAs[String]("reason").contains("60.0 % of the logged queries filter neither of c"),
        wrong)
      logOf("days_and_few", path, Seq("day = 1", "day = 2", "v = 8"))
      assert(audited(path, "c", "days_and_few").getAs[String]("verdict") === "OK")
      // what Spark asks of the key of a join is no filter of it
      logOf("joins", path, Seq("v IS NOT NULL", "v IS NOT NULL AND day = 1", "v IS NOT NULL AND c = 3"))
      assert(audited(path, "c", "joins").getAs[String]("verdict") === "OK")
    }
  }

  test("queries of a function of the audited column ask that column") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).repartition(4).write.parquet(path.toString)
      logOf("functions", path, Seq("year(d) = 2021", "abs(a) = 3 AND upper(s) = 'X'", "abs(a) = 4"))
      assert(audited(path, "a, d", "functions").getAs[String]("verdict") !== "WRONG COLUMNS")
      assert(audited(path, "b", "functions").getAs[String]("verdict") === "WRONG COLUMNS")
    }
  }

  test("queries of an expression that the table is clustered by are served by it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).repartition(4).write.parquet(path.toString)
      done(zorder(path, "BY (a, upper(s)) WITH (fileCount = 4, force = true)"))
      logOf("by_expression", path, Seq("upper(s) = 'X'", "upper(s) = 'Y'", "b = 5"))
      val own =
        spark.sql(s"SELECT * FROM clustering_information('$path', NULL, 'by_expression')").collect().head
      assert(own.getAs[String]("verdict") !== "WRONG COLUMNS", own)
      logOf("by_others", path, Seq("d = '2021-01-01'", "b = 4", "b = 5"))
      val others =
        spark.sql(s"SELECT * FROM clustering_information('$path', NULL, 'by_others')").collect().head
      assert(others.getAs[String]("verdict") === "WRONG COLUMNS", others)
    }
  }

  test("the seventeenth column of a log is measured like those that are asked more often") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val often = (1 to 16).map(i => s"cast(pmod(xxhash64(id, $i), 1000) AS int) c$i")
      spark.range(0, 1600, 1, 8).selectExpr(often :+ "cast(id AS int) rare": _*).write.parquet(path.toString)
      logOf("many_columns", path, (1 to 16).flatMap(i => Seq(s"c$i = 500", s"c$i = 501")) :+ "rare = 100")
      val found = queries(path, "many_columns")
      val (rare, other) = (found("rare = ?"), found("c16 = ?"))
      assert(found.size === 17 && double(rare, "share") === 0.125, rare)
      assert(double(rare, "bound") > 0.0 && double(rare, "bound") <= 0.125, rare)
      assert(double(other, "share") > 0.9 && other.getAs[Boolean]("alert"), other)
    }
  }

  test("partitions of NULL, of strings and of dates") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr(
        "if(id % 4 = 0, NULL, concat('it''s ', id % 4)) s",
        "date_add(date'2024-12-30', cast(id % 4 AS int)) d",
        "id").repartition(1).write.partitionBy("s", "d").parquet(path.toString)
      for (filter <- Seq(
          "s IS NULL",
          "s = 'it''s 2'",
          "s LIKE 'it%'",
          "year(d) = 2025",
          "d >= date'2025-01-01' AND id >= 0",
          "s IS NULL OR d = date'2025-01-02'")) {
        logOf("kinds", path, Seq(filter))
        val row = queries(path, "kinds").values.head
        assert(math.round(4 * double(row, "share")) === filesOf(path, filter), s"$filter: $row")
      }
    }
  }

  test("a log that asks no column with bounds, and a partition whose strings are all NULL") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(path.resolve("p=0"), "cast(NULL AS string)")
      write(path.resolve("p=1"), "concat('k', id)")
      logOf("expressions", path, Seq("abs(id) = 3"))
      val row = queries(path, "expressions").values.head
      assert(double(row, "share") === 1.0 && double(row, "bound") === 1.0 && !row.getAs[Boolean]("alert"))
      logOf("nulls", path, Seq("s = 'k3' OR s IS NULL", "s = 'k3'"))
      val found = queries(path, "nulls").values.toSeq.map(double(_, "share")).sorted
      assert(found === Seq(0.5, 1.0))
    }
  }

  private def write(path: Path, s: String): Unit =
    spark.range(0, 100, 1, 1).selectExpr("id", s"$s s").write.parquet(path.toString)

  test("an index does not change the audit of floating point numbers whose writer may hide a NaN") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 1600, 1, 16).selectExpr("cast(id AS double) x", "cast(id AS float) y")
        .write.parquet(path.toString)
      foreign(path)
      def levels: Seq[Seq[Row]] = Seq("x", "y", "x, y").map { columns =>
        val row = spark.sql(s"SELECT * FROM clustering_information('$path', '$columns')").collect().head
        assert(row.getAs[String]("verdict") === "OK", row)
        row.getSeq[Row](row.fieldIndex("levels"))
      }
      val before = levels
      index(path)
      assert(spark.read.parquet(path.toString).where("x = 7").count() === 1)
      assert(levels === before)
    }
  }

  /** As if another writer than parquet-mr had written the files: the footer says who it was. */
  private def foreign(path: Path): Unit = {
    val files = Files.list(path)
    try files.iterator.asScala.toList.foreach { f =>
        if (f.toString.endsWith(".parquet")) {
          val text = new String(Files.readAllBytes(f), ISO_8859_1)
          assert(text.contains("parquet-mr version"))
          Files.write(f, text.replace("parquet-mr version", "parquet-xx version").getBytes(ISO_8859_1))
        } else if (f.toString.endsWith(".crc")) Files.delete(f)
      }
    finally files.close()
  }
}
