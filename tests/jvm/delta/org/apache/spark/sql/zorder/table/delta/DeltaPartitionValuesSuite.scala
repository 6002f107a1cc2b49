package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}
import java.util.TimeZone
import java.util.concurrent.ConcurrentLinkedQueue

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.scheduler.{SparkListener, SparkListenerStageSubmitted}
import org.apache.spark.sql.delta.DeltaLog
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Partition values, which only Delta's log has: a run keeps them, whatever the zones of the session and the JVM. */
@SameOnAllLines
class DeltaPartitionValuesSuite extends AnyFunSuite with UncomparedCommits {
  private val run = "BY (id) WITH (fileCount = 2, force = true, verify = 'checksum')"
  private val zone = "spark.sql.session.timeZone"
  private val UtcValues = "spark.databricks.delta.write.utcTimestampPartitionValues"

  /** Three hours of the night in which clocks go back in Los Angeles, and NULL. */
  private def filled(path: Path, withZone: Boolean): Unit =
    withConf((UtcValues -> withZone.toString) +: (if (withZone) Seq(zone -> "UTC") else Nil): _*) {
      spark.range(0, 400, 1, 4).selectExpr(
        "id",
        "if(id % 4 = 0, null, timestamp_seconds(1636271999 + (id % 4) * 3600)) AS at",
        "concat('k=/', id % 2) AS kind")
        .write.format("delta").partitionBy("at", "kind").save(path.toString)
    }

  /** The texts in Delta's log. */
  private def texts(path: Path): Set[Map[String, String]] =
    DeltaLog.forTable(spark, path.toString).update().allFiles.collect().map(_.partitionValues).toSet

  private def inJvmZone[A](zone: String)(body: => A): A = {
    val before = TimeZone.getDefault
    TimeZone.setDefault(TimeZone.getTimeZone(zone))
    try body
    finally TimeZone.setDefault(before)
  }

  for {
    (jvm, its) <- Seq("UTC" -> "America/Los_Angeles", "Europe/Stockholm" -> "UTC")
    withZone <- Seq(true, false)
  } test(
    s"timestamps stay, the JVM in $jvm, the session in $its, values with a zone: $withZone",
    LongTest.unless(jvm == "UTC" && withZone): _*) {
    inJvmZone(jvm)(withConf(zone -> its)(withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path, withZone)
      val stored = texts(path)
      done(keeps(path)(zorder(path, run)))
      assert(texts(path) === stored)
      assert(status(zorder(path, run)) === "NOTHING_TO_DO")
      done(keeps(path)(zorder(path, s"FULL $run")))
      assert(texts(path) === stored)
    }))
  }

  test("an empty text is another partition than NULL, as Delta reads it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val other = dir.resolve("other")
      def ids(from: Int) = spark.range(from, from + 400, 1, 4).toDF("id")
      ids(0).selectExpr("id", "cast(null AS string) kind").write.format("delta").partitionBy("kind")
        .save(path.toString)
      ids(400).write.parquet(other.toString)
      DeltaFiles.add(spark, path, other, Map("kind" -> ""))
      def kinds = read(path).selectExpr("id", "kind IS NULL AS none", "kind = '' AS empty")
        .groupBy("none", "empty").count().collect().map(_.toString).toSet
      assert(kinds === Set("[true,null,400]", "[false,true,400]"))
      done(keeps(path)(zorder(path, "WHERE kind IS NULL BY (id) WITH (fileCount = 2, force = true)")))
      assert(kinds === Set("[true,null,400]", "[false,true,400]"))
      done(keeps(path)(zorder(path, "FULL BY (id) WITH (fileCount = 2, force = true)")))
      assert(kinds === Set("[true,null,400]", "[false,true,400]"))
      assert(texts(path).map(_("kind")) === Set(null, ""))
      assert(read(path).where("kind = ''").count() === 400)
      // in directories of Spark there is no empty text
      done(zorder(path, s"BY (id) WITH (fileCount = 2, force = true) INTO '$dir/copy'"))
      assert(spark.read.parquet(s"$dir/copy").where("kind IS NULL").count() === 800)
    }
  }

  /** What Spark's operators are called in each stage that `body` runs. */
  private def operators(body: => Any): Seq[Set[String]] = {
    val found = new ConcurrentLinkedQueue[Set[String]]
    val listener = new SparkListener {
      override def onStageSubmitted(stage: SparkListenerStageSubmitted): Unit = {
        found.add(stage.stageInfo.rddInfos.flatMap(_.scope).map(_.name).toSet)
        ()
      }
    }
    val context = spark.sparkContext
    context.addSparkListener(listener)
    try {
      body
      context.listenerBus.waitUntilEmpty()
    } finally context.removeSparkListener(listener)
    found.asScala.toList
  }

  test("a constraint beside a partition of texts: no file is sorted by it again, and an empty text stays") {
    withTempDir { dir =>
      val (path, other) = (dir.resolve("t"), dir.resolve("other"))
      spark.sql(s"CREATE TABLE delta.`$path` (id BIGINT, x INT NOT NULL, kind STRING) USING delta " +
        "PARTITIONED BY (kind)")
      def some(from: Int) = spark.range(from, from + 400, 1, 4).selectExpr("id", "cast(id % 97 AS int) x")
      some(0).selectExpr("*", "concat('k', id % 2) kind").write.format("delta").mode("append")
        .save(path.toString)
      some(400).write.parquet(other.toString)
      DeltaFiles.add(spark, path, other, Map("kind" -> ""))
      val stages = operators(
        done(keeps(path)(zorder(path, "BY (id, x) WITH (fileCount = 2, force = true)"))))
      val writes = stages.filter(_("DeltaInvariantChecker"))
      assert(writes.nonEmpty && !writes.exists(_("Sort")), stages)
      assert(texts(path).map(_("kind")) === Set("k0", "k1", ""))
    }
  }

  test(
    "a copy whose directories cannot say which of two equal hours is meant is given up, and nothing is left") {
    withConf(zone -> "America/Los_Angeles")(withTempDir { dir =>
      val path = dir.resolve("t")
      filled(path, withZone = true)
      val before = listing(path)
      val failure = intercept[Exception](
        zorder(path, s"BY (id) WITH (fileCount = 2, force = true) INTO '$dir/copy'")).getMessage
      assert(failure.contains("were written into the partition") && failure.contains("Nothing was changed"))
      assert(listing(path) === before && !Files.exists(dir.resolve("copy")))
      withConf(zone -> "UTC") {
        done(zorder(path, s"BY (id) WITH (fileCount = 2, force = true) INTO '$dir/copy'"))
        val copy = spark.read.parquet(s"$dir/copy").select("id", "at", "kind")
        assert(copy.exceptAll(read(path)).isEmpty && copy.count() === 400)
      }
    })
  }
}
