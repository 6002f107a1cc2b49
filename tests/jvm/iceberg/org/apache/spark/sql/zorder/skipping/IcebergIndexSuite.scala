package org.apache.spark.sql.zorder.skipping

import java.nio.file.{Files, StandardCopyOption}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.skipping.scan.ScansOfFormats
import sparkzorder.{LongTest, SameOnAllLines}

/** Iceberg tables with an index of ours: it finds single values and expressions in few files of every snapshot. */
class IcebergIndexSuite extends AnyFunSuite with NarrowedIcebergTables {
  private val bloom = "WITH (bloom = 'id', bloomBudget = '500%')"

  /** Fifty rows a file; the ids of each are spread over the whole range. */
  private def add(t: String, from: Long, files: Int): Unit =
    spark.range(from, from + files * 50L, 1, 2).selectExpr("id", "concat('k', id) AS k", "int(id % 7) AS r")
      .repartition(files, expr("id")).writeTo(t).option("distribution-mode", "none").append()

  private def scattered(name: String, files: Int, more: String = ""): String = {
    val t = create(name, "id BIGINT, k STRING, r INT", more)
    add(t, 0, files)
    t
  }

  /** Fifty addresses a file, in the order of what `lower` gives, and in no order as they are. */
  private def addresses(name: String, files: Int, more: String = ""): String = {
    val t = create(name, "id BIGINT, email STRING", more)
    spark.range(0, files * 50L, 1, files).selectExpr(
      "id",
      "concat(if(id % 2 = 0, 'U', 'u'), lpad(string(id), 6, '0'), '@b.c') AS email")
      .writeTo(t).option("distribution-mode", "none").append()
    t
  }

  private def statement(t: String, what: String, clause: String = ""): Row =
    on(t, s"ZORDER $what <t> $clause").collect().head

  private def indexed(t: String, clause: String = bloom): Row = statement(t, "INDEX", clause)

  /** So many files at most, and at least one; a Bloom filter is wrong once in some hundred times. */
  private def finds(t: String, query: String, most: Int = 3): Unit = {
    val files = opens(on(t, query))
    assert(files >= 1 && files <= most, query)
  }

  test("a single id of forty files is found in few of them, and the index is dropped", SameOnAllLines) {
    val t = scattered("single", 40)
    quick {
      check(t, "SELECT * FROM <t> WHERE id = 777" -> 40)
      val made = indexed(t, "WITH (bloom = 'id, k', bloomBudget = '500%')")
      assert(made.getAs[Long]("files") === 40 && made.getAs[Long]("columns") === 2)
      finds(t, "SELECT * FROM <t> WHERE id = 777")
      finds(t, "SELECT r FROM <t> WHERE ID = 778 AND r >= 0")
      finds(t, "SELECT * FROM <t> WHERE k = 'k1234'")
      finds(t, "SELECT * FROM <t> WHERE id IN (5, 1777)", most = 4)
      check(t, "SELECT * FROM <t> WHERE r = 3" -> 40, "SELECT * FROM <t> WHERE id = 5 OR r = 3" -> 40)
      val df = on(t, "SELECT * FROM <t> WHERE id = 777")
      val counts = scans(df).flatMap(s => ScansOfFormats.explained(s.scan))
      assert(counts.map(_.planned) === Seq(40L) && counts.head.kept <= 3)
      assert(counts.head.by.exists(_.endsWith("(Bloom)")))
      val columns = on(t, "ZORDER DESCRIBE INDEX <t>").collect()
      assert(columns.map(_.getAs[Long]("bloom_files")).toSeq === Seq(40L, 40L))
      assert(statement(t, "DROP INDEX").getAs[String]("status") === "DROPPED")
      check(t, "SELECT * FROM <t> WHERE id = 777" -> 40)
    }
  }

  test("an expression is found in the files of its range", SameOnAllLines) {
    val t = addresses("addresses", 40)
    quick {
      check(t, "SELECT * FROM <t> WHERE lower(email) = 'u000777@b.c'" -> 40)
      indexed(t, "COLUMNS (lower(email))")
      check(
        t,
        "SELECT * FROM <t> WHERE lower(email) = 'u000777@b.c'" -> 1,
        "SELECT * FROM <t> WHERE upper(email) = 'U000777@B.C'" -> 40)
    }
  }

  test("files that are appended are read until a refresh, and a run refreshes the index", SameOnAllLines) {
    val t = scattered("appended", 20)
    indexed(t)
    quick {
      add(t, 1000, 3)
      finds(t, "SELECT * FROM <t> WHERE id = 777", most = 3 + 3)
      finds(t, "SELECT * FROM <t> WHERE id = 1100", most = 3 + 3)
      val refreshed = statement(t, "REFRESH INDEX")
      assert(refreshed.getAs[Long]("footers_read") === 3 && refreshed.getAs[Long]("files") === 23)
      finds(t, "SELECT * FROM <t> WHERE id = 1100")
    }
    cluster(t, "r", "WITH (fileCount = 8, force = true)")
    quick {
      assert(statement(t, "REFRESH INDEX").getAs[Long]("footers_read") === 0)
      finds(t, "SELECT * FROM <t> WHERE id = 777")
    }
  }

  for (version <- 2 to 3)
    test(
      s"entries are of all rows of a file, whatever a snapshot deletes of it, version $version",
      if (version == 3) SameOnAllLines else LongTest) {
      val t = addresses(
        s"deletes_$version",
        10,
        s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read')")
      val before = load(t).currentSnapshot.snapshotId
      on(t, "DELETE FROM <t> WHERE id IN (300, 349) OR id BETWEEN 100 AND 148")
      assert(tasks(t).map(_.deletes.size).sum > 0)
      indexed(t, s"COLUMNS (lower(email)) $bloom")
      quick {
        check(
          t,
          "SELECT * FROM <t> WHERE lower(email) = 'u000320@b.c'" -> 1,
          s"SELECT * FROM <t> VERSION AS OF $before WHERE lower(email) = 'u000349@b.c'" -> 1,
          s"SELECT * FROM <t> VERSION AS OF $before WHERE lower(email) = 'u000100@b.c'" -> 1,
          s"SELECT * FROM <t> VERSION AS OF $before WHERE id = 349" -> 1)
        assert(on(t, s"SELECT * FROM <t> VERSION AS OF $before WHERE id = 349").count() === 1)
        on(t, "DELETE FROM <t> WHERE id = 320")
        check(t, "SELECT id FROM <t> WHERE lower(email) = 'u000321@b.c'" -> 1)
        assert(on(t, "SELECT * FROM <t> WHERE lower(email) = 'u000320@b.c'").count() === 0)
      }
    }

  test("columns are known by their field ids: swapped, dropped and added again", SameOnAllLines) {
    val t = scattered("swapped", 10)
    on(t, "ALTER TABLE <t> ADD COLUMN b BIGINT")
    indexed(t)
    quick {
      finds(t, "SELECT * FROM <t> WHERE id = 77")
      on(t, "ALTER TABLE <t> RENAME COLUMN id TO c")
      on(t, "ALTER TABLE <t> RENAME COLUMN b TO id")
      on(t, "INSERT INTO <t> SELECT 9000L, 'k', 1, 77L")
      check(t, "SELECT * FROM <t> WHERE c = 77" -> 10)
      assert(on(t, "SELECT * FROM <t> WHERE id = 77").count() === 1)
      assert(on(t, "SELECT * FROM <t> WHERE id IS NULL").count() === 500)
      statement(t, "REFRESH INDEX")
      assert(on(t, "SELECT * FROM <t> WHERE id = 77").count() === 1)
      assert(on(t, "SELECT * FROM <t> WHERE id IS NULL").count() === 500)
      indexed(t, "WITH (bloom = 'c', bloomBudget = '500%')")
      finds(t, "SELECT * FROM <t> WHERE c = 77")
      on(t, "ALTER TABLE <t> DROP COLUMN c")
      on(t, "ALTER TABLE <t> ADD COLUMN c BIGINT")
      on(t, "INSERT INTO <t> SELECT 'k', 1, 5L, 20003L")
      assert(on(t, "SELECT * FROM <t> WHERE c = 20003").count() === 1)
    }
  }

  test("files that are read by names: columns that are added change nothing, those that take a name do") {
    val t = scattered("mapped", 20)
    val path = Files.createTempDirectory("mapped").resolve("imported").toString
    spark.range(1000, 1050, 1, 1).selectExpr("id", "concat('k', id) AS k", "int(id % 7) AS r")
      .write.parquet(path)
    sql(s"CALL ice.system.add_files('db.mapped', 'parquet.`$path`')").collect()
    assert(load(t).properties.containsKey("schema.name-mapping.default"))
    indexed(t)
    quick {
      finds(t, "SELECT * FROM <t> WHERE id = 777")
      on(t, "ALTER TABLE <t> ADD COLUMN fresh INT")
      finds(t, "SELECT * FROM <t> WHERE id = 777")
      val refreshed = statement(t, "REFRESH INDEX")
      assert(Seq("footers_read", "bloom_files_read").map(refreshed.getAs[Long](_)) === Seq(0L, 0L))
      finds(t, "SELECT * FROM <t> WHERE id = 777")
      on(t, "ALTER TABLE <t> RENAME COLUMN id TO old")
      on(t, "ALTER TABLE <t> ADD COLUMN id BIGINT")
      check(t, "SELECT * FROM <t> WHERE id = 777" -> 21)
    }
  }

  test("fields of a struct are known by their field ids: swapped, and another one in a snapshot of before") {
    val t = "ice.db.fields"
    sql(s"CREATE TABLE $t (id BIGINT, s STRUCT<x: STRING, z: STRING>) USING iceberg")
    def add(first: Long): Unit = {
      val struct = "named_struct('x', concat('x', string(id)), 'z', concat('z', string(id))) AS s"
      spark.range(first, first + 100, 1, 10).selectExpr("id", struct)
        .writeTo(t).option("distribution-mode", "none").append()
    }
    add(0)
    val clause = "COLUMNS (lower(s.x)) WITH (bloom = 's.x', bloomBudget = '500%')"
    indexed(t, clause)
    val before = load(t).currentSnapshot.snapshotId
    quick {
      finds(t, "SELECT * FROM <t> WHERE s.x = 'x7'")
      finds(t, "SELECT * FROM <t> WHERE lower(s.x) = 'x7'")
      on(t, "ALTER TABLE <t> RENAME COLUMN s.x TO y")
      on(t, "ALTER TABLE <t> RENAME COLUMN s.z TO x")
      def bothFound(): Unit = for (filter <- Seq("s.x = 'z7'", "lower(s.x) = 'z7'"))
        assert(on(t, s"SELECT * FROM <t> WHERE $filter").count() === 1, filter)
      bothFound()
      statement(t, "REFRESH INDEX")
      bothFound()
      on(t, "ALTER TABLE <t> DROP COLUMN s.x")
      on(t, "ALTER TABLE <t> ADD COLUMN s.x STRING")
      indexed(t, clause)
      assert(on(t, s"SELECT * FROM <t> VERSION AS OF $before WHERE lower(s.x) = 'x7'").count() === 1)
    }
  }

  test("a file that is brought in again under its name, written anew, is not taken for the earlier one") {
    val dir = Files.createTempDirectory("brought")
    val t = create("brought", "id BIGINT", "TBLPROPERTIES ('write.metadata.metrics.default' = 'none')")

    /** Files of one length, whatever is in them. */
    def bring(first: Long): Long = {
      val written = dir.resolve("written").toString
      spark.range(first, first + 100, 1, 1).write.mode("overwrite").option("compression", "none").option(
        "parquet.enable.dictionary",
        "false").parquet(written)
      val file = new java.io.File(written).listFiles.filter(_.getName.endsWith(".parquet")).head
      val there = dir.resolve("in").resolve("part.parquet")
      Files.createDirectories(there.getParent)
      Files.move(file.toPath, there, StandardCopyOption.REPLACE_EXISTING)
      sql(s"CALL ice.system.add_files('db.brought', 'parquet.`${there.getParent}`')").collect()
      Files.size(there)
    }
    val length = bring(1000)
    indexed(t, "COLUMNS (abs(id))")
    quick {
      assert(on(t, "SELECT * FROM <t> WHERE abs(id) = 1050").count() === 1)
      assert(opens(on(t, "SELECT * FROM <t> WHERE abs(id) = 50")) === 0)
      on(t, "DELETE FROM <t>")
      assert(bring(0) === length)
      assert(on(t, "SELECT * FROM <t> WHERE abs(id) = 50").count() === 1)
      assert(statement(t, "REFRESH INDEX").getAs[Long]("footers_read") === 1)
      assert(on(t, "SELECT * FROM <t> WHERE abs(id) = 50").count() === 1)
      assert(opens(on(t, "SELECT * FROM <t> WHERE abs(id) = 1050")) === 0)
    }
  }

  test("ranges, and columns that are partitions by themselves, are the format's own") {
    val t = scattered("own", 2, "PARTITIONED BY (r)")
    for (clause <- Seq("", "COLUMNS (k)", "COLUMNS (id, k) WITH (bloom = 'id')")) {
      val e = intercept[ZOrderException](indexed(t, clause))
      assert(e.condition === "ZORDER_INDEX_REFUSED.RANGES_OF_FORMAT", clause)
    }
    val e = intercept[ZOrderException](indexed(t, "WITH (bloom = 'r')"))
    assert(e.condition === "ZORDER_COLUMN_REFUSED.BLOOM_OF_PARTITION_COLUMN")
    indexed(t)
    quick(finds(t, "SELECT * FROM <t> WHERE id = 77"))
    on(t, "ALTER TABLE <t> CREATE BRANCH b")
    val ofBranch = intercept[ZOrderException](sql(s"ZORDER INDEX $t.branch_b $bloom"))
    assert(ofBranch.condition === "ZORDER_INDEX_REFUSED.OTHER_FORMAT")
    val old = create("first_version", "id BIGINT", "TBLPROPERTIES ('format-version' = '1')")
    val ofOld = intercept[ZOrderException](sql(s"ZORDER INDEX $old $bloom"))
    assert(ofOld.condition === "ZORDER_INDEX_REFUSED.OTHER_FORMAT")
  }
}
