package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.table.CrashPoints
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import org.apache.spark.util.Utils
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** Others at work during a run, and runs that die. */
class DeltaConcurrencySuite extends AnyFunSuite with DeltaFixture {
  private val run = "BY (a, b) WITH (fileCount = 8)"

  for (place <- Seq("delta-written", "delta-commit"))
    test(
      s"an append during a run survives: $place",
      SameOnAllLines +: LongTest.unless(place == "delta-commit"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path)
        val row = meanwhile(place)(numbers(500).write.format("delta").mode("append").save(path.toString))(
          zorder(path, run))
        done(row)
        assert(read(path).count() === 20500 && files(path) > 8)
      }
    }

  test("two runs at once: one wins, the other says so", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path)
      intercept[ZOrderConflictException] {
        meanwhile("delta-commit")(done(zorder(path, run)))(zorder(path, run))
      }
      assert(read(path).count() === 20000 && files(path) === 8)
    }
  }

  test("a run beside which the table is dropped and made anew leaves the new one alone", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val lost = intercept[ZOrderConflictException](meanwhile("delta-written") {
        Utils.deleteRecursively(path.resolve("_delta_log").toFile)
        DeltaLog.clearCache()
        numbers(500).write.format("delta").save(path.toString)
      }(zorder(path, run)))
      assert(lost.condition === "ZORDER_CONFLICT.OTHER_COMMIT", lost.getMessage)
      assert(read(path).count() === 500 && history(path).getAs[String]("operation") === "WRITE")
    }
  }

  for (own <- Seq("7 days", "0 hours"))
    test(s"a vacuum that keeps no old file is refused during a run: the table says $own", SameOnAllLines) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 4000, Map("deletedFileRetentionDuration" -> s"interval $own"))
        val vacuum = s"ZORDER VACUUM '$path' RETAIN 0 HOURS"
        withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
          var refusal = ""
          val row = keeps(path)(meanwhile("delta-commit") {
            val there = dataFiles(path)
            refusal = intercept[ZOrderConflictException](one(vacuum)).condition
            assert(dataFiles(path) === there)
          }(zorder(path, run)))
          done(row)
          assert(refusal === "ZORDER_CONFLICT.VACUUM_DURING_RUN" && files(path) === 8)
          one(vacuum)
          assert(dataFiles(path).size === 8)
        }
      }
    }

  test("a run whose new files somebody has deleted ends as a conflict", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val before = dataFiles(path).keySet
      val lost = keeps(path)(intercept[ZOrderConflictException](meanwhile("delta-commit") {
        Files.delete(path.resolve((dataFiles(path).keySet -- before).head))
      }(zorder(path, run))))
      assert(lost.condition === "ZORDER_CONFLICT.NEW_FILES_DELETED" && dataFiles(path).keySet === before)
      done(keeps(path)(zorder(path, run)))
    }
  }

  for (place <- CrashPoints.delta)
    test(
      s"a run that dies at $place leaves the rows as they were, and the next one succeeds",
      SameOnAllLines +: LongTest.unless(place == "delta-committed"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path)
        System.setProperty(CrashPoint.Property, place)
        try intercept[CrashPoint.Crash](keeps(path)(zorder(path, run)))
        finally System.clearProperty(CrashPoint.Property)
        val committed = place == "delta-committed"
        assert(files(path) === (if (committed) 8 else 6), place)
        // a run that died behind its commit is known to the next one
        val next = zorder(path, "BY (a, b) WITH (fileCount = 8, force = true)")
        assert(status(next) === (if (committed) "NOTHING_TO_DO" else "DONE"), place)
        done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 8, force = true)")))
        assert(!Files.exists(path.resolve("_zorder/runs/0.json")))
      }
    }

  for (place <- Seq("delta-restoring", "delta-restore-begun"))
    test(
      s"a rollback beside which somebody appends is refused, and goes on past a comment: $place",
      SameOnAllLines,
      LongTest) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 4000)
        val rollback = s"ZORDER ROLLBACK '$path'"
        done(zorder(path, run))
        def noted(): Any = {
          // Delta 4 would read it during the analysis, which Spark 4 forbids in tests
          DeltaLog.forTable(spark, path.toString).update().domainMetadata
          spark.sql(s"ALTER TABLE delta.`$path` ALTER COLUMN a COMMENT 'noted'")
        }
        meanwhile(place)(noted())(
          assert(status(one(rollback)) === "ROLLED_BACK" && files(path) === 6))
        assert(DeltaLog.forTable(spark, path.toString).update().schema("a").getComment().contains("noted"))
        done(zorder(path, run))
        val why = intercept[ZOrderException] {
          meanwhile(place)(
            numbers(10).write.format("delta").mode("append").save(path.toString))(one(rollback))
        }
        assert(why.getMessage.contains("WRITE made version"), why.getMessage)
        assert(read(path).count() === 4010 && history(path).getAs[String]("operation") === "WRITE")
      }
    }

  test("a rollback that dies before its record is ended by the next one", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path)
      val id = done(zorder(path, run)).getAs[String]("run_id")
      System.setProperty(CrashPoint.Property, "rolled-back")
      try intercept[CrashPoint.Crash](spark.sql(s"ZORDER ROLLBACK '$path'").collect())
      finally System.clearProperty(CrashPoint.Property)
      assert(files(path) === 6)
      val row = one(s"ZORDER ROLLBACK '$path'")
      assert(status(row) === "ROLLED_BACK" && row.getAs[String]("run_id") === id && files(path) === 6)
      val operations =
        spark.sql(s"DESCRIBE HISTORY delta.`$path`").collect().map(_.getAs[String]("operation"))
      assert(operations.toSeq.take(2) === Seq("RESTORE", "OPTIMIZE") && operations.last === "WRITE")
      refused(path, s"ZORDER ROLLBACK '$path'", "There is no run")
    }
  }
}
