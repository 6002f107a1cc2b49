package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{GuardedFileSystem, LocalStoreFileSystem, Operation, TableRef}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalKind, JournalState}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.mark.SameOnAllLines

/** Statements that read need read rights only, and change nothing: neither the table nor what others left. */
@SameOnAllLines
class ReadingSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  /** What a run of another JVM has left that died long ago, before its commit. */
  private def dies(target: TableRef): Unit = {
    val table = TableResolver.locate(Shims.classic(spark), target).asInstanceOf[ParquetTable]
    val staging = table.store.staging("dead")
    val kind = if (table.identity.isEmpty) JournalKind.Path else JournalKind.Catalog
    table.store.write(
      Journal(
        "dead",
        kind,
        Operation.Optimize,
        JournalState.Staging,
        "another",
        table.identity,
        "r-dead",
        changedMs = 0L,
        table.root,
        staging,
        Nil,
        Nil,
        process = ""))
    Files.createDirectories(Paths.get(staging.toUri))
    ()
  }

  private def checked(table: String, dir: Path): Unit = {
    done(one(s"ZORDER TABLE $table $run"))
    val name = table.stripPrefix("'").stripSuffix("'")
    dies(if (name == table) TableRef.Name(Seq(name)) else TableRef.Location(name))
    val row = OnlyReading.on(spark, table, dir)
    assert(status(row) === "DRY_RUN")
    assert(
      reason(row).contains("The run r-dead is at work on") && reason(row).contains("or died"),
      reason(row))
    // a run in place takes it away
    assert(status(done(one(s"ZORDER TABLE $table FULL $run"))) === "DONE")
    assert(!reason(one(s"ZORDER TABLE $table FULL $run DRY RUN")).contains("died"))
  }

  test("a path") {
    withTempDir { dir =>
      numbers(4000).write.parquet(dir.resolve("t").toString)
      checked(s"'${dir.resolve("t")}'", dir)
    }
  }

  test("a path in partitions") {
    withTempDir { dir =>
      numbers(4000).selectExpr("*", "id % 2 AS p").write.partitionBy("p").parquet(dir.resolve("t").toString)
      done(one(s"ZORDER TABLE '${dir.resolve("t")}' WHERE p = 1 $run"))
      val text = s"path:${dir.resolve("t")}"
      withConf(GuardedFileSystem.settings: _*)(GuardedFileSystem.untouched(dir) {
        spark.sql(s"SELECT zorder_file('$text', 1, 2L)").collect()
        assert(status(one(s"ZORDER TABLE '${dir.resolve("t")}' FULL $run DRY RUN")) === "DRY_RUN")
      })
    }
  }

  test("a table of the catalog, with and without partitions") {
    withTempDir { dir =>
      withTable("r_plain", "r_parts") {
        val (plain, parts) = (dir.resolve("a").resolve("t"), dir.resolve("b").resolve("t"))
        numbers(4000).write.option("path", plain.toString).saveAsTable("r_plain")
        checked("r_plain", plain.getParent)
        numbers(4000).selectExpr("*", "1 AS p").write.option("path", parts.toString).partitionBy("p")
          .saveAsTable("r_parts")
        checked("r_parts", parts.getParent)
      }
    }
  }

  test("a directory that is away in the middle of an exchange") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).write.parquet(path.toString)
      System.setProperty(CrashPoint.Property, "moved-old")
      try intercept[CrashPoint.Crash](zorder(path, run))
      finally System.clearProperty(CrashPoint.Property)
      assert(!Files.exists(path))
      withConf(GuardedFileSystem.settings: _*)(GuardedFileSystem.untouched(dir) {
        Seq(s"SELECT * FROM zorder_history('$path')", s"ZORDER TABLE '$path' $run DRY RUN").foreach { sql =>
          val said = intercept[Exception](spark.sql(sql).collect()).getMessage
          assert(said.contains("is away at the moment") && said.contains("VACUUM"), said)
        }
      })
      one(s"ZORDER VACUUM '$path'")
      assert(read(path).count() === 4000)
    }
  }

  test("a dry run and a copy need no directory that could be exchanged") {
    withConf(
      "fs.s3a.impl" -> classOf[LocalStoreFileSystem].getName,
      "fs.s3a.impl.disable.cache" -> "true") {
      withTempDir { dir =>
        numbers(4000).write.parquet(dir.resolve("t").toString)
        val (table, copy) = (s"s3a://bucket$dir/t", dir.resolve("copy"))
        assert(intercept[ZOrderException](one(s"ZORDER TABLE '$table' $run")).getMessage.contains("INTO"))
        GuardedFileSystem.untouched(dir) {
          assert(status(one(s"ZORDER TABLE '$table' $run DRY RUN")) === "DRY_RUN")
          assert(spark.sql(s"SELECT * FROM zorder_history('$table')").count() === 0)
        }
        done(one(s"ZORDER TABLE '$table' $run INTO '$copy'"))
        sameRows(read(dir.resolve("t")), read(copy))
      }
    }
  }
}
