package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Files, Path}

import scala.util.{Failure, Success, Try}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.zorder.clustering.JobWatch
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.Steps
import sparkzorder.mark.LongTest

/** Unpartitioned tables that are larger than a batch: commit by commit to the same layout. */
@LongTest
class DeltaStepsSuite extends AnyFunSuite with DeltaFixture with Steps {
  private def bytes(path: Path): Long = DeltaLog.forTable(spark, path.toString).update().sizeInBytes

  private def options(path: Path, parts: Int, more: String = "", files: Int = 16): String =
    s"WITH (fileCount = $files, pageRowLimit = 700, maxBytesInFlight = ${bytes(path) / parts}$more)"

  /** A metric of each commit of ours, the newest first. */
  private def history(path: Path, metric: String): Seq[Long] =
    spark.sql(s"DESCRIBE HISTORY delta.`$path`").where("operation = 'OPTIMIZE'")
      .select("operationMetrics").collect().toSeq
      .map(_.getAs[Map[String, String]](0)(metric).toLong)

  private def replaced(path: Path): Seq[Long] = history(path, "numRemovedBytes")

  /** Footers that jobs read of the files of the table, not those of what a step has just written. */
  private def footersRead(watch: JobWatch): Int = {
    val job = "spark-zorder: footers(?: and page indexes)? of (\\d+) files".r
    watch.jobs.collect { case job(files) => files.toInt }.sum
  }

  /** Files by column; pages over both, as a file of five pages is cut by one column once more than by the other. */
  private def sameShares(steps: Row, whole: Row): Unit = {
    def both(row: Row, level: String): Seq[Double] = (0 to 1).map(share(row, _, level, "measured"))
    for ((x, y) <- both(steps, "files").zip(both(whole, "files"))) assert(math.abs(x - y) < 0.02)
    assert(math.abs(both(steps, "pages").sum - both(whole, "pages").sum) < 0.02)
  }

  test("a run in steps, a second one by FULL, and its rollback") {
    withTempDir { dir =>
      val (path, plain) = (dir.resolve("t"), dir.resolve("p"))
      numbers(40000).repartition(20).write.format("delta").save(path.toString)
      numbers(40000).repartition(6).write.parquet(plain.toString)
      val limit = bytes(path) / 2
      step("a dry run tells how much is read again") {
        val dry = zorder(path, s"BY (a, b) ${options(path, 2)} DRY RUN")
        assert(reason(dry).contains("read and written once more"), reason(dry))
        assert(metric[Long](dry, "bytesToRead") > 2 * bytes(path))
      }
      val (row, watch) = JobWatch(spark)(done(keeps(path)(zorder(path, s"BY (a, b) ${options(path, 2)}"))))
      val commits = replaced(path)
      step("each file is looked into once, however many steps there are") {
        val read = footersRead(watch)
        assert(read >= 20 && read <= 20 + history(path, "numAddedFiles").sum)
      }
      step("no commit replaces more than the limit") {
        assert(metric[Long](row, "numBatches") === commits.length && commits.length >= 5, reason(row))
        assert(commits.forall(_ <= limit), s"$commits of $limit")
      }
      step("the files are those of one commit") {
        assert(metric[Long](row, "numFilesAdded") === 16 && metric[Long](row, "numFilesRemoved") === 20)
        assert(metric[Long](row, "rows") === 40000 && files(path) === 16)
        sameShares(row, done(zorder(plain, "BY (a, b) WITH (fileCount = 16, pageRowLimit = 700)")))
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
      }
      step("FULL begins anew, and comes to its end as well") {
        done(keeps(path)(zorder(path, s"FULL BY (b, a) ${options(path, 2, ", force = true")}")))
        assert(files(path) === 16 && replaced(path).length >= commits.length + 5)
      }
      step("a rollback undoes the run, not its last step, and the layout of the run before counts again") {
        keeps(path)(one(s"ZORDER ROLLBACK '$path'"))
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
      }
    }
  }

  test(
    "a statement that dies in its steps loses one, and the next goes on there; PARTIAL likewise") {
    for (dying <- Seq(2, 4)) withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000)
      var commits = 0
      CrashPoint.meanwhile = place =>
        if (place == "delta-commit") {
          commits += 1
          if (commits == dying) System.setProperty(CrashPoint.Property, place)
        }
      val limited = options(path, 2)
      try intercept[CrashPoint.Crash](keeps(path)(zorder(path, s"BY (a, b) $limited")))
      finally {
        CrashPoint.meanwhile = _ => ()
        System.clearProperty(CrashPoint.Property)
      }
      assert(replaced(path).length === dying - 1)
      val dry = zorder(path, s"BY (a, b) $limited DRY RUN")
      assert(reason(dry).matches(".* steps? of an earlier run (is|are) left.*"), reason(dry))
      val part = keeps(path)(zorder(path, s"BY (a, b) ${options(path, 2, ", maxInputBytes = 1")}"))
      assert(
        status(part) === "PARTIAL" && reason(part).matches(".*about \\d+ steps? of the table.*"),
        reason(part))
      numbers(20200).where("id >= 20000").coalesce(1).write.format("delta").mode("append").save(path.toString)
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $limited")))
      assert(reason(row).contains("This continues the steps of an earlier run."), reason(row))
      assert(share(row, 0, "files", "measured") < 0.35 && share(row, 1, "files", "measured") < 0.35)
      // rows that were appended after the first region was settled grow in by the next statement
      keeps(path)(zorder(path, s"BY (a, b) $limited"))
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
      assert(read(path).count() === 20200)
    }
  }

  private def append(path: Path, from: Long, rows: Long): Unit =
    numbers(from + rows).where(s"id >= $from").repartition(4)
      .write.format("delta").mode("append").save(path.toString)

  test(
    "new files that are more than a batch are merged region by region, or appended, within the limit") {
    for ((budget, how) <- Seq(100.0 -> "merged there", 1.0 -> "of their own")) withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 16, pageRowLimit = 500)"))
      append(path, 20000, 8000)
      val limit = if (budget > 1) bytes(path) / 3 else bytes(path) / 10
      val said = s"WITH (writeBudget = $budget, maxBytesInFlight = $limit)"
      val dry = zorder(path, s"BY (a, b) $said DRY RUN")
      assert(reason(dry).contains("In steps of at most"), reason(dry))
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $said")))
      val commits = replaced(path).dropRight(1)
      assert(reason(row).contains(how) && reason(row).contains("In steps of at most"), reason(row))
      assert(commits.length >= 3 && commits.forall(_ <= limit), s"$commits of $limit")
      assert(metric[Long](row, "numBatches") === commits.length)
      assert(metric[Long](row, "rows") === (if (budget > 1) 28000 else 8000))
      if (budget > 1) assert(files(path) === 16)
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }

  test("files that have lost many rows are written again in steps, and new files come after them") {
    for ((deleted, parts) <- Seq("id % 5 = 2" -> 3, "a < 450 AND id % 5 = 2" -> 4))
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 60000, Map("enableDeletionVectors" -> "true"))
        done(zorder(path, "BY (a, b) WITH (fileCount = 4, pageRowLimit = 500)"))
        // files across cells as well: some of these wait for a later step
        append(path, 60000, 6000)
        done(zorder(path, "BY (a, b) WITH (writeBudget = 1)"))
        spark.sql(s"DELETE FROM delta.`$path` WHERE $deleted")
        append(path, 70000, 300)
        val said = s"WITH (targetFileSize = ${bytes(path) / 16}, maxBytesInFlight = ${bytes(path) / parts})"
        val row = done(keeps(path)(zorder(path, s"BY (a, b) $said")))
        assert(
          reason(row).contains("will follow") && reason(row).contains("In steps of at most"),
          reason(row))
        val thin = DeltaLog.forTable(spark, path.toString).update().allFiles.collect()
          .flatMap(_.deletedToPhysicalRecordsRatio).filter(_ > 0.05)
        assert(thin.isEmpty, s"$deleted: ${thin.mkString(" ")}")
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO", deleted)
      }
  }

  test("a value that fills several files keeps them when all files are written again in steps") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).selectExpr(
        "id",
        "if(id % 2 = 0, 7, a) a",
        "if(id % 2 = 0, 7L, b) b").repartition(6).write
        .format("delta").option("delta.enableDeletionVectors", "true").save(path.toString)
      done(zorder(path, "BY (a, b) WITH (fileCount = 16, force = true)"))
      def ofValue(): Long =
        read(path).where("a = 7 AND b = 7").selectExpr("input_file_name()").distinct().count()
      assert(ofValue() >= 6)
      spark.sql(s"DELETE FROM delta.`$path` WHERE pmod(hash(id), 5) = 2")
      val row = done(keeps(path)(zorder(path, s"BY (a, b) WITH (maxBytesInFlight = ${bytes(path) / 3})")))
      assert(reason(row).contains("are deleted") && reason(row).contains("In steps of at most"), reason(row))
      assert(ofValue() >= 6 && files(path) === 16)
    }
  }

  test("a merge that dies in its steps goes on, region by region") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 10000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500)"))
      append(path, 10000, 4000)
      val limits = s"writeBudget = 100, maxBytesInFlight = ${bytes(path) / 3}"
      val merge = s"BY (a, b) WITH ($limits)"
      val partly = s"BY (a, b) WITH ($limits, maxInputBytes = 1)"
      val dry = zorder(path, s"$partly DRY RUN")
      assert(
        reason(dry).startsWith("The run would end as PARTIAL, since maxInputBytes is reached"),
        reason(dry))
      assert(metric[Long](dry, "bytesToRead") > bytes(path) && metric[Long](dry, "bytesToShuffle") > 0)
      val part = keeps(path)(zorder(path, partly))
      assert(status(part) === "PARTIAL", reason(part))
      val row = done(keeps(path)(zorder(path, merge)))
      assert(reason(row).contains("This continues the steps of an earlier run."), reason(row))
      keeps(path)(zorder(path, merge))
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO" && files(path) === 8)
    }
  }

  test("another number of files between two steps: the table is clustered anew, and has as many") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      val part = keeps(path)(zorder(path, s"BY (a, b) ${options(path, 2, ", maxInputBytes = 1")}"))
      assert(status(part) === "PARTIAL", reason(part))
      val row = done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 32, force = true)")))
      assert(files(path) === 32 && !reason(row).contains("an earlier run"), reason(row))
      assert(status(zorder(path, "BY (a, b) WITH (fileCount = 32)")) === "NOTHING_TO_DO")
    }
  }

  test("steps that go on in a stored layout do not make it one of the number of files that they ask for") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // an eighth of it is a size that the option takes
      delta(path, 40000)
      val limits = s"maxBytesInFlight = ${bytes(path) / 2}, maxInputBytes = 1"
      val begun = s"BY (a, b) WITH (targetFileSize = ${bytes(path) / 8}, $limits)"
      assert(status(keeps(path)(zorder(path, begun))) === "PARTIAL")
      val asked = "BY (a, b) WITH (fileCount = 32, pageRowLimit = 100, force = true)"
      val row = done(keeps(path)(zorder(path, asked)))
      assert(reason(row).contains("This continues the steps of an earlier run."), reason(row))
      assert(files(path) < 32)
      done(keeps(path)(zorder(path, asked)))
      assert(files(path) === 32)
    }
  }

  test("a column that is widened between two steps: the table gets a new layout") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(8000).selectExpr("id", "CAST(a AS SMALLINT) a", "b").repartition(8)
        .write.format("delta").option("delta.enableTypeWidening", "true").save(path.toString)
      val limit = bytes(path) / 2
      def steps(more: String): Row =
        zorder(path, s"BY (a, b) WITH (fileCount = 8, force = true, maxBytesInFlight = $limit$more)")
      assert(status(keeps(path)(steps(", maxDuration = '0s'"))) === "PARTIAL")
      spark.sql(s"ALTER TABLE delta.`$path` ALTER COLUMN a TYPE INT")
      done(keeps(path)(steps("")))
      assert(files(path) === 8 && status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }

  test("a partition whose layout fits no longer is clustered anew, and the others grow in theirs") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def part(p: Int, from: Long, n: Long) = numbers(from + n).where(s"id >= $from")
        .selectExpr("id", "CAST(a AS SMALLINT) a", "b", s"$p p")
      part(1, 0, 8000).repartition(4).write.format("delta").option("delta.enableTypeWidening", "true")
        .partitionBy("p").save(path.toString)
      def append(df: DataFrame): Unit =
        df.coalesce(1).write.format("delta").mode("append").save(path.toString)
      done(zorder(path, "BY (a, b) WITH (fileCount = 8)"))
      spark.sql(s"ALTER TABLE delta.`$path` ALTER COLUMN a TYPE INT")
      append(part(2, 10000, 8000))
      done(zorder(path, "WHERE p = 2 BY (a, b) WITH (fileCount = 8)"))
      append(part(1, 20000, 100).union(part(2, 30000, 100)))
      val unforced = zorder(path, "BY (a, b) WITH (fileCount = 8, minGain = 0.99) DRY RUN")
      assert(metric[Long](unforced, "rows") === 100 && reason(unforced).contains("minGain"), reason(unforced))
      val asked = "BY (a, b) WITH (fileCount = 8, force = true)"
      val dry = zorder(path, s"$asked DRY RUN")
      val row = done(keeps(path)(zorder(path, asked)))
      // of partition 2, only the new rows are written
      assert(metric[Long](row, "rows") === 8200 && metric[Long](dry, "rows") === 8200, reason(row))
      val again = zorder(path, "BY (a, b)")
      assert(status(again) === "NOTHING_TO_DO", again)
    }
  }

  test("a run that finds no record of its own first step ends with one sentence, and loses no row") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000)
      // nothing can be written below it
      val state = Files.write(path.resolve("_zorder"), Array.emptyByteArray)
      val e = intercept[ZOrderConflictException](
        keeps(path)(zorder(path, s"BY (a, b) ${options(path, 2)}")))
      assert(e.condition === "ZORDER_CONFLICT.STEPS_LOST" && replaced(path).length === 1)
      assert(read(path).count() === 20000)
      Files.delete(state)
      done(keeps(path)(zorder(path, s"BY (a, b) ${options(path, 2)}")))
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }

  test("a table that others append to before every commit comes to its end all the same") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 20000)
      var more = 20000L
      CrashPoint.meanwhile = place =>
        if (place == "delta-commit") {
          append(path, more, 100)
          more += 100
        }
      val row =
        try done(zorder(path, s"BY (a, b) ${options(path, 2)}"))
        finally CrashPoint.meanwhile = _ => ()
      val commits = replaced(path).length
      assert(metric[Long](row, "numBatches") === commits && commits < 10, reason(row))
      assert(read(path).selectExpr("count(distinct id)").head().getLong(0) === more)
      assert(metric[Long](row, "rows") === 20000)
    }
  }

  for ((name, statement, vectors, commits) <- Seq(
      // rows of all files: those of earlier steps, of this one, and those that wait
      ("DELETE with deletion vectors", "DELETE FROM <t> WHERE pmod(id - <n>, 500) = 0", true, Seq(1, 5)),
      ("UPDATE, copy-on-write of one file", "UPDATE <t> SET a = -5 WHERE id = <n>", false, Seq(1, 5)),
      ("UPDATE, copy-on-write of all", "UPDATE <t> SET a = -5 WHERE pmod(id - <n>, 500) = 0", false, Seq(1)),
      ("UPDATE, copy-on-write of all", "UPDATE <t> SET a = -5 WHERE pmod(id - <n>, 500) = 0", false, Seq(5))))
    test(s"region by region beside a writer: $name, before commit ${commits.mkString(" and ")}") {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 8000, Map("enableDeletionVectors" -> vectors.toString))
        val limited = options(path, 2, ", force = true", files = 8)
        // of the first file, which is one of the first step
        val first =
          spark.read.parquet(path.resolve(dataFiles(path).keys.min).toString).head().getLong(0)
        var (tried, after) = (0, Seq.empty[String])
        CrashPoint.meanwhile = place =>
          if (place == "delta-commit") {
            tried += 1
            if (commits.contains(tried)) {
              val id = if (tried == 1) first else 5
              spark.sql(statement.replace("<t>", s"delta.`$path`").replace("<n>", s"$id")).collect()
              after = rows(path)
            }
          }
        val ended =
          try Try(zorder(path, s"BY (a, b) $limited"))
          finally CrashPoint.meanwhile = _ => ()
        assert(after.nonEmpty && rows(path) === after, "rows lost, doubled, or there again")
        val steps = replaced(path).length
        ended match {
          case Success(row) =>
            assert(status(row) === "DONE" && metric[Long](row, "numBatches") === steps)
            assert(name.endsWith("all") || reason(row).contains("Others removed or rewrote"), reason(row))
          case Failure(e: ZOrderConflictException) =>
            assert(e.condition === "ZORDER_CONFLICT.COMMIT_REFUSED" && name.endsWith("all"))
            assert(steps === commits.head - 1, "earlier steps stay")
          case Failure(e) => throw e
        }
        info(ended.fold(_.getMessage.take(60), reason(_)))
        assert(unknown(path) === Set.empty)
        // what is left to do, and then what the writer has added
        (1 to 2).foreach(_ => keeps(path)(zorder(path, s"BY (a, b) $limited")))
        assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
      }
    }

  test("a value that fills several files, and partitions of which one is larger than a batch") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(15000).selectExpr(
        "id",
        "if(id % 3 = 0, a, 7) a",
        "if(id % 3 = 0, b, 9L) b",
        "if(id < 13500, 0, 1) p")
        .repartition(6).write.format("delta").partitionBy("p").save(path.toString)
      val limited = options(path, 3, ", force = true", files = 8)
      val row = done(keeps(path)(zorder(path, s"BY (a, b) $limited")))
      assert(
        metric[Long](row, "partitionsOptimized") === 2 && metric[Long](row, "rows") === 15000,
        reason(row))
      assert(read(path).where("p = 0").inputFiles.length === 8)
      assert(read(path).where("p = 1").inputFiles.length === 8)
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }

  test("FULL takes the partitions behind one that is clustered in steps, though they are in place") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(16000).selectExpr("*", "if(id < 1000, 0, if(id < 15000, 1, 2)) p")
        .repartition(6).write.format("delta").partitionBy("p").save(path.toString)
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 8, force = true)")))
      val before = read(path).inputFiles.toSet
      val row = done(keeps(path)(zorder(path, s"FULL BY (a, b) ${options(path, 3, files = 8)}")))
      assert(metric[Long](row, "partitionsOptimized") === 3, reason(row))
      assert(read(path).inputFiles.toSet.intersect(before).isEmpty)
      // the first partition, and a step of the second
      def limited = zorder(path, s"FULL BY (a, b) ${options(path, 3, ", maxInputBytes = 1", files = 8)}")
      for (goesOn <- Seq("have waited longest come first", "without FULL continues the steps")) {
        val part = limited
        assert(status(part) === "PARTIAL" && reason(part).contains(goesOn), reason(part))
      }
    }
  }
  test("FULL takes the other partitions though the one under way is deleted between two steps") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(12000).selectExpr("*", "if(id < 8000, 1, if(id < 10000, 2, 3)) p")
        .repartition(6).write.format("delta").partitionBy("p").save(path.toString)
      val row = meanwhile("delta-committed")(spark.sql(s"DELETE FROM delta.`$path` WHERE p = 1")) {
        done(zorder(path, s"FULL BY (a, b) ${options(path, 3, files = 8)}"))
      }
      assert(metric[Long](row, "partitionsOptimized") === 2, reason(row))
      assert(files(path) === 16 && status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }
  test("WHERE that leaves out files of a table is one commit, and the dry run tells of no steps") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      append(path, 20000, 100)
      def limited(most: String) =
        s"WHERE id < 20000 BY (a, b) WITH (fileCount = 8, pageRowLimit = 500, maxBytesInFlight = $most)"
      val third = (bytes(path) / 3).toString
      val (dry, free) =
        (zorder(path, s"${limited(third)} DRY RUN"), zorder(path, s"${limited("none")} DRY RUN"))
      assert(status(dry) === "DRY_RUN" && !reason(dry).contains("In batches of at most"), reason(dry))
      for (what <- Seq("bytesToRead", "bytesToShuffle"))
        assert(metric[Long](dry, what) === metric[Long](free, what))
      val row = done(keeps(path)(zorder(path, limited(third))))
      assert(metric[Long](row, "numBatches") === 1, reason(row))
    }
  }

  /** Rows of a partition, in one file. */
  private def part(p: Int, from: Long, rows: Long) =
    numbers(from + rows).where(s"id >= $from").selectExpr("*", s"$p p").coalesce(1)

  private def add(path: Path, parts: DataFrame*): Unit = parts.foreach(
    _.write.format("delta").mode("append").partitionBy("p").save(path.toString))

  /** The status that the dry run foretells is that of the run. */
  private def foretold(path: Path, statement: String): (Row, Row) = {
    val dry = zorder(path, s"$statement DRY RUN")
    val row = keeps(path)(zorder(path, statement))
    assert(reason(dry).startsWith(s"The run would end as ${status(row)}"), reason(dry) + reason(row))
    (dry, row)
  }

  test("a dry run of several partitions that grow tells of the steps of each") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      add(path, part(0, 0, 8000), part(1, 10000, 8000))
      done(zorder(path, "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500)"))
      add(path, (0 to 3).flatMap(n => Seq(part(0, 20000 + 800 * n, 800), part(1, 30000 + 800 * n, 800))): _*)
      val limits = s"maxBytesInFlight = ${bytes(path) / 5}, maxInputBytes = ${bytes(path) * 3 / 4}"
      val (dry, row) = foretold(path, s"BY (a, b) WITH (writeBudget = 100, $limits)")
      assert(status(row) === "PARTIAL" && reason(row).contains("In steps of at most"), reason(row))
      assert(reason(dry).contains("In steps of at most"), reason(dry))
      assert(metric[Long](dry, "bytesToRead") > bytes(path) * 3 / 2)
    }
  }

  test("a dry run of steps that an earlier run has left counts the partitions behind them") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val first = (0 to 2).map(n => part(0, 3000 * n, 3000))
      add(path, first :+ part(1, 10000, 6000) :+ part(2, 20000, 5000): _*)
      val all = bytes(path)
      def limited(most: Long) = "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500, force = true, " +
        s"maxBytesInFlight = ${all / 3}, maxInputBytes = $most)"
      assert(status(keeps(path)(zorder(path, limited(1)))) === "PARTIAL")
      val (dry, row) = foretold(path, limited(all * 6 / 10))
      assert(status(row) === "PARTIAL", reason(row))
      assert(reason(dry).contains("of an earlier run are left, and 2 partitions."), reason(dry))
    }
  }
  test("WHERE on new files of a table whose steps are unfinished says so") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      val part = zorder(path, s"BY (a, b) ${options(path, 2, ", maxInputBytes = 1", files = 8)}")
      assert(status(part) === "PARTIAL", reason(part))
      append(path, 20000, 100)
      val row = zorder(path, "WHERE id >= 20000 BY (a, b)")
      assert(status(row) === "NOTHING_TO_DO", reason(row))
      assert(reason(row).startsWith("The steps of an earlier run over the table are unfinished"), reason(row))
    }
  }
}
