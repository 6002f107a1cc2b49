package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.{PageIndex, StatColumn}
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** How many files queries open: exactly those that can match by the true bounds of their parts, found from the rows. */
@SameOnAllLines
class FileCountsSuite extends AnyFunSuite with SkippedScans {

  /** Least and greatest value of each column asked for, in one part of a file. */
  private type Part = Map[String, (Long, Long)]

  /** The bounds of every part, by file; `part` is an expression over the place of a row in its file. */
  private def parts(path: Path, part: String, columns: String*): Map[String, Seq[Part]] =
    withConf("spark.zorder.skipping.enabled" -> "false") {
      val bounds = columns.flatMap(c => Seq(s"min($c)", s"max($c)"))
      val days = columns.map(c => if (c == "d") "unix_date(d) * 1L d" else c)
      spark.read.parquet(path.toString).selectExpr(days ++ Seq(
        "_metadata.file_name f",
        "_metadata.row_index r"): _*)
        .selectExpr(columns ++ Seq("f", s"$part p"): _*).createOrReplaceTempView("parts")
      spark.sql(s"SELECT f, ${bounds.mkString(", ")} FROM parts GROUP BY f, p").collect().toSeq.groupBy(
        _.getString(0))
        .map { case (file, rows) =>
          file -> rows.map(r =>
            columns.indices.map(c => columns(c) -> ((r.getLong(1 + 2 * c), r.getLong(2 + 2 * c)))).toMap)
        }
    }

  private def can(files: Map[String, Seq[Part]])(meets: Part => Boolean): Long =
    files.values.count(_.exists(meets)).toLong

  private def within(column: String, low: Long, high: Long)(p: Part): Boolean =
    p(column)._1 <= high && p(column)._2 >= low

  test(
    "256 files clustered by two columns: look-ups, ranges, lists and joins open the files that can match",
    LongTest) {
    withTempDir { dir =>
      quick {
        val path = dir.resolve("t")
        spark.range(0, 16384, 1, 2).selectExpr(
          "pmod(hash(id), 10000) * 1L a",
          "pmod(hash(id, 7), 10000) * 1L b",
          "id").write.parquet(path.toString)
        spark.sql(s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 256, force = true)")
        index(path)
        // one page a file
        val files = parts(path, "0", "a", "b")
        assert(files.size === 256)
        spark.read.parquet(path.toString).createOrReplaceTempView("t")
        val rows = spark.sql("SELECT a, b, id FROM t").collect()
          .map(r => (r.getLong(0), r.getLong(1), r.getLong(2)))
        // the answer is compared with these rows: a scan of all files takes longer than everything else
        def asked(query: String)(matches: (Long, Long) => Boolean): Long = {
          val df = spark.sql(query)
          val expected = rows.collect { case (a, b, id) if matches(a, b) => id }.sorted.toSeq
          assert(df.collect().map(_.getLong(0)).sorted.toSeq === expected, query)
          opened(df)
        }
        def where(filter: String)(matches: (Long, Long) => Boolean): Long =
          asked(s"SELECT id FROM t WHERE $filter")(matches)
        val counts = Seq(17L, 4711L, 9990L).flatMap { v =>
          Seq(
            where(s"a = $v")((a, _) => a == v) -> can(files)(within("a", v, v)),
            where(s"b BETWEEN $v AND ${v + 99}")((_, b) => b >= v && b < v + 100) ->
              can(files)(within("b", v, v + 99)),
            where(s"a >= $v AND a < ${v + 100} AND b = ${v / 2}")((a, b) =>
              a >= v && a < v + 100 && b == v / 2) ->
              can(files)(p => within("a", v, v + 99)(p) && within("b", v / 2, v / 2)(p)))
        }
        counts.foreach { case (files, possible) => assert(files === possible) }
        assert(counts.map(_._1).forall(_ <= 26) && counts.map(_._1).sum > 60, counts)
        val keys = Seq(3L, 1717L, 1718L, 8000L)
        val list = keys.mkString(", ")
        val possible = can(files)(p => keys.exists(k => within("a", k, k)(p)))
        def listed(a: Long, b: Long): Boolean = keys.contains(a)
        assert(where(s"a IN ($list)")(listed) === possible && possible < 80)
        // in a file, so that the optimizer does not know the keys
        spark.sql(s"SELECT k FROM VALUES (${keys.mkString("L), (")}L) AS v(k)").coalesce(1)
          .write.parquet(dir.resolve("keys").toString)
        spark.read.parquet(dir.resolve("keys").toString).createOrReplaceTempView("keys")
        assert(asked("SELECT t.id FROM t JOIN keys ON t.a = keys.k")(listed) === possible + 1)
        assert(where("a IN (SELECT k FROM keys)")(listed) === possible + 1)
      }
    }
  }

  test("the newest 100 rows of 200 files in time order are in two files at most", LongTest) {
    withTempDir { dir =>
      quick {
        val path = dir.resolve("t")
        withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
          spark.range(0, 16000, 1, 200).selectExpr("id", "timestamp_seconds(id * 7) ts", "id % 3 r")
            .write.parquet(path.toString)
        }
        index(path)
        spark.read.parquet(path.toString).createOrReplaceTempView("t")
        // 80 rows a file
        assert(opens(spark.sql("SELECT * FROM t ORDER BY ts DESC LIMIT 100")) === 2)
        assert(opens(spark.sql("SELECT * FROM t ORDER BY ts DESC LIMIT 80")) === 1)
      }
    }
  }

  test("sentinels and outliers in 40 % of the files cost no more than the pages that hold them") {
    withTempDir { dir =>
      quick {
        val path = dir.resolve("t")
        // forty files of ten pages of fifty rows; in order within the file, as our sort leaves them
        spark.range(0, 20000, 1, 40).selectExpr("id div 500 f", "id % 500 i", "id").selectExpr(
          "CASE WHEN f % 5 = 0 AND i < 50 THEN -1L WHEN f % 5 = 3 AND i = 499 THEN 900000L ELSE id END a",
          "CASE WHEN f % 5 = 1 AND i >= 450 THEN date'9999-12-31' WHEN f % 5 = 2 AND i = 0 THEN date'1900-01-01' " +
            "ELSE date_from_unix_date(cast(18000 + id div 10 as int)) END d",
          "id").write.option("parquet.page.row.count.limit", "50")
          .option("parquet.page.size.row.check.min", "50").parquet(path.toString)
        index(path)
        val located =
          TableResolver.locate(Shims.classic(spark), TableRef.Location(path.toString))
        val pages = PageIndex.read(
          Shims.classic(spark),
          located.files(),
          Seq(StatColumn(Seq("a"), org.apache.spark.sql.types.LongType)))
        assert(pages.map(_.pages(0).map(_._1)).distinct === Seq(Seq.fill(10)(50L)))
        val files = parts(path, "r div 50", "a", "d")
        val whole = parts(path, "0", "a", "d")
        spark.read.parquet(path.toString).createOrReplaceTempView("t")
        def check(column: String, low: Long, high: Long): (Long, Long) = {
          val possible = can(files)(within(column, low, high))
          def literal(value: Long): String =
            if (column == "d") s"date'${java.time.LocalDate.ofEpochDay(value)}'" else s"$value"
          val where = s"$column BETWEEN ${literal(low)} AND ${literal(high)}"
          assert(opens(spark.sql(s"SELECT id FROM t WHERE $where")) === possible, where)
          possible -> can(whole)(within(column, low, high))
        }
        val counts = Seq(
          check("a", 4711, 4711),
          check("a", 19000, 19200),
          check("a", -1, -1),
          check("a", 900000, 900000),
          check("a", 30000, 40000),
          check("d", 18000 + 1234, 18000 + 1234),
          check("d", 2932896, 2932896),
          check("d", 18000 + 1990, 18000 + 3000),
          check("d", -25567, -25567))
        // what a single range for each file would open
        assert(counts.head._1 * 2 < counts.head._2 && counts.map(_._1).sum < counts.map(_._2).sum, counts)
      }
    }
  }
}
