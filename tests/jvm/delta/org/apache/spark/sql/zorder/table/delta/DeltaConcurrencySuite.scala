package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.CrashPoints
import org.apache.spark.sql.zorder.table.storage.CrashPoint
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

  private val others = Seq(
    "DELETE FROM delta.`<path>` WHERE id = 17",
    "UPDATE delta.`<path>` SET a = 0 WHERE id = 18",
    "MERGE INTO delta.`<path>` t USING (SELECT 19L AS id) u ON t.id = u.id WHEN MATCHED THEN DELETE")

  for ((statement, vectors) <- others.flatMap(s => Seq(s -> "false", s -> "true")))
    test(
      s"${statement.takeWhile(_ != ' ')} of rewritten rows ends the run, deletion vectors = $vectors: nothing is " +
        "changed or left behind",
      SameOnAllLines +: LongTest.unless(statement.startsWith("DELETE") && vectors == "true"): _*) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 4000, Map("enableDeletionVectors" -> vectors))
        var after = Seq.empty[String]
        val e = intercept[ZOrderConflictException] {
          meanwhile("delta-commit") {
            spark.sql(statement.replace("<path>", path.toString)).collect()
            after = read(path).collect().map(_.toString).sorted.toSeq
          }(zorder(path, run))
        }
        assert(e.getMessage.contains("nothing was changed"), e.getMessage)
        assert(e.condition === "ZORDER_CONFLICT.COMMIT_REFUSED" && e.getSqlState === "40001")
        assert(e.getMessageParameters.get("table") === path.toString)
        assert(read(path).collect().map(_.toString).sorted.toSeq === after)
        assert(unknown(path) === Set.empty)
      }
    }

  /** Data files with rows that no version of the table knows; a MERGE may leave an empty one. */
  private def unknown(path: Path): Set[String] = {
    val log = DeltaLog.forTable(spark, path.toString)
    val named = (0L to log.update().version).flatMap { v =>
      log.getSnapshotAt(v).allFiles.collect().map(f => new java.net.URI(f.path).getPath)
    }.toSet
    val names = named.map(_.split('/').last)
    dataFiles(path).keySet.filterNot(f => names(f.split('/').last)).filter(f =>
      spark.read.parquet(path.resolve(f).toString).count() > 0)
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
