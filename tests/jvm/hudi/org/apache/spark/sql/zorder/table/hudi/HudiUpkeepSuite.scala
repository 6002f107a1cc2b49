package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.{Files, Path}
import java.time.{Instant, ZoneId}

import org.apache.hudi.common.model.TableServiceType
import org.apache.hudi.common.util.{Option => HudiOption}
import org.apache.hudi.metadata.SparkHoodieBackedTableMetadataWriter
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{Retention, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.{LongTest, Steps}

/** Tables of the catalog; history, vacuum, rollback and removal of runs. */
class HudiUpkeepSuite extends AnyFunSuite with HudiFixture with Steps {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  private def refused(statement: String): String =
    intercept[Exception](spark.sql(statement).collect()).getMessage

  test("by name and by hudi.`path`; SQL goes on; properties; removal takes all traces away", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      register("h_new", path)
      val waits = one("ZORDER TABLE h_new BY (a, b)")
      assert(status(waits) === "TOO_SMALL" && reason(waits).contains("write rows into it first"))
      hudi(path, 4000)
      register("h_t", path, "zorder.by" -> "a, b", "mine" -> "1")
      // the session has read the table before the run, and a frame of it is cached
      val cached = spark.table("h_t").where("id >= 0").cache()
      assert(spark.table("h_t").count() === 4000 && cached.count() === 4000)
      done(one("ZORDER TABLE h_t WITH (fileCount = 4, force = true)"))
      assert(cached.count() === 4000)
      spark.sql("UPDATE h_t SET a = -1 WHERE id < 10")
      spark.sql("DELETE FROM h_t WHERE id >= 3990")
      spark.sql("MERGE INTO h_t t USING (SELECT 50L AS id, -2 AS a) s ON t.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET a = s.a")
      assert(spark.table("h_t").count() === 3990)
      assert(spark.table("h_t").where("a < 0").count() === 11)
      cached.unpersist()
      // and again by its path, where it was read by its name
      done(one(s"ZORDER TABLE hudi.`$path` FULL BY (b, a) WITH (fileCount = 4, force = true)"))
      spark.sql("UPDATE h_t SET a = -1 WHERE id = 9")
      done(one("OPTIMIZE spark_catalog.default.h_t FULL ZORDER BY (a, b) WITH (fileCount = 2, force = true)"))
      assert(Files.exists(path.resolve("_zorder")))
      spark.sql("ZORDER REMOVE h_t").collect()
      assert(!Files.exists(path.resolve("_zorder")))
      val properties = spark.sql("SHOW TBLPROPERTIES h_t").collect().map(_.getString(0))
      assert(!properties.exists(_.startsWith("zorder.")) && properties.contains("mine"))
      spark.sql("UPDATE h_t SET a = -3 WHERE id = 60")
      assert(spark.table("h_t").where("a < 0").count() === 12)
    }
  }

  /** As any writer does once there are commits enough. */
  private def compactMetadata(path: Path): Unit = {
    val soon = Map("hoodie.metadata.compact.max.delta.commits" -> "1")
    HudiClient.during(Shims.classic(spark), path.toString, soon) { client =>
      val engine = client.getEngineContext
      val writer =
        SparkHoodieBackedTableMetadataWriter.create(engine.getStorageConf, client.getConfig, engine)
      try writer.performTableServices(HudiOption.empty[String]())
      finally writer.close()
    }
  }

  test("rollback brings the files before the last run back, and only those") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val (before, content) = (filesRead(path), rows(path))
      val id = done(zorder(path, run)).getAs[String]("run_id")
      step("of the last run, once") {
        val row = one(s"ZORDER ROLLBACK '$path'")
        assert(status(row) === "ROLLED_BACK" && row.getAs[String]("run_id") === id)
        assert(filesRead(path) === before && rows(path) === content)
        assert(refused(s"ZORDER ROLLBACK '$path'").contains("There is no run"))
      }
      step("refused where Hudi has compacted its metadata since") {
        done(keeps(path)(zorder(path, run)))
        val after = filesRead(path)
        compactMetadata(path)
        assert(refused(s"ZORDER ROLLBACK '$path'").contains("compacted its metadata table"))
        assert(filesRead(path) === after && rows(path) === content)
      }
      step("refused where rows were written since") {
        write(numbers(10).selectExpr("id + 9000 AS id", "a", "b", "s", "d"), path, "insert")
        assert(refused(s"ZORDER ROLLBACK '$path'").contains("was written to"))
        assert(read(path).count() === 4010)
      }
    }
  }

  test("a rollback is refused where a clean is planned that would delete what it brings back") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val content = rows(path)
      done(zorder(path, run))
      val after = filesRead(path)
      val versions = Map(
        "hoodie.clean.policy" -> "KEEP_LATEST_FILE_VERSIONS",
        "hoodie.clean.fileversions.retained" -> "1",
        "hoodie.clean.trigger.max.commits" -> "0")
      HudiClient.during(Shims.classic(spark), path.toString, versions)(
        _.scheduleTableService(HudiOption.empty(), TableServiceType.CLEAN))
      assert(refused(s"ZORDER ROLLBACK '$path'").contains("delete those of before it"))
      assert(filesRead(path) === after)
      HudiClient.during(Shims.classic(spark), path.toString, versions)(_.clean())
      assert(refused(s"ZORDER ROLLBACK '$path'").contains("were cleaned") && rows(path) === content)
    }
  }

  test("vacuum runs Hudi's cleaner; the state is no partition and stays") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val content = rows(path)
      done(zorder(path, run))
      assert(filesOnDisk(path).size === 10)
      step("it keeps to the retention")(
        assert(status(one(s"ZORDER VACUUM '$path'")) === "NOTHING_TO_DO"))
      step("a dry run says what it would delete, and deletes nothing") {
        val dry = one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS DRY RUN")
        assert(status(dry) === "DRY_RUN" && dry.getAs[Long]("files_deleted") === 6)
        assert(dry.getAs[Long]("bytes_deleted") > 0)
        assert(filesOnDisk(path).size === 10)
      }
      step("it deletes the old files and no others") {
        // however few commits Hudi would clean after
        val row = withConf("hoodie.clean.trigger.max.commits" -> "10")(
          one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS"))
        assert(row.getAs[Long]("files_deleted") === 6 && status(row) === "DELETED")
        assert(filesOnDisk(path).size === 4 && rows(path) === content)
        assert(refused(s"ZORDER ROLLBACK '$path'").contains("were cleaned"))
      }
      step("the layout stays known")(
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO"))
      step("without Hudi's metadata table, partitions are found by walking the directories: ours is none") {
        write(
          numbers(5).selectExpr("id + 9000 AS id", "a", "b", "s", "d"),
          path,
          "insert",
          "hoodie.metadata.enable" -> "false")
        val listed = spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(path.toString)
        assert(listed.count() === 4005)
      }
    }
  }

  test("vacuum of a table to which nobody has committed for longer than the retention", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      done(zorder(path, run))
      val session = Shims.classic(spark)
      val opened =
        TableResolver.open(session, TableRef.Location(path.toString)).asInstanceOf[HudiClusterTable]
      val deleted = HudiVacuum.run(session, opened, Retention(ms = 1, stated = true), dryRun = false)
      assert(deleted.map(_.files) === Seq(6) && filesOnDisk(path).size === 4)
    }
  }

  test("what a write replaces while a vacuum lists the table stays as long as the retention says", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val before = filesRead(path)
      val session = Shims.classic(spark)
      val opened =
        TableResolver.open(session, TableRef.Location(path.toString)).asInstanceOf[HudiClusterTable]
      // the last commit is older than the retention
      Thread.sleep(3000)
      var came = 0
      CrashPoint.meanwhile = place =>
        if (place == "hudi-cleaning" && came == 0) {
          came += 1
          write(numbers(4000).selectExpr("id", "a + 1 AS a", "b", "s", "d"), path, "upsert")
        }
      HudiVacuum.run(session, opened, Retention(ms = 2000, stated = true), dryRun = false)
      assert(came === 1 && before.subsetOf(filesOnDisk(path)))
    }
  }

  test("the cleaner's hours reach back to the beginning of each commit that ended within the retention") {
    val now = Instant.parse("2026-03-10T12:00:00Z").toEpochMilli
    def hours(keep: Int, commits: (String, String)*): Option[Int] =
      HudiVacuum.hours(commits, keep * 3600000L, now, ZoneId.of("UTC"))
    val quick = "20260310111500000" -> "20260310111600000"
    val long = "20260310020000000" -> "20260310113000000"
    val old = "20260310020000000" -> "20260310103000000"
    assert(hours(1) === None && hours(1, old) === None && hours(0, quick) === None)
    // ten minutes more, since Hudi counts from its plan
    assert(hours(1, quick) === Some(2) && hours(3, quick) === Some(4))
    assert(hours(1, quick, long) === Some(11) && hours(1, quick, old) === Some(2))
    assert(hours(1, "20260310020000" -> "20260310113000") === Some(11))
    // a retention that reaches back beyond the year 1 keeps all
    assert(hours(99999999, quick) === Some((now / 3600000L).toInt + 1))
    // what is under way may end before that
    assert(HudiVacuum.hours(Seq(old), 3600000L, now, ZoneId.of("UTC"), busy = true) === Some(2))
  }
}
