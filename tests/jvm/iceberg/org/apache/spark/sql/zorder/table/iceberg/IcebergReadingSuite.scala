package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.clustering.OnlyReading
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements that read need read rights only, and change nothing. */
@SameOnAllLines
class IcebergReadingSuite extends AnyFunSuite with IcebergFixture {

  test("reading changes nothing, neither the table nor the record of a run that died", LongTest) {
    val table = create("reading", "id BIGINT, a INT, b BIGINT")
    fill(
      table,
      4000,
      6,
      "id",
      "cast(pmod(xxhash64(id), 1000) as int) AS a",
      "pmod(xxhash64(id, 2), 5000) AS b")
    cluster(table, "a, b")
    val dir = temp.resolve("ice")
    assert(!OnlyReading.on(spark, table, dir).getAs[String]("reason").contains("died"))
    System.setProperty(CrashPoint.Property, "iceberg-committed")
    try intercept[CrashPoint.Crash](
        sql(s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 4, force = true)"))
    finally System.clearProperty(CrashPoint.Property)
    val row = OnlyReading.on(spark, table, dir)
    assert(status(row) === "DRY_RUN" && row.getAs[String]("reason").contains("is at work on"))
    cluster(table, "a, b")
    assert(sql(s"SELECT * FROM zorder_history('$table')").count() === 2)
  }

  test("a session that has read a table goes on with it after a run and a vacuum, cached or not") {
    val table = create("seen", "id BIGINT, a INT, b BIGINT")
    fill(table, 4000, 6, "id", "cast(id % 100 as int) AS a", "id % 7 AS b")
    val (before, cached) = (spark.table(table), spark.table(table).where("id >= 0").cache())
    assert(before.count() === 4000 && cached.count() === 4000)
    cluster(table, "a, b")
    assert(before.count() === 4000 && cached.count() === 4000)
    sql(s"UPDATE $table SET a = -1 WHERE id = 17")
    sql(s"DELETE FROM $table WHERE id = 3999")
    sql(s"MERGE INTO $table t USING (SELECT 50L AS id, -2 AS a) s ON t.id = s.id " +
      "WHEN MATCHED THEN UPDATE SET a = s.a")
    sql(s"ZORDER VACUUM $table RETAIN 0 HOURS").collect()
    assert(spark.table(table).where("a < 0").count() === 2)
    assert(cached.count() === 3999 && spark.table(table).count() === 3999)
    cached.unpersist()
  }
}
