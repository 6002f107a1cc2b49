package org.apache.spark.sql.zorder.table.hudi

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.Steps
import sparkzorder.mark.LongTest

/** A table that is larger than a batch: clusterings of a part of it, one after the other. */
@LongTest
class HudiStepsSuite extends AnyFunSuite with HudiFixture with Steps {

  test("a table is clustered in steps, grows in steps, and is rolled back as a whole") {
    // as soon as it can: a compaction within a rollback would make Hudi refuse it half done
    withConf("hoodie.metadata.compact.max.delta.commits" -> "1")(withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 8000)
      val bytes = dataFiles(path).keys.map(f => java.nio.file.Files.size(path.resolve(f))).sum
      val options = s"WITH (fileCount = 4, force = true, maxBytesInFlight = ${bytes * 2 / 3})"
      step("they end in the files of one clustering, and every key is found") {
        val row = done(keeps(path)(zorder(path, s"BY (a, b) $options")))
        assert(
          metric[Long](row, "numBatches") >= 3 && metric[Long](row, "numFilesAdded") === 4,
          reason(row))
        assert(read(path).where("id = 7777").count() === 1)
      }
      step("a second run has nothing to do")(
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO"))
      val before = step("new rows that are more than a batch come to their files in steps, too") {
        write(numbers(12000).where("id >= 8000").repartition(4), path, "bulk_insert")
        val before = filesRead(path)
        val grown = done(keeps(path)(zorder(
          path,
          s"BY (a, b) WITH (writeBudget = 100, maxBytesInFlight = $bytes)")))
        assert(
          reason(grown).contains("merged there") && reason(grown).contains("In steps of at most"),
          reason(grown))
        assert(metric[Long](grown, "numBatches") >= 3 && files(path) === 4)
        assert(read(path).where("id in (7777, 11111)").count() === 2)
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
        before
      }
      step("a rollback that dies between two commits, or before its record, is ended by the next") {
        for (place <- Seq("hudi-undone", "rolled-back")) {
          System.setProperty(CrashPoint.Property, place)
          try intercept[CrashPoint.Crash](keeps(path)(one(s"ZORDER ROLLBACK '$path'")))
          finally System.clearProperty(CrashPoint.Property)
        }
        assert(status(keeps(path)(one(s"ZORDER ROLLBACK '$path'"))) === "ROLLED_BACK")
        assert(filesRead(path) === before)
        assert(
          spark.sql(s"SELECT * FROM zorder_history('$path') WHERE operation = 'ROLLBACK'").count() === 1)
      }
    })
  }
}
