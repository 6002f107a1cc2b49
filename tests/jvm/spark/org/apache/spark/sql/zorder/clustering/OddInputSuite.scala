package org.apache.spark.sql.zorder.clustering

import java.io.InterruptedIOException
import java.nio.file.{Files, Path}

import org.apache.hadoop.fs.{FSDataInputStream, LocalFileSystem, Path => HPath}
import org.scalatest.concurrent.Eventually.eventually
import org.scalatest.concurrent.PatienceConfiguration.Timeout
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.time.{Seconds, Span}

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.zorder.QuickRawFileSystem
import org.apache.spark.sql.zorder.clustering.request.PinnedSession
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint}
import sparkzorder.{LongTest, ShortRun, Steps}
import sparkzorder.mark.SameOnAllLines

/** What makes a rewrite hard: unlike files, odd names, every type, a hostile session, failures. */
@SameOnAllLines
class OddInputSuite extends AnyFunSuite with RunFixture with Steps {
  private val eight = "WITH (fileCount = 8, pageRowLimit = 500)"

  test("two files of unlike schema, by a column that only one of them has") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val wide = numbers(8000).selectExpr("id", "a", "b AS only_here", "named_struct('f', a, 'g', s) AS st")
      val narrow = numbers(8000).selectExpr(
        "id + 8000 AS id",
        "a",
        "s AS z_only_there",
        "named_struct('f', b % 7) AS st2")
      narrow.coalesce(1).write.parquet(path.toString)
      wide.coalesce(1).write.mode("append").parquet(path.toString)
      val row = done(keepsRows(path)(zorder(path, s"BY (only_here, z_only_there) $eight")))
      assert(read(path).schema.fieldNames.toSet === Set("id", "a", "only_here", "z_only_there", "st", "st2"))
      assert(read(path).where("only_here IS NOT NULL").count() === 8000)
      for ((c, i) <- Seq("only_here", "z_only_there").zipWithIndex)
        assert(math.abs(share(row, i, "files", "measured") - shareRead(read(path), c)) < 0.01, c)
      assert(status(zorder(path, s"BY (only_here, z_only_there) $eight")) === "NOTHING_TO_DO")
    }
  }

  test("by a field that only a later file's struct has, and by elements of arrays and maps") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      Files.createDirectories(path)
      def file(name: String, struct: String): Unit = {
        val made = dir.resolve("made")
        numbers(4000).selectExpr("id", "a", s"$struct AS s", "array(b) l", "map('k', b) m")
          .coalesce(1).write.mode("overwrite").parquet(made.toString)
        Files.move(made.resolve(dataFiles(made).keys.head), path.resolve(name))
        ()
      }
      file("part-0.parquet", "named_struct('p', id)")
      file("part-1.parquet", "named_struct('p', id, 'q', b)")
      assert(!spark.read.parquet(path.toString).select("s.*").columns.contains("q"))
      done(zorder(path, "BY (a, s.q) WITH (fileCount = 8, pageRowLimit = 500, verify = 'checksum')"))
      assert(shareRead(read(path), "s.q") < 0.7)
      refused(path, s"ZORDER TABLE '$path' BY (a, s.r) $eight", "s.r")
      done(zorder(path, "BY (a, l[0], m['k']) WITH (fileCount = 8, force = true)"))
      assert(read(path).where("l[0] = m['k']").count() === 8000)
    }
  }

  test("a value of several files is spread over them, though only a map tells its rows apart") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val day = "if(id % 10 < 8, 5, cast(id % 1000 as int)) AS day"
      spark.range(0, 20000, 1, 4).selectExpr(day, "map(id, concat('value ', cast(id as string))) AS m")
        .write.parquet(path.toString)
      done(keepsRows(path)(zorder(path, s"FULL BY (day) $eight")))
      val held = read(path).where("day = 5").selectExpr("input_file_name() AS f").groupBy("f").count()
        .collect().map(_.getLong(1))
      assert(held.sum === 16000 && held.length > 3 && held.max < 16000 / 3, held.toSeq)
    }
  }

  test("timestamps as names of partitions, in a session whose zone is not the JVM's") {
    withConf("spark.sql.session.timeZone" -> "America/Los_Angeles")(withTempDir { dir =>
      val path = dir.resolve("t")
      // an hour before and after the clocks go back there, and NULL
      val at = "if(id % 4 = 0, null, timestamp_seconds(1636266599 + (id % 4) * 7200)) AS at"
      numbers(2000).selectExpr("id", "a", at).repartition(3).write.partitionBy("at").parquet(path.toString)
      val row = keepsRows(path)(done(zorder(path, "BY (a, id) WITH (fileCount = 2, force = true)")))
      assert(metric[Long](row, "partitionsOptimized") === 4)
      assert(status(zorder(path, "BY (a, id) WITH (fileCount = 2)")) === "NOTHING_TO_DO")
    })
  }

  test("files that spell a column in two ways are refused: Spark could not read their union") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr("id", "a", "named_struct('f', b) s").coalesce(1).write.parquet(path.toString)
      numbers(2000).selectExpr(
        "ID",
        "a",
        "named_struct('F', b) s").coalesce(1).write.mode("append").parquet(path.toString)
      refused(path, s"ZORDER TABLE '$path' BY (a) WITH (fileCount = 4, force = true)", "is spelt", "alike")
    }
  }

  test("every setting of the pinned session set wrongly first") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def rows = numbers(20000).selectExpr(
        "*",
        "cast(b as decimal(20, 2)) x",
        "unhex(hex(s)) y",
        "date_sub(date'1500-01-01', a) old",
        "cast(id % 2 as int) p")
      withConf("spark.sql.parquet.datetimeRebaseModeInWrite" -> "CORRECTED") {
        rows.repartition(3).write.partitionBy("p").parquet(path.toString)
      }
      val wrong = Map(
        "spark.sql.maxConcurrentOutputFileWriters" -> "8",
        "spark.sql.files.maxRecordsPerFile" -> "100",
        "spark.sql.parquet.datetimeRebaseModeInWrite" -> "LEGACY",
        "spark.sql.parquet.int96RebaseModeInWrite" -> "LEGACY",
        "spark.sql.parquet.datetimeRebaseModeInRead" -> "LEGACY",
        "spark.sql.parquet.int96RebaseModeInRead" -> "LEGACY",
        "spark.sql.sources.partitionOverwriteMode" -> "dynamic",
        "spark.sql.sources.useV1SourceList" -> "")
      val settings = PinnedSession.settings.map { case (key, right, _) =>
        key -> wrong.getOrElse(key, if (right == "true") "false" else "true")
      }
      // the columns are named as the files name them; the resolver must not be what is tested here
      withConf(settings :+ ("spark.sql.parquet.outputTimestampType" -> "INT96"): _*) {
        done(zorder(path, "BY (a, b) WITH (fileCount = 8)"))
      }
      sameRows(rows, read(path))
      assert(dataFiles(path).size === 16)
      val half = read(path).where("p = 0")
      assert(shareRead(half, "a") + shareRead(half, "b") < 0.8) // eight files: 4 x 2
    }
  }

  test("names that are nested, dotted and mixed, and expressions", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      def rows = numbers(16000).selectExpr(
        "id AS Id",
        "named_struct('F', a, 'inner', named_struct('x y', b)) AS S",
        "b AS `a.b`",
        "s AS `Groß``e`",
        "elt(1 + cast(id % 5 as int), 'OPEN', 'DONE', 'LOST', 'HELD', null) status")
      rows.repartition(3).write.parquet(path.toString)
      step("nested fields and dots") {
        val row = done(zorder(path, s"BY (s.f, `A.B`, S.inner.`x y`) $eight"))
        sameRows(rows, read(path))
        for ((c, i) <- Seq("S.F", "`a.b`", "S.inner.`x y`").zipWithIndex)
          assert(math.abs(share(row, i, "files", "measured") - shareRead(read(path), c)) < 0.01, c)
      }
      step("a predicate beside a quoted name") {
        done(zorder(path, "BY (status = 'OPEN', `Groß``e`) WITH (fileCount = 8, force = true)"))
        sameRows(rows, read(path))
        val mixed = read(path).selectExpr("status = 'OPEN' AS o", "input_file_name() AS f").groupBy("f")
          .agg(org.apache.spark.sql.functions.countDistinct("o").as("n"))
        assert(mixed.where("n > 1").count() <= 2)
      }
      step("expressions alone") {
        done(zorder(path, "BY (id % 7, length(status)) WITH (fileCount = 8, force = true)"))
        sameRows(rows, read(path))
      }
    }
  }

  test("all types as clustering columns") {
    withTempDir { dir =>
      val n = 8000
      def rows = numbers(n.toLong).selectExpr(
        "id",
        "a % 2 = 0 AS c_boolean",
        "cast(a % 100 as tinyint) c_tinyint",
        "cast(a - 500 as smallint) c_smallint",
        "cast(b / 20 as decimal(7, 2)) - 500 AS c_decimal9",
        "cast(b as decimal(18, 3)) c_decimal18",
        "cast(b as decimal(38, 2)) - 500000 AS c_decimal38",
        "case when a % 50 = 0 then float('NaN') when a % 50 = 1 then float('-Infinity') " +
          "when a % 50 = 2 then float(-0.0) else cast(b - 500000 as float) end AS c_float",
        "if(a % 3 = 0, null, b / 7.0) AS c_double",
        "d AS c_date",
        "timestamp_micros(b * 1000003) AS c_timestamp",
        "cast(timestamp_micros(b * 1000003) as timestamp_ntz) AS c_ntz",
        "if(a % 4 = 0, null, s) AS c_string",
        "unhex(sha1(s)) AS c_binary")
      val columns = rows.columns.filter(_.startsWith("c_")).toSeq
      val comparable = columns.filterNot(c => Set("c_boolean", "c_tinyint", "c_binary", "c_float")(c))
      withConf("spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS") {
        // pairs; `make test` has all types in three runs, of columns too many for each to be cut
        (columns :+ columns.head).grouped(if (ShortRun.is) 5 else 2).foreach { by =>
          val path = dir.resolve(by.head)
          val names = by.mkString(", ")
          rows.repartition(3).write.parquet(path.toString)
          val row = done(zorder(path, s"BY ($names) WITH (fileCount = 8, force = true)"))
          sameRows(rows, read(path))
          for ((c, i) <- by.zipWithIndex if by.length == 2 && comparable.contains(c)) {
            val independent = shareRead(read(path), c)
            assert(independent < 0.75, s"$c of ($names)")
            assert(math.abs(share(row, i, "files", "measured") - independent) < 0.02, s"$c of ($names)")
          }
        }
      }
    }
  }

  /** Spoils the bytes between two fractions of the file: the pages of some columns, not the footer. */
  private def corrupt(file: Path, from: Double, to: Double): Unit = {
    val bytes = Files.readAllBytes(file)
    ((bytes.length * from).toInt until (bytes.length * to).toInt).foreach(i =>
      bytes(i) = (bytes(i) ^ 0x5a).toByte)
    Files.delete(file.resolveSibling(s".${file.getFileName}.crc"))
    Files.write(file, bytes)
    ()
  }

  test("a run that fails, in the sample or in the rewrite, leaves the table and nothing beside it") {
    for ((step, from, to) <- Seq(("sample", 0.05, 0.5), ("rewrite", 0.75, 0.9))) withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(8000).repartition(3).write.parquet(path.toString)
      corrupt(path.resolve(dataFiles(path).keys.min), from, to)
      val before = listing(path)
      val (_, watch) = JobWatch(spark)(intercept[Exception](zorder(path, s"BY (a, b) $eight")))
      assert(watch.jobs.last.endsWith(step))
      assert(listing(path) === before)
      assert(Files.list(dir).count() === 1)
    }
  }

  test("a cancelled run leaves the table and nothing beside it: by its own job group, or by its caller's") {
    val context = spark.sparkContext
    for (group <- Seq(None, Some("of the caller"))) withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(60000).repartition(3).write.parquet(path.toString)
      val before = listing(path)
      val killer = new org.apache.spark.scheduler.SparkListener {
        override def onJobStart(job: org.apache.spark.scheduler.SparkListenerJobStart): Unit =
          if (Option(job.properties.getProperty("spark.job.description")).exists(_.contains(": rewrite")))
            context.cancelJobGroup(group.getOrElse(job.properties.getProperty("spark.jobGroup.id")))
      }
      context.addSparkListener(killer)
      group.foreach(context.setJobGroup(_, "mine"))
      try {
        intercept[Exception](zorder(path, s"BY (a, b) $eight"))
        assert(Option(context.getLocalProperty("spark.jobGroup.id")) === group)
        assert(Option(context.getLocalProperty("spark.job.description")) === group.map(_ => "mine"))
        assert(Option(context.getLocalProperty("spark.job.tags")).forall(_.isEmpty))
      } finally {
        context.clearJobGroup()
        context.removeSparkListener(killer)
      }
      assert(listing(path) === before)
      assert(Files.list(dir).count() === 1)
    }
  }

  test("a run that is cancelled while a file is read on trial says so, and nothing of the file") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      for (x <- Seq("int", "bigint"))
        spark.range(0, 10, 1, 1).selectExpr("id AS a", s"cast(id as $x) AS x")
          .write.mode("append").parquet(path.toString)
      val before = listing(path)
      val e = intercept[Exception](withConf(CancellingFileSystem.settings: _*)(
        zorder(path, "BY (a) WITH (fileCount = 2, force = true)")))
      assert(Cancellation.ofJob(e), e)
      assert(listing(path) === before)
    }
  }

  test("an interrupted run leaves no job behind") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(60000).repartition(3).write.parquet(path.toString)
      val context = spark.sparkContext
      @volatile var (job, ended) = (-1, Option.empty[org.apache.spark.scheduler.JobResult])
      val caller = Thread.currentThread()
      val listener = new org.apache.spark.scheduler.SparkListener {
        override def onJobStart(start: org.apache.spark.scheduler.SparkListenerJobStart): Unit =
          if (job < 0 && start.properties.getProperty("spark.job.description").contains(": rewrite")) {
            job = start.jobId
            caller.interrupt()
          }
        override def onJobEnd(end: org.apache.spark.scheduler.SparkListenerJobEnd): Unit =
          if (end.jobId == job) ended = Some(end.jobResult)
      }
      context.addSparkListener(listener)
      try {
        intercept[Throwable](zorder(path, s"BY (a, b) $eight"))
        Thread.interrupted()
        assert(job >= 0)
        eventually(Timeout(Span(60, Seconds)))(assert(ended.isDefined))
        assert(ended.get.toString.contains("cancelled"))
      } finally context.removeSparkListener(listener)
      sameRows(numbers(60000), read(path))
      assert(Files.list(dir).count() === 1)
    }
  }

  test("a run that is interrupted within a request of the storage leaves nothing beside the table") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).write.parquet(path.toString)
      CrashPoint.meanwhile = place =>
        if (place == "parquet-written") {
          Thread.currentThread().interrupt()
          throw new InterruptedIOException("Injected")
        }
      try withConf(InterruptedFileSystem.settings: _*)(
          intercept[Throwable](zorder(path, s"BY (a, b) $eight")))
      finally {
        CrashPoint.meanwhile = _ => ()
        Thread.interrupted()
      }
      assert(Files.list(dir).count() === 1)
    }
  }
}

/** The local disk as HDFS: what an interrupted thread asks of it fails, and the thread is interrupted still. */
class InterruptedFileSystem extends LocalFileSystem(new InterruptedRawFileSystem)

class InterruptedRawFileSystem extends QuickRawFileSystem {
  override def delete(path: HPath, recursive: Boolean): Boolean =
    if (Thread.currentThread().isInterrupted) throw new InterruptedIOException("Injected")
    else super.delete(path, recursive)
}

private object InterruptedFileSystem {

  /** A session goes through it while it has these settings. */
  val settings: Seq[(String, String)] = Seq(
    "fs.file.impl" -> classOf[InterruptedFileSystem].getName,
    "fs.file.impl.disable.cache" -> "true")
}

/** The local disk, on which a run is cancelled as soon as a task of its step `footers` opens a file. */
class CancellingFileSystem extends LocalFileSystem(new CancellingRawFileSystem)

class CancellingRawFileSystem extends QuickRawFileSystem {
  override def open(path: HPath, bufferSize: Int): FSDataInputStream = {
    Option(TaskContext.get()).foreach { task =>
      if (Option(task.getLocalProperty("spark.job.description")).exists(_.endsWith(": footers"))) {
        SparkContext.getOrCreate().cancelJobGroup(task.getLocalProperty("spark.jobGroup.id"))
        // until the cancellation interrupts it
        Thread.sleep(5000)
      }
    }
    super.open(path, bufferSize)
  }
}

private object CancellingFileSystem {
  val settings: Seq[(String, String)] = Seq(
    "fs.file.impl" -> classOf[CancellingFileSystem].getName,
    "fs.file.impl.disable.cache" -> "true")
}
