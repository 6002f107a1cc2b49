package org.apache.spark.sql.zorder.store

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.CrashPoints
import sparkzorder.LongTest

/** Delta Lake and Iceberg on an object store: run, append, increment, rollback, vacuum, a crash at their commits. */
class FormatsOnStoreSuite extends AnyFunSuite with StoreFixture {

  override protected def settings: Map[String, String] = FormatsOnStore.settings(place("ice"))

  private def lives(table: String, crashes: Seq[String]): Unit = {
    done(cluster(table))
    assert(ids(table) === (0L until 4000))
    append(table, 4000, 5000)
    for (point <- crashes) {
      crashAt(point)(one(s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 4, force = true)"))
      assert(ids(table) === (0L until 5000), point)
    }
    done(one(s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 4, force = true)"))
    assert(ids(table) === (0L until 5000))
    one(s"ZORDER ROLLBACK $table")
    assert(ids(table) === (0L until 5000))
    sql(s"ZORDER VACUUM $table RETAIN 0 HOURS").collect()
    assert(ids(table) === (0L until 5000))
  }

  test("a Delta table", LongTest) {
    val at = place("delta")
    sql(s"CREATE TABLE delta_table (id BIGINT, a INT, b BIGINT, p BIGINT) USING delta LOCATION '$at'")
    try {
      append("delta_table", 0, 4000)
      lives("delta_table", CrashPoints.delta)
    } finally sql("DROP TABLE delta_table")
  }

  test("an Iceberg table", LongTest) {
    sql("CREATE TABLE ice.db.t (id BIGINT, a INT, b BIGINT, p BIGINT) USING iceberg")
    append("ice.db.t", 0, 4000)
    lives("ice.db.t", CrashPoints.iceberg)
  }
}

private[store] object FormatsOnStore {

  /** Delta as the session's catalog, and a Hadoop catalog `ice` of Iceberg's. */
  def settings(warehouse: String): Map[String, String] = Map(
    "spark.sql.extensions" -> Seq(
      "io.delta.sql.DeltaSparkSessionExtension",
      "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
      "org.apache.spark.sql.zorder.ZOrderExtensions").mkString(","),
    "spark.sql.catalog.spark_catalog" -> "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions" -> "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism" -> "2",
    "spark.databricks.delta.retentionDurationCheck.enabled" -> "false",
    "spark.sql.catalog.ice" -> "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type" -> "hadoop",
    "spark.sql.catalog.ice.warehouse" -> warehouse)
}
