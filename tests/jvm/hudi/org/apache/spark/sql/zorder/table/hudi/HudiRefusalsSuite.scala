package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.Path
import java.util.Properties

import org.apache.hudi.common.schema.{HoodieSchema, HoodieSchemaType}
import org.apache.hudi.common.table.HoodieTableConfig
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.LongTest

/** Hudi tables that are not rewritten, each with one sentence; and merge-on-read tables, which are. */
class HudiRefusalsSuite extends AnyFunSuite with HudiFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"
  private val schemaOnRead = "hoodie.schema.on.read.enable" -> "true"
  private val merging = "hoodie.datasource.write.table.type" -> "MERGE_ON_READ"

  private def says(path: Path, words: String*): Unit = {
    val message = intercept[Exception](zorder(path, run)).getMessage
    words.foreach(w => assert(message.contains(w), message))
    assert(!message.contains('\n'), message)
  }

  test("merge-on-read: base files are clustered, log files must be compacted first", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000, Map(merging))
      done(keeps(path)(zorder(path, run)))
      write(
        numbers(4000).where("id = 17").selectExpr("id", "-5 AS a", "b", "s", "d"),
        path,
        "upsert",
        merging,
        "hoodie.compact.inline" -> "false")
      says(path, "run_compaction", "log files")
      spark.sql(s"CALL run_compaction(op => 'scheduleAndExecute', path => '$path', " +
        "options => 'hoodie.compact.inline.max.delta.commits=1')").collect()
      done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
      assert(read(path).where("a = -5").count() === 1)
    }
  }

  test("log files of one partition keep no other one from being clustered", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val merged = Seq(
        merging,
        "hoodie.datasource.write.partitionpath.field" -> "p",
        "hoodie.compact.inline" -> "false")
      val rows = numbers(4000).selectExpr("id", "a", "b", "s", "d", "id % 2 AS p")
      write(rows.repartition(3), path, "bulk_insert", merged: _*)
      write(rows.where("id = 17"), path, "upsert", merged: _*)
      assert(status(zorder(path, s"WHERE p = 0 $run DRY RUN")) === "DRY_RUN")
      val row = done(keeps(path)(zorder(path, s"WHERE p = 0 $run")))
      assert(metric[Long](row, "rows") === 2000)
      for (where <- Seq("", "WHERE p = 1 ", "WHERE a >= 0 "); dry <- Seq("", " DRY RUN")) {
        val e = intercept[ZOrderException](zorder(path, s"$where$run$dry"))
        assert(e.condition === "ZORDER_FILE_REFUSED.HUDI_LOG_FILES", e.getMessage)
        assert(e.getMessage.contains("leave its partition out of a run with WHERE"), e.getMessage)
      }
      val copied = intercept[ZOrderException](zorder(path, s"WHERE p = 0 $run INTO '${dir.resolve("copy")}'"))
      assert(copied.condition === "ZORDER_FILE_REFUSED.HUDI_LOG_FILES", copied.getMessage)
      val audit = s"SELECT * FROM clustering_information('$path', 'a, b')"
      val audited = intercept[ZOrderException](spark.sql(audit).collect())
      assert(audited.condition === "ZORDER_FILE_REFUSED.HUDI_LOG_FILES", audited.getMessage)
    }
  }

  test("logs of changes beside the files of a copy-on-write table hold no rows of it", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val changes = "hoodie.table.cdc.enabled" -> "true"
      hudi(path, 4000, Map(changes))
      write(
        numbers(4000).where("id % 3 = 1").selectExpr("id", "-5 AS a", "b", "s", "d"),
        path,
        "upsert",
        changes)
      val logs = java.nio.file.Files.walk(path)
      try assert(logs.anyMatch(_.toString.endsWith(".cdc")))
      finally logs.close()
      done(keeps(path)(zorder(path, run)))
      assert(read(path).where("a = -5").count() === 1333 && status(zorder(path, run)) === "NOTHING_TO_DO")
    }
  }

  test("a bucket index, rows without meta fields, partition columns that are not in the files", LongTest) {
    withTempDir { dir =>
      val bucketed = dir.resolve("b")
      hudi(bucketed, 400, Map("hoodie.index.type" -> "BUCKET", "hoodie.bucket.index.num.buckets" -> "4"))
      says(bucketed, "bucket index")
      val bare = dir.resolve("m")
      hudi(bare, 400, Map("hoodie.populate.meta.fields" -> "false"))
      says(bare, "hoodie.populate.meta.fields")
      val dropped = dir.resolve("d")
      hudi(dropped, 400)
      val change = new Properties
      change.setProperty("hoodie.datasource.write.drop.partition.columns", "true")
      val meta = metaClient(dropped)
      HoodieTableConfig.update(meta.getStorage, meta.getMetaPath, change)
      says(dropped, "partition columns out of the files")
    }
  }

  test("an index type that only settings know, and a column of Hudi's own") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 400)
      val own = intercept[ZOrderException](zorder(path, "BY (_hoodie_record_key, a)")).getMessage
      assert(own.contains("_hoodie_record_key is a column that Hudi keeps") && own.contains("(id)"), own)
      withConf("hoodie.index.type" -> "BUCKET")(says(path, "session sets hoodie.index.type"))
      withTable("bucket_t") {
        register("bucket_t", path, "hoodie.index.type" -> "BUCKET")
        for (statement <- Seq(s"ZORDER TABLE bucket_t $run", "ZORDER VACUUM bucket_t")) {
          val message = intercept[ZOrderException](spark.sql(statement).collect()).getMessage
          assert(message.contains("has a bucket index"), message)
        }
      }
    }
  }

  for (version <- Seq("6", "8")) test(
    s"a table of version $version is refused before any work, and clustered where Hudi writes that version",
    LongTest.unless(version == "6"): _*) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val older = Seq("hoodie.write.table.version" -> version, "hoodie.write.auto.upgrade" -> "false")
      hudi(path, 400, older.toMap)
      says(path, s"has Hudi's table version $version", s"SET hoodie.write.table.version = $version")
      withConf(older: _*)(done(keeps(path)(zorder(path, run))))
      write(numbers(10).selectExpr("id + 900 AS id", "a", "b", "s", "d"), path, "insert")
      done(keeps(path)(zorder(path, s"FULL $run")))
    }
  }

  /** Changes the table's schema as ALTER TABLE does under Hudi's schema on read. */
  private def evolve(path: Path)(change: HudiClient.Client => Unit): Unit =
    HudiClient.during(Shims.classic(spark), path.toString, Map(schemaOnRead))(change)

  test(
    "columns that are named by Hudi's schema on read: not without its setting, and not after a rename",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 400)
      evolve(path)(_.updateColumnComment("a", "the first"))
      says(path, "SET hoodie.schema.on.read.enable = true first")
      withConf(schemaOnRead)(done(keeps(path)(zorder(path, run))))
      for ((from, to) <- Seq("a" -> "c", "b" -> "a", "c" -> "b")) evolve(path)(_.renameColumn(from, to))
      says(path, "SET hoodie.schema.on.read.enable = true first")
      withConf(schemaOnRead)(says(path, "The column a of", "was renamed or dropped"))
    }
  }

  test("a column that was dropped under Hudi's schema on read, and one that was added again", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 400)
      evolve(path)(_.deleteColumns("s"))
      withConf(schemaOnRead)(says(path, "The column s of"))
      evolve(path)(_.addColumn("s", HoodieSchema.createNullable(HoodieSchemaType.STRING)))
      withConf(schemaOnRead)(says(path, "The column s of"))
    }
  }

  test("a clustering that somebody has planned, a partition's directory, nothing") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val rows = numbers(4000).selectExpr("id", "a", "b", "id % 2 AS p").repartition(2)
      write(rows, path, "bulk_insert", "hoodie.datasource.write.partitionpath.field" -> "p")
      says(path.resolve("1"), "lies inside the Hudi table")
      spark.sql(s"CALL run_clustering(path => '$path', op => 'schedule', order => 'a', " +
        "options => 'hoodie.clustering.plan.strategy.single.group.clustering.enabled=true')").collect()
      assert(pending(path) === 1)
      says(path, "clustering or a compaction")
      val none = intercept[Exception](one(s"ZORDER TABLE hudi.`${dir.resolve("none")}` $run")).getMessage
      assert(none.contains("nothing at"))
    }
  }
}
