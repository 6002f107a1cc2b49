package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Path

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.Faults
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Runs on Delta tables whose tasks, writes or commits fail. */
@SameOnAllLines
class DeltaFaultSuite extends AnyFunSuite with DeltaFixture {

  override protected def builder: SparkSession.Builder = Faults.builder()
    .config("spark.delta.logStore.file.impl", classOf[FaultyLogStore].getName)
    .config("spark.databricks.delta.retentionDurationCheck.enabled", "false")

  // in tests, Delta puts something before the names of its files
  private val data = "/t/[^/_]*part-"
  private val by = "FULL BY (a, b) WITH (fileCount = 4, force = true)"

  private def vacuumed(path: Path): Unit = {
    keeps(path)(spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").collect())
    assert(dataFiles(path).size === files(path))
  }

  test("a task that fails twice is tried again: the rows are exact, no file is there twice", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      val struck = Faults.during(Faults.FullDisk(1000, data, times = 2))(keeps(path)(done(zorder(path, by))))
      assert(struck && files(path) === 4)
      vacuumed(path)
    }
  }

  test("no room for data files: a sentence, the rows as they were, and the next run works", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      val struck = Faults.during(Faults.FullDisk(9000, data)) {
        val said = intercept[ZOrderException](keeps(path)(zorder(path, by))).getMessage
        assert(said.contains("No space left on device") && !said.trim.contains('\n'), said)
      }
      assert(struck && files(path) === 6)
      vacuumed(path)
      done(keeps(path)(zorder(path, by)))
    }
  }

  test("no room for the run's record: the commit is Delta's, and stands") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      assert(Faults.during(Faults.FullDisk(0, "_zorder"))(keeps(path)(done(zorder(path, by)))))
      assert(files(path) === 4)
    }
  }

  test("a statement whose thread is interrupted behind its commit keeps its record") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      try meanwhile("delta-committed")(Thread.currentThread.interrupt())(zorder(path, by))
      finally Thread.interrupted()
      assert(files(path) === 4)
      assert(status(keeps(path)(one(s"ZORDER ROLLBACK '$path'"))) === "ROLLED_BACK" && files(path) === 6)
    }
  }

  test("a commit that fails before its log file is there: an error, and the table is as it was", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      FaultyLogStore.next = Some("before")
      val e = intercept[ZOrderException](keeps(path)(zorder(path, by)))
      assert(e.getMessage.contains("Injected") && FaultyLogStore.next.isEmpty, e.getMessage)
      assert(e.condition === "ZORDER_COMMIT_FAILED.DELTA")
      assert(files(path) === 6)
      vacuumed(path)
      done(keeps(path)(zorder(path, by)))
    }
  }

  test("a commit after which the log cannot be read: nobody knows, and no file is deleted") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      FaultyLogStore.next = Some("gone")
      val e =
        try intercept[ZOrderException](zorder(path, by))
        finally FaultyLogStore.gone = false
      assert(e.condition === "ZORDER_COMMIT_UNKNOWN.DELTA", e.getMessage)
      assert(read(path).count() === 2000 && files(path) === 6 && dataFiles(path).size > 6)
      vacuumed(path)
      done(keeps(path)(zorder(path, by)))
    }
  }

  test("after a second conflict the log is not read from the start of the run again", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000, Map("enableDeletionVectors" -> "true"))
      val first = DeltaLog.forTable(spark, path.toString).update().version + 1
      var deleted = 0
      CrashPoint.meanwhile = place =>
        if (place == "delta-commit" && deleted < 2) {
          deleted += 1
          spark.sql(s"DELETE FROM delta.`$path` WHERE id = $deleted").collect()
          FaultyLogStore.read.clear()
        }
      try done(zorder(path, by))
      finally CrashPoint.meanwhile = _ => ()
      assert(deleted === 2 && read(path).count() === 1998)
      val again = FaultyLogStore.read.asScala.toSet
      assert(again(f"${first + 1}%020d.json") && !again(f"$first%020d.json"), again)
    }
  }

  test("a commit that fails after its log file is there took place") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      FaultyLogStore.next = Some("after")
      done(keeps(path)(zorder(path, by)))
      assert(files(path) === 4 && history(path).getAs[String]("operation") === "OPTIMIZE")
      assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() === 1)
      vacuumed(path)
    }
  }
}
