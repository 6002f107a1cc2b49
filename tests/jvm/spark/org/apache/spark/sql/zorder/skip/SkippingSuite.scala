package org.apache.spark.sql.zorder.skip

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef

/** Queries of plain Parquet tables that have a statistics index. */
class SkippingSuite extends AnyFunSuite with ZOrderSession with AdaptiveSparkPlanHelper {

  private def index(path: Path, columns: String*): Unit = {
    aged(path)
    IndexStatements.create(Shims.classic(spark), TableRef.Location(path.toString), columns.map(Seq(_)))
    ()
  }

  /** As if the files had been there for an hour: entries of fresh files are not trusted. */
  private def aged(path: Path): Unit = Files.walk(path).filter(_.toString.endsWith(".parquet")).forEach { f =>
    f.toFile.setLastModified(System.currentTimeMillis() - 3600000)
    ()
  }

  private def opened(df: DataFrame): Long =
    collectWithSubqueries(df.queryExecution.executedPlan) { case s: FileSourceScanExec =>
      s.metrics("numFiles").value
    }.sum

  /** The files that the query opens; its answer must be that of a session that skips nothing. */
  private def opens(query: => DataFrame): Long = {
    val df = query
    val rows = df.collect().map(_.toString).sorted.toSeq
    withConf("spark.zorder.skipping.enabled" -> "false") {
      assert(query.collect().map(_.toString).sorted.toSeq === rows)
    }
    opened(df)
  }

  /** Forty files of a thousand ids each. */
  private def ids(path: Path): Unit = spark.range(0, 40000, 1, 40).selectExpr(
    "id",
    "cast(id as int) i",
    "if(id >= 39000, null, cast(id as double)) d",
    "concat('k', lpad(cast(id as string), 6, '0')) s",
    "named_struct('f', id, 'g', cast(id as string)) st",
    "date_add(date'2020-01-01', cast(id div 1000 as int)) day",
    "array(id) arr").write.parquet(path.toString)

  test("files that cannot match are not opened, whatever the filter") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      def t = spark.read.parquet(path.toString)
      assert(opens(t.where("id = 4711")) === 40)
      index(path)
      val cases = Seq(
        "id = 4711" -> 1,
        "id <=> 4711" -> 1,
        "id < 1000" -> 1,
        "id <= 1000" -> 2,
        "id >= 38999" -> 2,
        "id > 39999" -> 0,
        "id BETWEEN 500 AND 2500" -> 3,
        "id IN (1, 4711, 4712, 39999)" -> 3,
        s"id IN (${(0 until 40000 by 4000).mkString(", ")})" -> 10,
        "id = 4711 OR s = 'k000005'" -> 2,
        "id = 4711 AND s = 'k000005'" -> 0,
        "NOT (id >= 1000)" -> 1,
        "NOT (id < 39000 OR id IS NULL)" -> 1,
        "d IS NULL" -> 1,
        "d IS NOT NULL" -> 39,
        "s LIKE 'k0047%'" -> 1,
        "startswith(s, 'k00')" -> 10,
        "st.f = 12345" -> 1,
        "day = date'2020-01-11'" -> 1,
        "i = 4711L" -> 1,
        "i < 9999999999L" -> 40,
        "abs(id) = 4711" -> 40,
        "arr[0] = 4711" -> 40)
      cases.foreach { case (where, files) => assert(opens(t.where(where)) === files, where) }
      assert(opens(t.where("id = 4711").union(t.where("id = 1"))) === 2)
      assert(opens(t.as("a").join(t.as("b"), "id").where("id = 4711")) === 2)
    }
  }

  test("files that are new, changed or gone since are read as they are") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path, "id")
      def t = spark.read.parquet(path.toString)
      spark.range(4711, 4712, 1, 1).selectExpr("id", "1 i").write.mode("append").parquet(path.toString)
      assert(opens(t.where("id = 4711")) === 2)
      assert(t.where("id = 4711").count() === 2)
      val files =
        Files.list(path).filter(_.toString.endsWith(".parquet")).sorted().toArray.map(_.asInstanceOf[Path])
      val (one, other) = (files(0), files(20))
      Files.write(one, Files.readAllBytes(other))
      Files.delete(one.resolveSibling(s".${one.getFileName}.crc"))
      one.toFile.setLastModified(System.currentTimeMillis() - 1800000)
      Files.delete(other)
      assert(opens(t.where("id BETWEEN 20000 AND 20999")) === 1)
      val refreshed = IndexStatements.refresh(Shims.classic(spark), TableRef.Location(path.toString))
      assert(refreshed.getAs[Long]("files") === 40)
      assert(refreshed.getAs[Long]("footers_read") === 2)
    }
  }

  test("a file that was written while the index was made is not trusted") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      IndexStatements.create(Shims.classic(spark), TableRef.Location(path.toString), Nil)
      assert(opens(spark.read.parquet(path.toString).where("id = 4711")) === 40)
    }
  }

  test("partitioned tables, by path and in the catalog, keep their partition pruning") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 8000, 1, 8).selectExpr(
        "id",
        "id div 4000 part").write.partitionBy("part").parquet(path.toString)
      index(path)
      def t = spark.read.parquet(path.toString)
      assert(opens(t.where("id = 4711")) === 1)
      assert(opens(t.where("part = 0")) === 4)
      assert(opens(t.where("part = 0 AND id = 4711")) === 0)
      assert(opens(t.where("part = 1 AND id >= 7000")) === 1)
      assert(opens(spark.read.parquet(path.resolve("part=1").toString).where("id = 4711")) === 1)
      withTable("parted") {
        spark.sql(
          s"CREATE TABLE parted (id BIGINT, part BIGINT) USING parquet PARTITIONED BY (part) LOCATION '$path'")
        spark.sql("MSCK REPAIR TABLE parted")
        assert(opens(spark.table("parted").where("part = 1 AND id >= 7000")) === 1)
        assert(opens(spark.table("parted").where("id = 17")) === 1)
      }
    }
  }

  test("a broken, cut off or foreign index means that nothing is skipped; the newest whole one counts") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      ids(path)
      index(path)
      def t = spark.read.parquet(path.toString)
      val folder = path.resolve("_zorder").resolve("index")
      val whole = Files.readAllBytes(folder.resolve("index-1"))
      def broken(bytes: Array[Byte]): Unit = {
        Files.write(folder.resolve("index-2"), bytes)
        Files.deleteIfExists(folder.resolve(".index-2.crc"))
        scan.LoadedIndexes.forget(new org.apache.hadoop.fs.Path(path.toUri.toString.stripSuffix("/")))
        scan.LoadedIndexes.forget(new org.apache.hadoop.fs.Path("file:" + path))
      }
      Seq(
        Array.emptyByteArray,
        whole.take(whole.length / 2),
        whole.drop(1),
        Array.fill[Byte](5000)(7)).foreach { bytes =>
        broken(bytes)
        assert(opens(t.where("id = 4711")) === 1)
      }
      val flipped = whole.clone()
      flipped(whole.length / 3) = (flipped(whole.length / 3) ^ 1).toByte
      broken(flipped)
      Files.delete(folder.resolve("index-1"))
      assert(Seq(1L, 40L).contains(opens(t.where("id = 4711"))))
      IndexStatements.drop(Shims.classic(spark), TableRef.Location(path.toString))
      assert(opens(t.where("id = 4711")) === 40)
      val refused = intercept[ZOrderException](
        IndexStatements.refresh(Shims.classic(spark), TableRef.Location(path.toString)))
      assert(refused.getMessage.contains("ZORDER INDEX"))
    }
  }
}
