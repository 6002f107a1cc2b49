package org.apache.spark.sql.zorder.table.hudi

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.OnlyReading

/** Statements that read need read rights only, and change nothing. */
class HudiReadingSuite extends AnyFunSuite with HudiFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  test("reading changes nothing") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      done(zorder(path, run))
      val row = OnlyReading.on(spark, s"'$path'", dir)
      assert(status(row) === "DRY_RUN" && !reason(row).contains("died"), reason(row))
    }
  }
}
