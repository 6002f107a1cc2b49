package org.apache.spark.sql.zorder.table.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.OnlyReading
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements that read need read rights only, and change nothing. */
@SameOnAllLines
class DeltaReadingSuite extends AnyFunSuite with UncomparedCommits {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true)"

  test("reading changes nothing, neither the table nor the record of a run that died", LongTest) {
    withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false")(withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      done(zorder(path, run))
      assert(!reason(OnlyReading.on(spark, s"'$path'", dir)).contains("died"))
      System.setProperty(CrashPoint.Property, "delta-committed")
      try intercept[CrashPoint.Crash](zorder(path, s"FULL $run"))
      finally System.clearProperty(CrashPoint.Property)
      val row = OnlyReading.on(spark, s"'$path'", dir)
      assert(status(row) === "DRY_RUN" && reason(row).contains("is at work on"))
      zorder(path, "BY (a, b)")
      assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() === 2)
    })
  }

  test("a session that has read a table goes on with it after a run, by name and by path, cached or not") {
    withTempDir { dir =>
      withTable("d_seen") {
        val path = dir.resolve("t")
        delta(path, 4000)
        spark.sql(s"CREATE TABLE d_seen USING delta LOCATION '$path'")
        Seq("d_seen" -> "d_seen", s"'$path'" -> s"delta.`$path`").foreach { case (target, table) =>
          val (before, cached) = (spark.table(table), spark.table(table).where("id >= 0").cache())
          val n = before.count()
          assert(cached.count() === n)
          done(one(s"ZORDER TABLE $target FULL $run"))
          assert(before.count() === n && cached.count() === n)
          spark.sql(s"UPDATE $table SET a = -1 WHERE id = 17")
          spark.sql(s"DELETE FROM $table WHERE id = ${n - 1}")
          spark.sql(s"MERGE INTO $table t USING (SELECT 50L AS id, -2 AS a) s ON t.id = s.id " +
            "WHEN MATCHED THEN UPDATE SET a = s.a")
          assert(before.count() === n - 1 && cached.count() === n - 1 && spark.table(table).count() === n - 1)
          assert(cached.where("a < 0").count() === 2)
          cached.unpersist()
        }
      }
    }
  }
}
