package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.state.StateFixture
import sparkzorder.mark.SameOnAllLines

/** Runs of Delta tables that an earlier version has left unfinished (`tests/state`). */
@SameOnAllLines
class DeltaStateOnDiskSuite extends AnyFunSuite with DeltaFixture {

  private def unpacked(name: String)(body: Path => Unit): Unit = withTempDir { dir =>
    StateFixture.unpack(name, dir)
    val path = dir.resolve("t")
    body(path)
    assert(read(path).selectExpr("count(*)", "count(distinct id)", "sum(id)").head().toSeq ===
      Seq(1200L, 1200L, 719400L))
  }

  private def runs(path: Path): Long = spark.sql(s"SELECT * FROM zorder_history('$path')").count()

  test("steps of a large table that are left") {
    unpacked("delta-steps") { path =>
      val before = runs(path)
      assert(before >= 1)
      val bytes = spark.sql(s"DESCRIBE DETAIL delta.`$path`").head().getAs[Long]("sizeInBytes")
      val limits = s"WITH (fileCount = 8, pageRowLimit = 60, maxBytesInFlight = ${4 * bytes})"
      val dry = zorder(path, s"BY (a, b) $limits DRY RUN")
      assert(reason(dry).matches(".* steps? of an earlier run (is|are) left.*"), reason(dry))
      val row = done(zorder(path, s"BY (a, b) $limits"))
      assert(reason(row).contains("This continues the steps of an earlier run."), reason(row))
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO" && runs(path) > before)
      assert(spark.sql(s"DESCRIBE DETAIL delta.`$path`").head().getAs[Long]("numFiles") === 8)
    }
  }

  test("a run that has committed and died before it was recorded") {
    unpacked("delta-pending") { path =>
      val pending = path.resolve("_zorder/pending")
      assert(Files.list(pending).count() === 1 && runs(path) === 0)
      assert(status(zorder(path, "BY (a, b) WITH (fileCount = 4)")) === "NOTHING_TO_DO")
      assert(Files.list(pending).count() === 0 && runs(path) === 1)
      refused(path, s"ZORDER ROLLBACK '$path'", "no run", "version of its last run is not known")
    }
  }
}
