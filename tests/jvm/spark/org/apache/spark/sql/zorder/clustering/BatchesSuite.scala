package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** Statements that commit partition by partition. */
@SameOnAllLines
class BatchesSuite extends AnyFunSuite with RunFixture {
  private val run = "BY (a, b) WITH (fileCount = 4, force = true"

  private def partitioned(path: Path, partitions: Int = 4): Unit =
    numbers(16000).selectExpr("*", s"id % $partitions AS p").repartition(2)
      .write.partitionBy("p").parquet(path.toString)

  private def runs(path: Path): Long = spark.sql(s"SELECT * FROM zorder_history('$path')").count()

  test("maxBytesInFlight: a commit for each partition, one result") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path, partitions = 2)
      val row = done(keepsRows(path)(zorder(path, s"$run, maxBytesInFlight = 1)")))
      assert(metric[Long](row, "numBatches") === 2 && runs(path) === 2)
      assert(metric[Long](row, "rows") === 16000 && metric[Long](row, "numFilesAdded") === 8)
      assert(metric[Long](row, "partitionsOptimized") === 2)
      assert(status(zorder(path, s"$run, maxBytesInFlight = 1)")) === "NOTHING_TO_DO")
      val before = read(path).inputFiles.toSet
      done(keepsRows(path)(zorder(path, s"FULL $run, maxBytesInFlight = 1)")))
      assert(runs(path) === 4 && read(path).inputFiles.toSet.intersect(before).isEmpty)
      // a rollback undoes the run, not its last commit, and the layouts of the run before count again
      keepsRows(path)(one(s"ZORDER ROLLBACK '$path'"))
      assert(read(path).inputFiles.toSet === before)
      assert(status(zorder(path, s"$run, maxBytesInFlight = 1)")) === "NOTHING_TO_DO")
    }
  }

  test("what is left, and what is in its place, of one and of several") {
    assert(Batch(left = Seq("p=1")).remaining === "1 partition is left")
    assert(Batch(left = Seq("p=1", "p=2")).remaining === "2 partitions are left")
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(100).coalesce(1).write.parquet(path.toString)
      val single = "BY (a, b) WITH (fileCount = 1, force = true)"
      done(zorder(path, single))
      val row = zorder(path, single)
      assert(status(row) === "NOTHING_TO_DO")
      assert(
        reason(row).startsWith("The only file is in this layout already; FULL rewrites it anyway."),
        reason(row))
    }
  }

  test("a name means in each batch what it meant when the statement began") {
    spark.sql("CREATE DATABASE elsewhere")
    withTable("named") {
      try {
        Seq("default.named", "elsewhere.named").foreach(
          numbers(8000).selectExpr("*", "id % 2 AS p").repartition(1).write.format("parquet")
            .partitionBy("p").saveAsTable(_))
        def files(name: String): Set[String] = {
          spark.sql(s"REFRESH TABLE $name")
          spark.table(name).inputFiles.toSet
        }
        val (before, others) = (files("default.named"), files("elsewhere.named"))
        CrashPoint.meanwhile = _ => {
          spark.sql("USE elsewhere")
          ()
        }
        val row =
          done(one("ZORDER TABLE named BY (a, b) WITH (fileCount = 4, force = true, maxBytesInFlight = 1)"))
        assert(metric[Long](row, "numBatches") === 2)
        assert(files("elsewhere.named") === others)
        assert(files("default.named").intersect(before).isEmpty)
      } finally {
        CrashPoint.meanwhile = _ => ()
        spark.sql("USE default")
        spark.sql("DROP DATABASE elsewhere CASCADE")
      }
    }
  }

  test("WHERE means in each batch what it meant when the statement began") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path)
      val zone = "spark.sql.session.timeZone"
      try withConf(zone -> "UTC") {
          CrashPoint.meanwhile = _ => spark.conf.set(zone, "+05:00")
          val today = "if(hour(timestamp_seconds(0)) = 0, 1, 3)"
          val row = done(zorder(path, s"WHERE p <= $today $run, maxBytesInFlight = 1)"))
          assert(metric[Long](row, "numBatches") === 2)
          assert(spark.sql(s"SELECT $today").head().getInt(0) === 3)
        }
      finally CrashPoint.meanwhile = _ => ()
    }
  }

  test("a rollback of a run in batches on a table of the catalog", LongTest) {
    withTable("batches") {
      numbers(16000).selectExpr("*", "id % 4 AS p").repartition(2)
        .write.format("parquet").partitionBy("p").saveAsTable("batches")
      def names = spark.table("batches").inputFiles.map(f => f.substring(f.lastIndexOf('/'))).toSet
      val before = names
      val row = done(one(s"ZORDER TABLE batches $run, maxBytesInFlight = 1)"))
      assert(metric[Long](row, "numBatches") === 4)
      numbers(16010).where("id >= 16000").selectExpr("*", "id % 4 AS p").write.insertInto("batches")
      one("ZORDER ROLLBACK batches")
      assert(before.subsetOf(names))
      assert(spark.table("batches").selectExpr("count(*)", "count(distinct id)").head() ===
        org.apache.spark.sql.Row(16010L, 16010L))
    }
  }

  test("as many jobs for eighty partitions as for forty", LongTest) {
    def jobs(partitions: Int): Int = withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr("*", s"id % $partitions AS p").repartition(1)
        .write.partitionBy("p").parquet(path.toString)
      val (row, watch) =
        JobWatch(spark)(done(zorder(path, "BY (a, b) WITH (fileCount = 2, force = true)")))
      assert(metric[Long](row, "partitionsOptimized") === partitions)
      watch.jobs.length
    }
    // Spark lists more than 32 directories in a job
    val few = jobs(40)
    assert(jobs(80) === few && few < 12)
  }

  test("maxInputBytes and maxDuration end a statement as PARTIAL, and the next one goes on there") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path)
      val limits = ", maxBytesInFlight = 1, maxInputBytes = 1)"
      val first = keepsRows(path)(zorder(path, run + limits))
      assert(status(first) === "PARTIAL" && reason(first).contains("3 partitions are left"), reason(first))
      val second = zorder(path, s"$run, maxBytesInFlight = 1, maxDuration = 0s)")
      assert(status(second) === "PARTIAL" && reason(second).contains("maxDuration"), reason(second))
      val last = done(keepsRows(path)(zorder(path, s"$run)")))
      assert(metric[Long](last, "partitionsOptimized") === 2 && runs(path) === 3)
      assert(status(zorder(path, s"$run)")) === "NOTHING_TO_DO")
    }
  }

  test("FULL that a limit ends comes to all partitions when it is said again", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path)
      done(zorder(path, s"$run)"))
      val before = read(path).inputFiles.toSet
      for (fulls <- 1 to 4) {
        val row = zorder(path, s"FULL $run, maxBytesInFlight = 1, maxInputBytes = 1)")
        assert(
          status(row) === "PARTIAL" && reason(row).contains("have waited longest come first"),
          reason(row))
        assert(read(path).inputFiles.count(before) === 4 * (4 - fulls))
      }
      sameRows(numbers(16000).selectExpr("*", "cast(id % 4 as int) AS p"), read(path))
    }
  }

  test("partitions that would gain nothing do not keep a limit from those behind them", LongTest) {
    for (limit <- Seq("maxInputBytes = 1", "maxDuration = '0s'")) withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path, partitions = 1)
      done(zorder(path, s"$run)"))
      // the same files as another table, which does not know that they are in a layout
      val two = dir.resolve("two")
      numbers(16000).repartition(4).write.parquet(two.resolve("p=1").toString)
      Files.createDirectories(two.resolve("p=0"))
      Files.list(path.resolve("p=0")).iterator.asScala.filter(_.toString.endsWith(".parquet")).foreach(f =>
        Files.copy(f, two.resolve("p=0").resolve(f.getFileName)))
      val limited = s"BY (a, b) WITH (fileCount = 4, maxBytesInFlight = 1, $limit)"
      val dry = zorder(two, s"$limited DRY RUN")
      assert(reason(dry).startsWith("The run would end as DONE: "), reason(dry))
      assert(metric[Long](dry, "partitionsOptimized") === 1, dry)
      val row = done(keepsRows(two)(zorder(two, limited)))
      assert(metric[Long](row, "partitionsOptimized") === 1 && metric[Long](row, "rows") === 16000, row)
    }
  }

  test("a run that dies in its third batch keeps the first two") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      partitioned(path)
      var commits = 0
      CrashPoint.meanwhile = place =>
        if (place == "swapping") {
          commits += 1
          if (commits == 3) System.setProperty(CrashPoint.Property, place)
        }
      try intercept[CrashPoint.Crash](zorder(path, s"$run, maxBytesInFlight = 1)"))
      finally {
        CrashPoint.meanwhile = _ => ()
        System.clearProperty(CrashPoint.Property)
      }
      val row = done(zorder(path, s"$run)"))
      assert(metric[Long](row, "partitionsOptimized") <= 2)
      sameRows(numbers(16000).selectExpr("*", "cast(id % 4 as int) AS p"), read(path))
    }
  }
}
