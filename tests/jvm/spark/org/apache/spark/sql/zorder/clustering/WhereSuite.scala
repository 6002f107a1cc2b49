package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.clustering.request.PinnedSession
import org.apache.spark.sql.zorder.clustering.select.{Selection, WhereCondition}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import sparkzorder.mark.SameOnAllLines

/** WHERE picks whole files. */
@SameOnAllLines
class WhereSuite extends AnyFunSuite with RunFixture {
  private val options = "WITH (fileCount = 4, force = true)"

  /** Five files of a thousand ids each; x is NULL in part of the third and in all of the fourth. */
  private def ranged(path: Path): Unit =
    withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
      (0 until 5).foreach(range(path, _))
    }

  private def range(path: Path, i: Int): Unit = {
    val x = Seq("id", "id", "if(id % 2 = 0, null, id)", "cast(null as bigint)", "id")(i)
    spark.range(i * 1000L, i * 1000L + 1000, 1, 1).selectExpr(
      "id",
      "cast(pmod(xxhash64(id, 1), 100) as int) a",
      s"$x x",
      "named_struct('f', cast(id as int)) s",
      s"cast(date_add(date'2024-01-01', $i) as timestamp) t",
      s"${i >= 3} late",
      "cast(id as string) name").write.mode("append").parquet(path.toString)
  }

  private def fresh[T](body: Path => T): T = withTempDir { dir =>
    val path = dir.resolve("t")
    ranged(path)
    body(path)
  }

  /** How many files the condition takes. */
  private def taken(path: Path, where: String, overlap: Boolean = false): Int = {
    val session = Shims.classic(spark)
    val table = TableResolver.open(session, TableRef.Location(path.toString))
    val condition =
      WhereCondition.resolve(session, "t", table.schema, table.partitionSchema.fieldNames.toSeq, where)
    Selection(
      PinnedSession.of(session),
      table,
      table.schema,
      table.files(),
      condition,
      overlap,
      Nil).files.length
  }

  test("a condition is taken over to a later schema, unless a column of it has changed") {
    def ddl(text: String): StructType =
      CharVarcharUtils.replaceCharVarcharWithStringInSchema(StructType.fromDDL(text))
    val schema = ddl("a INT, p CHAR(3), s STRUCT<f: INT>")
    val where = WhereCondition.resolve(Shims.classic(spark), "t", schema, Seq("p"), "s.f < 1 + 1 AND p = 'x'")
    val wider = ddl("z STRING, p CHAR(3), s STRUCT<f: INT>, a INT")
    val over = where.over(wider, Seq("p")).get
    assert(over.sql === where.sql && over.sql.contains("< 2") && over.paths === Seq(Seq("s", "f")))
    assert(over.in(Seq(Literal("x"))).sql === where.in(Seq(Literal("x"))).sql)
    assert(where.over(ddl("p CHAR(3), s STRUCT<f: LONG>"), Seq("p")).isEmpty)
    assert(where.over(ddl("p CHAR(3)"), Seq("p")).isEmpty)
  }

  test("files that lie wholly inside, by bounds and NULL counts; overlapping ones by request") {
    fresh { path =>
      val cases = Seq(
        ("id < 2000", 2, 2),
        ("id <= 1998", 1, 2),
        ("id BETWEEN 1000 AND 2999", 2, 2),
        ("NOT (id >= 1000 AND id <= 1999)", 4, 4),
        ("1000 > id OR id >= 4000", 2, 2),
        ("id IN (5, 6)", 0, 1),
        ("id = 17", 0, 1),
        ("id + 0 < 1000", 0, 5),
        ("x >= 0", 3, 4),
        ("x IS NULL", 1, 2),
        ("x IS NOT NULL", 3, 4),
        ("x IS NULL OR x < 3000", 3, 4),
        ("S.F < 1000 AND ID >= 0", 1, 1),
        ("x <=> NULL", 1, 2),
        ("x = NULL", 0, 0),
        ("NOT (x <=> 7)", 4, 5),
        ("s.f < 1000", 1, 1),
        ("late", 2, 2),
        ("name LIKE '2%'", 1, 2),
        ("to_date(t) = date'2024-01-03'", 1, 1),
        ("year(t) > 2024", 0, 0),
        ("x > 3500 OR id < 1000", 2, 2),
        ("NOT late AND id >= 1000", 2, 2),
        ("t < timestamp'2024-01-03 00:00:00'", 2, 2),
        ("t < '2024-01-03'", 2, 2),
        ("t > current_timestamp()", 0, 0),
        ("name LIKE '_1%'", 0, 5),
        ("true", 5, 5))
      cases.foreach { case (where, inside, overlapping) =>
        assert(taken(path, where) === inside, where)
        assert(taken(path, where, overlap = true) === overlapping, s"$where, include")
      }
    }
  }

  test("the rewrite leaves every other file byte for byte; the folded condition is shown") {
    fresh { path =>
      val before = dataFiles(path)
      val row = done(keepsRows(path)(
        zorder(path, s"WHERE t < date_add(to_date('2024-01-01'), 2) AND id < 1500 + 500 BY (a) $options")))
      assert(reason(row).contains("took 2 of 5 files") && reason(row).contains("2000"), reason(row))
      assert(reason(row).contains("2024-01-03"), reason(row))
      assert(dataFiles(path).size === 7 && dataFiles(path).toSet.intersect(before.toSet).size === 3)
      assert(metric[Long](row, "numFilesRemoved") === 2 && metric[Long](row, "totalFilesSkipped") === 3)
    }
  }

  test("nothing inside is nothing to do, without a job over rows") {
    fresh { path =>
      val before = listing(path)
      val (row, watch) = JobWatch(spark)(zorder(path, s"WHERE id = 17 BY (a) $options"))
      assert(status(row) === "NOTHING_TO_DO" && reason(row).contains("overlap = 'include'"), reason(row))
      assert(watch.reads.isEmpty && listing(path) === before)
    }
  }

  /** Four partitions: of NULL, and of three days; a thousand ids each. */
  private def daily(path: Path): Unit = spark.range(0, 4000, 1, 1).selectExpr(
    "id",
    "cast(pmod(xxhash64(id, 1), 100) as int) a",
    "if(id < 1000, null, date_add(date'2024-01-01', cast(id div 1000 as int))) p").write.partitionBy("p")
    .parquet(path.toString)

  test("partition columns are known exactly, alone and together with bounds") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      daily(path)
      assert(taken(path, "p = '2024-01-02'") === 1)
      assert(taken(path, "p IS NULL") === 1)
      assert(taken(path, "p IS NULL OR p > date'2024-01-02'") === 3)
      assert(taken(path, "year(p) = 2024") === 3)
      assert(taken(path, "date_format(p, 'dd') IN ('02', '04')") === 2)
      assert(taken(path, "p = '2024-01-02' OR id < 1000") === 2)
      assert(taken(path, "p = '2024-01-02' AND id < 1500") === 0)
      assert(taken(path, "p = '2024-01-02' AND id < 1500", overlap = true) === 1)
      assert(taken(path, "p > current_date()") === 0)
    }
  }

  test("a run of some partitions leaves the others byte for byte") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      daily(path)
      val before = dataFiles(path)
      val (row, watch) = JobWatch(spark)(
        done(zorder(path, s"WHERE p >= '2024-01-03' AND id >= 1000 BY (a, id) $options")))
      assert(read(path).selectExpr("sum(id)", "count(p)").head() === Row(3999L * 2000, 3000L))
      val kept = dataFiles(path).toSet.intersect(before.toSet).map(_._1.split('/').head)
      assert(kept.size === 2 && kept.contains("p=2024-01-02"), reason(row))
      assert(watch.reads.length === 2 && metric[Long](row, "partitionsOptimized") === 2)
    }
  }

  test("with bounds, footers are read in three jobs") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).repartitionByRange(
        24,
        org.apache.spark.sql.functions.col("id")).write.parquet(path.toString)
      val (row, watch) = JobWatch(spark)(
        done(zorder(path, "WHERE id < 15000 BY (a, b) WITH (fileCount = 20, overlap = include)")))
      assert(watch.reads.length === 2, watch.jobs)
      assert(watch.ofFooters.map(_.takeWhile(!_.isDigit)) ===
        Seq("footers of ", "page indexes of ", "verification of "))
      assert(metric[Long](row, "totalFilesSkipped") >= 2)
      sameRows(numbers(20000), read(path))
    }
  }

  test("conditions that cannot be used are one sentence") {
    fresh { path =>
      def no(where: String, words: String*): Unit =
        refused(path, s"ZORDER TABLE '$path' WHERE $where BY (a) $options", words: _*)
      no("idd < 5", "a column idd that", "Did you mean id?")
      no("nosuch = 1", "a column nosuch that")
      no("rand() < 0.5", "deterministic")
      no("id IN (SELECT 1)", "subquery")
      no("id", "cannot be resolved")
      no("sum(id) > 3", "WHERE")
    }
  }
}
