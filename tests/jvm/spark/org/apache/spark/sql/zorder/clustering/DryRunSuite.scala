package org.apache.spark.sql.zorder.clustering

import java.nio.file.{Files, Path}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** A dry run names the status and the reason that the run would have. */
@SameOnAllLines
class DryRunSuite extends AnyFunSuite with RunFixture {
  private val ahead = "(?s)The run would end as ([A-Z_]+)[:,].*".r

  /** The status that a dry run tells. */
  private def foretold(dry: Row): String = (status(dry), reason(dry)) match {
    case ("DRY_RUN", ahead(status)) => status
    case ("DRY_RUN", other) => fail(other)
    case (status, _) => status
  }

  /** First dry, then in earnest. */
  private def ends(path: Path, rest: String, expected: String): Unit = {
    val before = listing(path)
    val dry = zorder(path, s"$rest DRY RUN")
    assert(listing(path) === before, rest)
    val real = zorder(path, rest)
    assert(
      (foretold(dry), status(real)) === ((expected, expected)),
      s"$rest\n${reason(dry)}\n${reason(real)}")
    if (expected != "DONE" && expected != "PARTIAL") {
      assert(reason(dry) === reason(real))
      assert(listing(path) === before, rest)
    }
  }

  test("the status of every end, foretold by a dry run") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val eight = "WITH (fileCount = 8, pageRowLimit = 500)"
      numbers(6000).selectExpr("*", "1 one").repartition(3).write.parquet(path.toString)
      ends(path, "BY (a, b)", "TOO_SMALL")
      ends(path, s"BY (one) $eight", "NO_GAIN")
      ends(path, "BY (a, b) WITH (fileCount = 1)", "NO_GAIN")
      ends(path, s"WHERE id < 0 BY (a, b) $eight", "NOTHING_TO_DO")
      ends(path, s"BY (a, b) $eight", "DONE")
      ends(path, s"BY (a, b) $eight", "NOTHING_TO_DO")
      numbers(60).selectExpr("*", "1 one").coalesce(1).write.mode("append").parquet(path.toString)
      ends(path, s"BY (a, b) $eight", "DONE")
    }
  }

  /** A table that is too small for a run, with a column of one value. */
  private def inTwoPartitions(path: Path): Unit =
    numbers(6000).selectExpr("*", "1 one", "int(id % 2) p").repartition(3)
      .write.partitionBy("p").parquet(path.toString)

  test("FULL rewrites whatever is gained and however small the table is, and its dry run says so") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      inTwoPartitions(path)
      ends(path, "BY (a, b)", "TOO_SMALL")
      keepsRows(path)(ends(path, "FULL BY (a, b)", "DONE"))
      ends(path, "BY (a, b)", "NOTHING_TO_DO")
      for (again <- Seq("FULL", "FULL BY (one) WITH (fileCount = 4)")) {
        val dry = zorder(path, s"$again DRY RUN")
        assert(reason(dry).startsWith("The run would end as DONE: ") && list(dry, "columns").nonEmpty)
        assert(share(dry, 0, "files", "forecast") > 0)
        val before = dataFiles(path).keySet
        val row = keepsRows(path)(done(zorder(path, again)))
        assert(dataFiles(path).keySet.intersect(before).isEmpty)
        assert(metric[Long](row, "partitionsOptimized") === 2)
      }
      assert(reason(zorder(
        path,
        "FULL BY (one) WITH (fileCount = 4) DRY RUN")).contains("holds a single value"))
    }
  }

  test("FULL with WHERE, and INTO", LongTest) {
    withTempDir { dir =>
      val (path, copy) = (dir.resolve("t"), dir.resolve("copy"))
      inTwoPartitions(path)
      ends(path, "FULL WHERE p = 1 BY (a, b)", "DONE")
      ends(path, "FULL WHERE p = 7 BY (a, b)", "NOTHING_TO_DO")
      ends(path, s"BY (one) WITH (fileCount = 4) INTO '$copy'", "NO_GAIN")
      ends(path, s"FULL BY (one) WITH (fileCount = 4) INTO '$copy'", "DONE")
      sameRows(read(path), read(copy))
    }
  }

  test("a copy is refused as a run in place is, and made by force") {
    withTempDir { dir =>
      val (path, copy) = (dir.resolve("t"), dir.resolve("copy"))
      numbers(4000).selectExpr("*", "1 one").repartition(3).write.parquet(path.toString)
      ends(path, s"BY (a, b) INTO '$copy'", "TOO_SMALL")
      ends(path, s"BY (one) WITH (fileCount = 4) INTO '$copy'", "NO_GAIN")
      assert(!Files.exists(copy))
      ends(path, s"BY (one) WITH (fileCount = 4, force = true) INTO '$copy'", "DONE")
      sameRows(read(path), read(copy))
    }
  }

  test("limits: PARTIAL is foretold") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr("*", "id % 3 p").repartition(1).write.partitionBy("p").parquet(path.toString)
      val run = "BY (a, b) WITH (fileCount = 2, force = true"
      ends(path, s"$run, maxBytesInFlight = 1, maxInputBytes = 1)", "PARTIAL")
      ends(path, s"$run, maxBytesInFlight = 1, maxDuration = 0s)", "PARTIAL")
      ends(path, s"$run, maxBytesInFlight = 1, maxInputBytes = 1)", "DONE")
      ends(path, s"$run)", "NOTHING_TO_DO")
    }
  }

  test("a copy to a place that is refused: the dry run says so, and the run reads nothing first") {
    withTempDir { dir =>
      val (path, copy) = (dir.resolve("t"), dir.resolve("copy"))
      numbers(6000).repartition(3).write.parquet(path.toString)
      numbers(1).write.parquet(copy.toString)
      val into = s"BY (a, b) WITH (fileCount = 8) INTO '$copy'"
      val dry = zorder(path, s"$into DRY RUN")
      assert(reason(dry).contains("is not empty, and INTO never overwrites"), reason(dry))
      val (refused, watch) = JobWatch(spark)(intercept[ZOrderException](zorder(path, into)))
      assert(refused.condition === "ZORDER_TARGET_REFUSED.NOT_EMPTY" && watch.jobs.isEmpty)
    }
  }

  test("limits: PARTIAL is foretold where one partition grows and another is new") {
    for (limit <- Seq("maxInputBytes = 1", "maxDuration = 0s")) withTempDir { dir =>
      val path = dir.resolve("t")
      val run = "BY (a, b) WITH (fileCount = 4, force = true"
      def add(n: Long, p: Int): Unit =
        numbers(n).selectExpr("*", s"$p p").coalesce(1).write.mode("append").partitionBy("p").parquet(
          path.toString)
      add(4000, 0)
      done(zorder(path, s"$run)"))
      add(40, 0)
      add(4000, 1)
      val dry = reason(zorder(path, s"$run, $limit) DRY RUN"))
      assert(dry.split("The run would end as").length === 2, dry)
      ends(path, s"$run, $limit)", "PARTIAL")
      ends(path, s"$run, $limit)", "DONE")
    }
  }

  test("batches and what they read") {
    val batches = new Batches(RunOptions(maxBytesInFlight = Some(100), maxInputBytes = Some(150)), 0L)
    def waiting(name: String, bytes: Long) = WaitingPartition(name, bytes)
    val four = Seq("a", "b", "c", "d").map(waiting(_, 50))
    val five = four :+ waiting("e", 1)
    assert(batches.limitAhead(four, 200L, _ => Seq(50L)).isEmpty) // the limit is reached in the last batch
    assert(batches.limitAhead(five, 201L, _ => Seq(50L)).isDefined)
    assert(batches.limitAhead(five, 201L, p => Seq(if (p < "d") 0L else 50L)).isEmpty)
    assert(batches.limitAhead(Seq(waiting("a", 1000)), 1000L, _ => Seq.fill(20)(100L)).isDefined)
    assert(batches.limitAhead(Seq(waiting("a", 100)), 100L, _ => Seq(1000L)).isEmpty)
    // what was read before counts, whatever the last batch reads
    val limited = new Batches(RunOptions(maxInputBytes = Some(150)), 0L)
    assert(limited.limitAhead(four, 200L, _ => Seq(50L), before = Seq(150L)).isDefined)
    assert(limited.limitAhead(four, 200L, _ => Seq(50L), before = Seq(100L)).isEmpty)
    // no time is left, but it ends nothing before a batch has written
    val timed = new Batches(RunOptions(maxBytesInFlight = Some(100), maxDurationMs = 0), 0L)
    assert(timed.limitAhead(five, 201L, _ => Seq(50L)).isDefined)
    assert(timed.limitAhead(five, 201L, p => Seq(if (p < "e") 0L else 50L)).isEmpty)
  }

  test("a dry run of several batches gains what one of them gains", LongTest) {
    withTempDir { dir =>
      val (path, whole) = (dir.resolve("t"), dir.resolve("whole"))
      numbers(2000).repartition(4).write.parquet(whole.toString)
      done(zorder(whole, "BY (a, b) WITH (fileCount = 4, force = true)"))
      val inLayout = Files.list(whole).iterator.asScala.filter(_.toString.endsWith(".parquet")).toList
      // in layout already, which the table does not know
      for (p <- 0 until 11) {
        val partition = Files.createDirectories(path.resolve(s"p=$p"))
        inLayout.foreach(f => Files.copy(f, partition.resolve(f.getFileName)))
      }
      numbers(2000).repartition(4).write.parquet(path.resolve("p=11").toString)
      val run = "BY (a, b) WITH (fileCount = 4, maxBytesInFlight"
      assert(status(zorder(path, s"$run = 'none') DRY RUN")) === "NO_GAIN")
      assert(metric[Long](zorder(path, s"$run = 1) DRY RUN"), "partitionsOptimized") === 1)
      ends(path, s"$run = 1)", "DONE")
    }
  }
}
