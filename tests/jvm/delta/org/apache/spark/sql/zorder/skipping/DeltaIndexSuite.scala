package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, Path, StandardCopyOption}

import org.apache.commons.io.FileUtils
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.{LongTest, SameOnAllLines}

/** Delta tables with an index of ours: it finds single values and expressions in few files of every version. */
class DeltaIndexSuite extends AnyFunSuite with NarrowedTables {

  /** Fifty rows a file; the ids of each are spread over the whole range. */
  private def scattered(from: Long, files: Int): DataFrame =
    spark.range(from, from + files * 50L, 1, 2).selectExpr(
      "id",
      "concat('k', id) k",
      "named_struct('x', id * 3) st",
      "array('WA', 'OR', 'CA')[pmod(hash(id), 3)] state",
      "id % 7 r").repartition(files, expr("id"))

  /** Fifty addresses a file, in the order of what `lower` gives, and in no order as they are. */
  private def addresses(from: Long, files: Int): DataFrame =
    spark.range(from, from + files * 50L, 1, files).selectExpr(
      "id",
      "concat(if(id % 2 = 0, 'U', 'u'), lpad(cast(id as string), 6, '0'), '@b.c') email")

  private def statement(path: Path, what: String, clause: String = ""): Row =
    on(path, s"ZORDER $what <t> $clause").collect().head

  private def indexed(path: Path, clause: String): Row = statement(path, "INDEX", clause)

  /** So many files at most, and at least one; a Bloom filter is wrong once in some hundred times. */
  private def finds(path: Path, query: String, most: Int = 3): Unit = {
    val files = opens(on(path, query))
    assert(files >= 1 && files <= most, query)
  }

  private def numOfFiles(path: Path): Long = files(path)

  test("a single id of forty files is found in few of them, and the index is dropped", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(scattered(0, 40), path)
      quick {
        check(path, "SELECT * FROM <t> WHERE id = 777" -> 40)
        val made = indexed(path, "WITH (bloom = 'id, k, st.x', bloomBudget = '500%')")
        assert(made.getAs[Long]("files") === 40 && made.getAs[Long]("columns") === 3)
        finds(path, "SELECT * FROM <t> WHERE id = 777")
        finds(path, "SELECT * FROM <t> WHERE ID = 778 AND r >= 0")
        finds(path, "SELECT * FROM <t> WHERE k = 'k1234'")
        finds(path, "SELECT id FROM <t> WHERE st.x = 300")
        finds(path, "SELECT * FROM <t> WHERE id IN (5, 1777)", most = 4)
        finds(path, "SELECT * FROM <t> WHERE id = 5 OR k = 'k1777'", most = 4)
        check(
          path,
          "SELECT * FROM <t> WHERE r = 3" -> 40,
          "SELECT * FROM <t> WHERE id = 5 OR r = 3" -> 40)
        withConf("spark.sql.caseSensitive" -> "true")(
          check(path, "SELECT * FROM <t> WHERE id = 777" -> 40))
        val columns = on(path, "ZORDER DESCRIBE INDEX <t>").collect()
        assert(columns.map(_.getAs[Long]("bloom_files")).toSeq === Seq(40L, 40L, 40L))
        assert(statement(path, "DROP INDEX").getAs[String]("status") === "DROPPED")
        check(path, "SELECT * FROM <t> WHERE id = 777" -> 40)
      }
    }
  }

  test("EXPLAIN tells what Bloom filters leave out", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(scattered(0, 40), path)
      indexed(path, "WITH (bloom = 'id', bloomBudget = '500%')")
      quick {
        val rows = on(path, "ZORDER EXPLAIN SELECT * FROM <t> WHERE id = 777 AND r >= 0").collect().toSeq
        assert(rows.head.getAs[Long]("considered") === 40)
        assert(rows.head.getAs[Long]("kept") === opened(collected(path, "id = 777 AND r >= 0")))
        assert(rows.head.getAs[String]("pruned_by").contains("Bloom"))
        assert(rows.tail.exists(_.getAs[String]("pruned_by").contains("Bloom (")))
        assert(rows.tail.exists(_.getAs[String]("reason") === "left to the format's own skipping"))
        saved(scattered(2000, 2), path)
        val stale = on(path, "ZORDER EXPLAIN SELECT * FROM <t> WHERE id >= 0").collect().head
        assert(stale.getAs[String]("reason").contains("2 files are new or changed"))
      }
    }
  }

  private def collected(path: Path, where: String): DataFrame = {
    val df = on(path, s"SELECT * FROM <t> WHERE $where")
    df.collect()
    df
  }

  test(
    "an expression is found in the files of its range, and listed values in the files that have them",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(addresses(0, 40), path)
      quick {
        check(path, "SELECT * FROM <t> WHERE lower(email) = 'u000777@b.c'" -> 40)
        indexed(path, "COLUMNS (lower(email))")
        check(
          path,
          "SELECT * FROM <t> WHERE lower(email) = 'u000777@b.c'" -> 1,
          "SELECT * FROM <t> WHERE lower(email) BETWEEN 'u000740' AND 'u000760'" -> 2,
          "SELECT * FROM <t> WHERE upper(email) = 'U000777@B.C'" -> 40)
        val values = dir.resolve("values")
        saved(
          spark.range(0, 400, 1, 10).selectExpr("id", "if(id div 40 = 4, 'M', if(id % 2 = 0, 'A', 'Z')) s"),
          values)
        indexed(values, "WITH (values = 's')")
        check(values, "SELECT * FROM <t> WHERE s = 'M'" -> 1, "SELECT * FROM <t> WHERE s = 'B'" -> 0)
      }
    }
  }

  test("files that are appended are read until a refresh; a run and OPTIMIZE are followed", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(scattered(0, 40), path)
      indexed(path, "WITH (bloom = 'id', bloomBudget = '500%')")
      quick {
        saved(scattered(2000, 3), path)
        finds(path, "SELECT * FROM <t> WHERE id = 777", most = 3 + 3)
        finds(path, "SELECT * FROM <t> WHERE id = 2100", most = 3 + 3)
        val refreshed = statement(path, "REFRESH INDEX")
        assert(refreshed.getAs[Long]("footers_read") === 3 && refreshed.getAs[Long]("files") === 43)
        finds(path, "SELECT * FROM <t> WHERE id = 2100")
        on(
          path,
          "MERGE INTO <t> t USING (SELECT 777L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET r = 99")
        finds(path, "SELECT * FROM <t> WHERE id = 777", most = 3 + 1)
        finds(path, "SELECT * FROM <t> WHERE id = 778", most = 3 + 1)
      }
      // a liquid table is clustered by its own column, and Delta's OPTIMIZE takes files of ours with FULL alone
      val (by, full) = if (clusterBy.isEmpty) ("r", "") else ("id", "FULL")
      on(path, s"ZORDER TABLE <t> BY ($by) WITH (fileCount = 8, force = true)").collect()
      quick {
        assert(statement(path, "REFRESH INDEX").getAs[Long]("footers_read") === 0)
        finds(path, "SELECT * FROM <t> WHERE id = 777")
        val before = numOfFiles(path)
        on(path, s"OPTIMIZE <t> $full").collect()
        assert(numOfFiles(path) < before)
        finds(path, "SELECT * FROM <t> WHERE id = 777", most = numOfFiles(path).toInt)
        statement(path, "REFRESH INDEX")
        finds(path, "SELECT * FROM <t> WHERE id = 777")
      }
    }
  }

  test("entries are of all rows of a file, whatever a version deletes of it", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val clause = "COLUMNS (lower(email)) WITH (bloom = 'id', bloomBudget = '500%')"
      saved(addresses(0, 10), path, "enableDeletionVectors" -> "true")
      on(path, "DELETE FROM <t> WHERE id IN (300, 349) OR id BETWEEN 100 AND 148")
      assert(vectors(path) === 2)
      indexed(path, clause)
      quick {
        check(
          path,
          "SELECT * FROM <t> WHERE lower(email) = 'u000320@b.c'" -> 1,
          // the file had it once
          "SELECT * FROM <t> WHERE lower(email) = 'u000349@b.c'" -> 1,
          "SELECT * FROM <t> VERSION AS OF 0 WHERE lower(email) = 'u000349@b.c'" -> 1,
          "SELECT * FROM <t> VERSION AS OF 0 WHERE lower(email) = 'u000100@b.c'" -> 1,
          "SELECT * FROM <t> VERSION AS OF 0 WHERE id = 349" -> 1,
          // rows that are deleted count for nothing in an order
          "SELECT id FROM <t> WHERE id >= 100 ORDER BY id LIMIT 2" -> 2,
          "SELECT id FROM <t> WHERE lower(email) >= 'u000100' ORDER BY id LIMIT 1" -> 8)
        assert(on(path, "SELECT * FROM <t> VERSION AS OF 0 WHERE id = 349").count() === 1)
        on(path, "DELETE FROM <t> WHERE id = 320")
        saved(addresses(500, 2), path)
        on(path, "RESTORE TABLE <t> TO VERSION AS OF 0").collect()
        check(
          path,
          "SELECT * FROM <t> WHERE lower(email) = 'u000349@b.c'" -> 1,
          "SELECT * FROM <t> WHERE lower(email) = 'u000320@b.c'" -> 1)
      }
    }
  }

  test("columns are known by what they are in files: swapped, dropped and added again") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // b first: Delta drops no column of liquid clustering
      saved(
        spark.range(0, 1000, 1, 2).selectExpr("id + 5000 b", "id").repartition(10, expr("id")),
        path,
        "columnMapping.mode" -> "name")
      def alter(change: String) = on(path, s"ALTER TABLE <t> $change")
      indexed(path, "COLUMNS (b % 1000) WITH (bloom = 'id', bloomBudget = '500%')")
      quick {
        finds(path, "SELECT * FROM <t> WHERE id = 777")
        alter("RENAME COLUMN id TO c")
        alter("RENAME COLUMN b TO id")
        check(path, "SELECT * FROM <t> WHERE id = 5777" -> 10, "SELECT * FROM <t> WHERE c = 777" -> 10)
        alter("ADD COLUMN b BIGINT")
        check(path, "SELECT * FROM <t> WHERE b % 1000 = 3" -> 10)
        assert(on(path, "SELECT * FROM <t> WHERE id = 5777").count() === 1)
        // of the names that it had, the index finds other columns now
        statement(path, "REFRESH INDEX")
        finds(path, "SELECT * FROM <t> WHERE id = 5777")
        indexed(path, "WITH (bloom = 'c', bloomBudget = '500%')")
        finds(path, "SELECT * FROM <t> WHERE c = 777")
        alter("DROP COLUMN c")
        alter("ADD COLUMN c BIGINT")
        saved(spark.range(0, 10, 1, 1).selectExpr("id", "id b", "id + 20000 c"), path)
        assert(on(path, "SELECT * FROM <t> WHERE c = 20003").count() === 1)
        assert(on(path, "SELECT * FROM <t> WHERE c IS NULL").count() === 1000)
      }
    }
  }

  test("fields of a struct are known by what they are in files: swapped") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val struct = "named_struct('x', concat('x', string(id)), 'z', concat('z', string(id))) AS s"
      saved(
        spark.range(0, 100, 1, 2).selectExpr("id", struct).repartition(10, expr("id")),
        path,
        "columnMapping.mode" -> "name")
      indexed(path, "COLUMNS (lower(s.x)) WITH (bloom = 's.x', bloomBudget = '500%')")
      quick {
        finds(path, "SELECT * FROM <t> WHERE s.x = 'x7'")
        on(path, "ALTER TABLE <t> RENAME COLUMN s.x TO y")
        on(path, "ALTER TABLE <t> RENAME COLUMN s.z TO x")
        def bothFound(): Unit = for (filter <- Seq("s.x = 'z7'", "lower(s.x) = 'z7'"))
          assert(on(path, s"SELECT * FROM <t> WHERE $filter").count() === 1, filter)
        bothFound()
        statement(path, "REFRESH INDEX")
        bothFound()
      }
    }
  }

  test(
    "an index of an earlier table in the directory tells nothing of files with the same names",
    SameOnAllLines) {
    assume(clusterBy.isEmpty, "CONVERT TO DELTA makes no liquid table")
    withTempDir { dir =>
      val path = dir.resolve("t")
      // the same names and lengths, other values
      def made(first: Long): Unit = {
        val at = dir.resolve(s"from $first")
        spark.range(first, first + 500, 1, 1).write.option("compression", "uncompressed").parquet(at.toString)
        val file = Files.list(at).filter(_.toString.endsWith(".parquet")).findFirst.get
        Files.createDirectories(path)
        Files.copy(file, path.resolve("data-0.parquet"), StandardCopyOption.REPLACE_EXISTING)
        on(path, s"CONVERT TO DELTA parquet.`$path`")
      }
      made(1000)
      quick {
        indexed(path, "WITH (bloom = 'id', bloomBudget = '500%')")
        assert(opens(on(path, "SELECT * FROM <t> WHERE id = 1200")) === 1)
        FileUtils.deleteDirectory(path.resolve("_delta_log").toFile)
        DeltaLog.clearCache()
        made(7000)
        assert(on(path, "SELECT * FROM <t> WHERE id = 7200").count() === 1)
        assert(statement(path, "REFRESH INDEX").getAs[Long]("footers_read") === 1)
        assert(on(path, "SELECT * FROM <t> WHERE id = 7200").count() === 1)
      }
    }
  }

  test("files with names that are encoded in the log, in partitions") {
    assume(clusterBy.isEmpty, "a liquid table has no partitions")
    withTempDir { dir =>
      val path = dir.resolve("a b")
      scattered(0, 10).selectExpr("*", "concat('p %', id % 2) part").write.format("delta")
        .partitionBy("part").save(path.toString)
      quick {
        indexed(path, "WITH (bloom = 'id', bloomBudget = '500%')")
        finds(path, "SELECT * FROM <t> WHERE id = 77")
        finds(path, "SELECT * FROM <t> WHERE id = 78 AND part = 'p %0'")
        val e = intercept[ZOrderException](indexed(path, "WITH (bloom = 'part')"))
        assert(e.condition === "ZORDER_COLUMN_REFUSED.BLOOM_OF_PARTITION_COLUMN")
      }
    }
  }

  test("ranges are the format's own", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(scattered(0, 2), path)
      for (clause <- Seq("", "COLUMNS (id)", "COLUMNS (id, r) WITH (bloom = 'id')")) {
        val e = intercept[ZOrderException](indexed(path, clause))
        assert(e.condition === "ZORDER_INDEX_REFUSED.RANGES_OF_FORMAT", clause)
      }
      indexed(path, "COLUMNS (id) WITH (bloom = 'id', bloomBudget = '500%')")
      withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false")(
        on(path, "VACUUM <t> RETAIN 0 HOURS").collect())
      assert(Files.isDirectory(path.resolve("_zorder").resolve("index")))
      assert(statement(path, "REFRESH INDEX").getAs[Long]("footers_read") === 0)
    }
  }
}
