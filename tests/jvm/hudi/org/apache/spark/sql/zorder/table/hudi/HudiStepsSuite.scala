package org.apache.spark.sql.zorder.table.hudi

import org.scalatest.funsuite.AnyFunSuite

/** A table that is larger than a batch: clusterings of a part of it, one after the other. */
class HudiStepsSuite extends AnyFunSuite with HudiFixture {

  test("steps end in the files of one clustering, every key is found, a second run has nothing to do") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 8000)
      val bytes = dataFiles(path).keys.map(f => java.nio.file.Files.size(path.resolve(f))).sum
      val options = s"WITH (fileCount = 4, force = true, maxBytesInFlight = ${bytes * 2 / 3})"
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $options")))
      assert(metric[Long](row, "numBatches") >= 3 && metric[Long](row, "numFilesAdded") === 4, reason(row))
      assert(read(path).where("id = 7777").count() === 1)
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }
}
