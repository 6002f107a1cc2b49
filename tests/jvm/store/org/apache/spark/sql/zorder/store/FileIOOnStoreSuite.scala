package org.apache.spark.sql.zorder.store

import scala.collection.JavaConverters._

import org.apache.iceberg.Table
import org.apache.iceberg.io.SupportsPrefixOperations
import org.apache.iceberg.spark.Spark3Util
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.CrashPoints
import sparkzorder.{LongTest, Steps}

/**
 * Iceberg as it is run in clouds: a REST catalog that gives the keys to the storage with each table, and `S3FileIO`.
 * Hadoop has either no file system for `s3:`, or one with other keys.
 */
class FileIOOnStoreSuite extends AnyFunSuite with StoreFixture with Steps {

  override protected def settings: Map[String, String] = {
    val catalog = "spark.sql.catalog.rest"
    FormatsOnStore.settings(place("ice")) ++ Map(
      catalog -> "org.apache.iceberg.spark.SparkCatalog",
      s"$catalog.type" -> "rest",
      s"$catalog.uri" -> RestCatalogServer.uri) ++
      RestCatalogServer.storage.map { case (key, value) => s"$catalog.$key" -> value }
  }

  private def load(table: String): Table = {
    val loaded = Spark3Util.loadIcebergTable(spark, table)
    loaded.refresh()
    loaded
  }

  /** What lies below the table's location, by paths in it. */
  private def objects(table: String): Set[String] = {
    val at = load(table)
    at.io.asInstanceOf[SupportsPrefixOperations].listPrefix(at.location).asScala
      .map(_.location.stripPrefix(at.location + "/")).toSet
  }

  private def full(table: String): String =
    s"ZORDER TABLE $table FULL BY (a, b) WITH (fileCount = 4, force = true)"

  private def filled(name: String): String = {
    sql("CREATE NAMESPACE IF NOT EXISTS rest.db")
    sql(s"CREATE TABLE rest.db.$name (id BIGINT, a INT, b BIGINT, p BIGINT) USING iceberg")
    append(s"rest.db.$name", 0, 4000)
    for (i <- 0 until 5) append(s"rest.db.$name", 4000 + i * 100L, 4100 + i * 100L)
    s"rest.db.$name"
  }

  test("a table of a REST catalog: run, increment, crashes, rollback, vacuum, removal", LongTest) {
    val t = filled("t")
    step("the catalog has given the keys") {
      assert(load(t).location.startsWith("s3://"))
      assert(load(t).io.properties.asScala.get("s3.secret-access-key").contains(S3Server.SecretKey))
      assert(!spark.conf.getAll.exists { case (key, value) =>
        key.startsWith("spark.sql.catalog.rest") && value == S3Server.SecretKey
      })
    }
    step("a run") {
      assert(one(s"ZORDER TABLE $t BY (a, b) WITH (fileCount = 4, force = true) DRY RUN")
        .getAs[String]("status") == "DRY_RUN")
      done(one(s"ZORDER TABLE $t BY (a, b) WITH (fileCount = 4, force = true, verify = 'checksum')"))
      assert(ids(t) === (0L until 4500))
      assert(one(s"ZORDER TABLE $t BY (a, b)").getAs[String]("status") == "NOTHING_TO_DO")
    }
    step("new files") {
      append(t, 4500, 5000)
      done(one(s"ZORDER TABLE $t BY (a, b) WITH (force = true)"))
      assert(ids(t) === (0L until 5000))
    }
    step("crashes") {
      for (point <- "iceberg-listed" +: CrashPoints.iceberg) {
        crashAt(point)(one(full(t)))
        assert(ids(t) === (0L until 5000), point)
      }
      done(one(full(t)))
      // two of the crashes came behind the commit
      assert(sql(s"SELECT * FROM zorder_history('$t')").count() == 5)
    }
    step("rollback and audit") {
      one(s"ZORDER ROLLBACK $t")
      assert(ids(t) === (0L until 5000))
      assert(sql(s"SELECT * FROM clustering_information('$t', 'a, b')").count() > 0)
    }
    step("vacuum keeps what dead runs have left for a day: their writer may be at work") {
      sql(s"ZORDER VACUUM $t RETAIN 0 HOURS").collect()
      assert(ids(t) === (0L until 5000))
      val live = sql(s"SELECT file_path FROM $t.files").collect().map(_.getString(0).split('/').last).toSet
      assert(live.subsetOf(objects(t).filter(_.startsWith("data/")).map(_.split('/').last)))
      assert(sql(s"SELECT * FROM zorder_history('$t')").count() == 6)
    }
    step("removal") {
      one(s"ZORDER REMOVE $t")
      assert(!objects(t).exists(_.startsWith("_zorder/")))
      assert(!load(t).properties.asScala.keys.exists(_.startsWith("zorder.")))
    }
  }

  test("Hadoop has a file system, and other keys than the catalog gives", LongTest) {
    val t = filled("other_keys")
    spark.conf.set("fs.s3.impl", "org.apache.hadoop.fs.s3a.S3AFileSystem")
    spark.conf.set(s"fs.s3a.bucket.${S3Server.Bucket}.secret.key", "wrong")
    try {
      done(one(s"ZORDER TABLE $t BY (a, b) WITH (fileCount = 4, force = true)"))
      assert(ids(t) === (0L until 4500))
      assert(load(t).properties.containsKey("zorder.records"))
      assert(sql(s"SELECT * FROM zorder_history('$t')").count() == 1)
    } finally {
      spark.conf.unset("fs.s3.impl")
      spark.conf.unset(s"fs.s3a.bucket.${S3Server.Bucket}.secret.key")
    }
  }
}
