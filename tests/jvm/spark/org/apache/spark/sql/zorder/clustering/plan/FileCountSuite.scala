package org.apache.spark.sql.zorder.clustering.plan

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.RunFixture
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}
import sparkzorder.LongTest
import sparkzorder.mark.SameOnAllLines

/** How many files a run makes by default (docs/spec.md, section 2, ADR 28). */
@SameOnAllLines
class FileCountSuite extends AnyFunSuite with RunFixture {
  private val pages = "pageRowLimit = 500"

  private def files(row: Row): Long = metric[Long](row, "numFilesAdded")

  private def mean(row: Row, what: String): Double =
    (share(row, 0, "files", what) + share(row, 1, "files", what)) / 2

  private def table(body: Path => Unit): Unit = withTempDir(dir => body(dir.resolve("t")))

  test("by size, and never more than rows") {
    val options = RunOptions()
    assert(FileCount.of(1L << 40, 256L << 20, options) === 4096)
    assert(FileCount.of(1L << 40, 64L << 10, options) === (1 << 20))
    assert(FileCount.of(1L << 62, 1, options, rows = 20) === 20)
    assert(FileCount.of(1L << 30, 256L << 20, options.copy(fileCount = Some(1000000)), rows = 7) === 7)
    assert(FileCount.of(0, 256L << 20, options.copy(fileCount = Some(8)), rows = 0) === 1)
  }

  test(
    "a partition that has outgrown its layout gets files for a larger one, but not more than are asked for") {
    val (one, two) = (partition("p=1", 9L << 20), partition("p=2", 9L << 20))
    def files(options: RunOptions): Seq[Int] =
      FilePlan(
        IndexedSeq(one, two),
        18L << 20,
        options,
        copy = false,
        full = false,
        _ => 1000000L,
        grown = Set("p=1")).partitions.map(_.files)
    assert(files(RunOptions(targetFileSize = Some(1L << 20))) === Seq(16, 8))
    assert(files(RunOptions(fileCount = Some(8))) === Seq(8, 8))
  }

  test("a partition gets files of one size, whichever others are clustered with it") {
    val (large, small) = (partition("p=1", 5L << 30), partition("p=2", 300L << 20))
    def files(partitions: PinnedPartition*): Seq[Int] = FilePlan(
      partitions.toIndexedSeq,
      (5L << 30) + (300L << 20),
      RunOptions(),
      copy = false,
      full = false,
      _ => 1000000L,
      grown = Set.empty).partitions.map(_.files)
    // of 256 MB; of the small one alone they would be of 19 MB
    assert(files(large, small) === Seq(16) && files(small) === Nil && files(large) === Seq(16))
  }

  private def partition(name: String, bytes: Long) =
    PinnedPartition(name, Seq(DataFile(name, bytes, 1, name)))

  test("a copy has all partitions if it has any, and FULL has all") {
    def plan(copy: Boolean, partitions: PinnedPartition*) = planned(copy, full = false, partitions)
    def planned(copy: Boolean, full: Boolean, partitions: Seq[PinnedPartition]) =
      FilePlan(
        partitions.toIndexedSeq,
        partitions.map(_.bytes).sum,
        RunOptions(),
        copy,
        full,
        _ => 1000000L,
        grown = Set.empty).partitions.length
    val (large, small) = (partition("p=1", 1L << 30), partition("p=2", 1L << 20))
    assert(plan(copy = false, large, small) === 1 && plan(copy = true, large, small) === 2)
    assert(plan(copy = false, small) === 0 && plan(copy = true, small) === 0)
    assert(planned(copy = false, full = true, Seq(large, small)) === 2)
  }

  test("files in no order become as few as their size says") {
    table { path =>
      numbers(8000).repartition(12).write.parquet(path.toString)
      val row = done(zorder(path, s"BY (a, b) WITH (force = true, $pages)"))
      assert(files(row) === 1 && !reason(row).contains("fileCount or targetFileSize"), reason(row))
      assert(!reason(row).contains("GETS WORSE"), reason(row))
    }
  }

  test(
    "a table in layout keeps so many that look-ups read no more; a number that is asked for wins, and warns",
    LongTest) {
    table { path =>
      numbers(20000).repartition(4).write.parquet(path.toString)
      done(zorder(path, s"BY (a, b) WITH (fileCount = 32, $pages)"))
      val now = dataFiles(path).size
      val dry = zorder(path, s"FULL BY (a, b) WITH (force = true, $pages) DRY RUN")
      assert(
        reason(dry).contains("By its size it would become 1 file, but look-ups would read more"),
        reason(dry))
      val row = done(keepsRows(path)(zorder(path, s"FULL BY (a, b) WITH (force = true, $pages)")))
      assert(files(row) > 8 && files(row) <= now, reason(row))
      assert(mean(row, "measured") < 1.15 * mean(row, "now"), row)
      assert(reason(row).contains(s"it becomes ${metric[Long](row, "targetFiles")}"), reason(row))
      val four = done(zorder(path, s"FULL BY (a, b) WITH (fileCount = 4, force = true, $pages)"))
      assert(files(four) === 4 && reason(four).contains("GETS WORSE: look-ups by a read "), reason(four))
      assert(!reason(four).contains("By its size"))
    }
  }

  test("a sort by one column: the mean counts, and the column whose reads rise is said") {
    table { path =>
      numbers(20000).repartitionByRange(16, col("a")).write.parquet(path.toString)
      val two = done(zorder(path, s"BY (a, b) WITH (force = true, $pages)"))
      assert(files(two) >= 4 && files(two) < 16, reason(two))
      assert(mean(two, "measured") < 1.15 * mean(two, "now"))
      assert(reason(two).contains("GETS WORSE: look-ups by a read "), reason(two))
    }
    table { path =>
      numbers(20000).repartitionByRange(16, col("a")).write.parquet(path.toString)
      val one = done(zorder(path, s"BY (a) WITH (force = true, $pages)"))
      assert(files(one) >= 15 && !reason(one).contains("GETS WORSE"), reason(one))
    }
  }

  test("a partition of few, wide rows beside one of many is cut by its own values", LongTest) {
    table { path =>
      val clicks = numbers(900000).selectExpr("a", "b", "'' AS text", "'click' AS kind")
      val text =
        (0 until 128).map(i => s"sha2(CAST(b * 128 + $i AS STRING), 512)").mkString("concat(", ", ", ")")
      val documents = numbers(200).selectExpr("a", "b", s"$text AS text", "'document' AS kind")
      clicks.union(documents).repartition(2).write.partitionBy("kind").parquet(path.toString)
      val row = done(zorder(path, s"FULL BY (a, b) WITH (targetFileSize = '200k', $pages)"))
      val ofDocuments = dataFiles(path).keys.filter(_.contains("kind=document")).toSeq
      val rows = ofDocuments.map(f => spark.read.parquet(path.resolve(f).toString).count())
      assert(rows.length >= 8 && rows.max <= 2 * 200 / rows.length, rows)
      val spread = ofDocuments.map { f =>
        val ends = spark.read.parquet(path.resolve(f).toString).selectExpr("min(a)", "max(a)").head()
        ends.getInt(1) - ends.getInt(0)
      }
      assert(spread.sum / spread.length < 500, spread)
      assert(metric[Long](row, "sampledRows") < 220000, row)
    }
  }
}
