package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Files

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{Path => HPath}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import org.apache.spark.sql.delta.actions.Metadata
import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.clustering.JobWatch
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.RowGroupLimit
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.{LongTest, SameOnAllLines, Steps}

/** Whole runs on Delta tables: the same result row, the same layout, Delta's own history. */
class DeltaRunSuite extends AnyFunSuite with DeltaFixture with SharedTables with Steps {
  private val small = "WITH (fileCount = 16, pageRowLimit = 500)"

  /** A table of six files in no order, clustered into sixteen: its place, what the statement returned, its jobs. */
  private lazy val (clustered, row, jobs) = {
    val path = shared.resolve("t")
    delta(path, 40000)
    val (row, jobs) = JobWatch(spark)(done(keeps(path)(zorder(path, s"BY (a, b) $small"))))
    (path, row, jobs)
  }

  test("a run keeps the rows, and its row counts them and the files") {
    assert(metric[Long](row, "rows") === 40000 && metric[Long](row, "numFilesAdded") === 16)
    assert(metric[Long](row, "numFilesRemoved") === 6 && files(clustered) === 16)
  }

  test("the layout is that of plain Parquet", SameOnAllLines) {
    withTempDir { dir =>
      val plain = dir.resolve("p")
      numbers(40000).repartition(6).write.parquet(plain.toString)
      val same = done(zorder(plain, s"BY (a, b) $small"))
      for (c <- 0 to 1; level <- Seq("files", "row_groups", "pages"); what <- Seq("forecast", "measured"))
        assert(math.abs(share(row, c, level, what) - share(same, c, level, what)) < 0.02, s"$c $level $what")
    }
  }

  test("shares of files are what an independent query finds", SameOnAllLines) {
    for ((c, i) <- Seq("a", "b").zipWithIndex)
      assert(math.abs(share(row, i, "files", "measured") - shareRead(read(clustered), c)) < 0.005)
  }

  test("a run reads the rows for the sample and for the rewrite") {
    // Delta reads its own log in jobs, too
    val reads = jobs.reads.filter(_._2 >= 40000)
    assert(reads.map(_._1.split(": ").last).filter(_.nonEmpty) === Seq("sample", "rewrite"), jobs.jobs)
  }

  test("a run looks at the gathered outlines of those before it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 4)"))
      val state = new StateDir(new HPath(path.toUri).getFileSystem(new Configuration), new HPath(path.toUri))
      val first = state.runs().head
      (2 to 64).foreach(n => state.append(first.copy(runId = s"run$n", files = Nil), Map.empty))
      val record = path.resolve("_zorder/runs/1.json")
      // unreadable, and as it was to those who do not read it
      val modified = Files.getLastModifiedTime(record)
      Files.write(record, Array.fill(Files.size(record).toInt)(' '.toByte))
      Files.setLastModifiedTime(record, modified)
      assert(state.runs().forall(_.files.isEmpty))
      val row = zorder(path, "BY (a, b) WITH (fileCount = 4)")
      assert(status(row) === "NOTHING_TO_DO" && reason(row).startsWith("All 4 files"), reason(row))
    }
  }

  test("a few new rows in many files: no more jobs than there have to be", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 40000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 64, pageRowLimit = 500)"))
      numbers(40400).where("id >= 40000").coalesce(1).write.format("delta").mode("append").save(path.toString)
      // Delta would read its log once more, as nobody's Delta does but that of tests
      val (row, watch) = withConf("spark.databricks.delta.incremental.commit.forceVerifyInTests" -> "false")(
        keeps(path)(JobWatch(spark)(done(zorder(path, "BY (a, b)")))))
      assert(metric[Long](row, "rows") === 400, reason(row))
      watch.startedAtMost(4)
    }
  }

  test("Delta's history says OPTIMIZE, of which columns and files") {
    val last = history(clustered)
    assert(last.getAs[String]("operation") === "OPTIMIZE")
    assert(last.getAs[Map[String, String]]("operationParameters")("zOrderBy") === """["a","b"]""")
    val metrics = last.getAs[Map[String, String]]("operationMetrics")
    assert(metrics("numAddedFiles") === "16" && metrics("numRemovedFiles") === "6")
  }

  test("files of several row groups: pages are cut where Delta's writer counts the rows of both", LongTest) {
    def read(byPages: Boolean): Double = withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 40000)
      val options = "WITH (fileCount = 4, pageRowLimit = 250, rowGroupSize = '64k', force = true)"
      withConf("spark.zorder.pages.enabled" -> byPages.toString) {
        val row = done(keeps(path)(zorder(path, s"BY (b, id) $options")))
        assert(metric[Long](row, "rowGroups") > 4)
        share(row, 0, "pages", "measured") + share(row, 1, "pages", "measured")
      }
    }
    assert((read(byPages = true) < 0.95 * read(byPages = false)) === RowGroupLimit.supported)
  }

  test("from a dry run to the removal each statement does what it does on plain Parquet", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val eight = "WITH (fileCount = 8, pageRowLimit = 500)"
      val before = files(path)
      step("a dry run forecasts and changes nothing") {
        val dry = zorder(path, s"BY (a, b) $eight DRY RUN")
        assert(
          status(dry) === "DRY_RUN" && files(path) === before && share(dry, 0, "files", "forecast") < 0.6)
      }
      step("a second run has nothing to do and reads no row") {
        done(keeps(path)(zorder(path, s"BY (a, b) $eight")))
        val (again, watch) = JobWatch(spark)(zorder(path, s"BY (a, b) $eight"))
        assert(status(again) === "NOTHING_TO_DO" && watch.reads.forall(_._2 < 100))
      }
      step("the history has the run that wrote")(
        assert(spark.sql(s"SELECT * FROM zorder_history('$path')").count() === 1))
      step("a rollback brings the files before it back") {
        assert(status(one(s"ZORDER ROLLBACK '$path'")) === "ROLLED_BACK")
        assert(files(path) === before)
      }
      step("a rollback over appended rows is refused") {
        done(keeps(path)(zorder(path, s"BY (a, b) $eight")))
        numbers(10).write.format("delta").mode("append").save(path.toString)
        refused(path, s"ZORDER ROLLBACK '$path'", "written to after the run", "RESTORE")
      }
      step("FULL takes all files") {
        done(keeps(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 4, force = true)")))
        assert(files(path) === 4)
      }
      step("a removal leaves the rows, no state and no property of ours, whatever it is called") {
        spark.sql(s"""ALTER TABLE delta.`$path` SET TBLPROPERTIES ("zorder.it's" = '1', 'mine' = '2')""")
        spark.sql(s"ZORDER REMOVE '$path'").collect()
        val left = DeltaLog.forTable(spark, path.toString).update().metadata.configuration.keySet
        assert(left("mine") && !left.exists(_.startsWith("zorder.")))
        assert(!Files.exists(path.resolve("_zorder")) && read(path).count() === 4010)
      }
    }
  }

  test(
    "records are not removed under a run; a layout that lost a file has as many files as asked for",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      var refusal = ""
      CrashPoint.meanwhile = place =>
        if (place == "delta-written")
          refusal = intercept[ZOrderConflictException](one(s"ZORDER REMOVE '$path'")).condition
      try done(zorder(path, "BY (a, b) WITH (fileCount = 8)"))
      finally CrashPoint.meanwhile = _ => ()
      assert(refusal === "ZORDER_CONFLICT.REMOVE_DURING_RUN")
      val (_, ids) = read(path).selectExpr("input_file_name()", "id").collect().groupBy(_.getString(0)).head
      spark.sql(s"DELETE FROM delta.`$path` WHERE id IN (${ids.map(_.getLong(1)).mkString(", ")})")
      assert(files(path) === 7)
      assert(status(zorder(path, "BY (a, b) WITH (fileCount = 8)")) === "NOTHING_TO_DO")
    }
  }

  test("a table that is restored to the version of a run is in the layout of that run", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 8)"))
      val version = DeltaLog.forTable(spark, path.toString).update().version
      done(zorder(path, "FULL BY (a, b) WITH (fileCount = 4)"))
      spark.sql(s"RESTORE TABLE delta.`$path` TO VERSION AS OF $version").collect()
      val row = zorder(path, "BY (a, b)")
      assert(status(row) === "NOTHING_TO_DO" && files(path) === 8, reason(row))
    }
  }

  test("FULL of one file of a layout: the next run takes that file alone", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 8000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 16, pageRowLimit = 500)"))
      val byFile = read(path).selectExpr("input_file_name()", "a", "b").collect().groupBy(_.getString(0))
      val (as, bs) = (byFile.head._2.map(_.getInt(1)), byFile.head._2.map(_.getLong(2)))
      val box = s"a BETWEEN ${as.min} AND ${as.max} AND b BETWEEN ${bs.min} AND ${bs.max}"
      val some = done(keeps(path)(zorder(path, s"FULL WHERE $box BY (a, b)")))
      assert(metric[Long](some, "numFilesRemoved") === 1, reason(some))
      val row = done(keeps(path)(zorder(path, "BY (a, b)")))
      assert(metric[Long](row, "numFilesRemoved") <= 3, reason(row))
      assert(status(zorder(path, "BY (a, b)")) === "NOTHING_TO_DO")
    }
  }

  test(
    "a rollback to a version from before the retention; none of a table that is only appended to",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val before = files(path)
      val old = System.currentTimeMillis - 10L * 24 * 3600 * 1000
      path.resolve("_delta_log").toFile.listFiles.foreach(_.setLastModified(old))
      DeltaLog.clearCache()
      done(zorder(path, "BY (a, b) WITH (fileCount = 4)"))
      assert(status(one(s"ZORDER ROLLBACK '$path'")) === "ROLLED_BACK" && files(path) === before)
      spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES ('delta.appendOnly' = 'true')")
      done(zorder(path, "BY (a, b) WITH (fileCount = 4)"))
      refused(path, s"ZORDER ROLLBACK '$path'", "cannot be rolled back while delta.appendOnly is set")
    }
  }

  test("a rollback is refused where somebody else's commit has the version of the run", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      done(zorder(path, "BY (a, b) WITH (fileCount = 4)"))
      val version = DeltaLog.forTable(spark, path.toString).update().version
      // as after the return of an older copy of the log
      path.resolve("_delta_log").toFile.listFiles.filter(_.getName.contains(f"$version%020d"))
        .foreach(f => assert(f.delete()))
      DeltaLog.clearCache()
      numbers(10).write.format("delta").mode("append").save(path.toString)
      assert(DeltaLog.forTable(spark, path.toString).update().version === version)
      refused(path, s"ZORDER ROLLBACK '$path'", "There is no run")
      assert(read(path).count() === 4010)
    }
  }

  test("a run writes statistics whatever the session says; a table by a relative path") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val relative = java.nio.file.Paths.get("").toAbsolutePath.relativize(path)
      withConf("spark.databricks.delta.stats.collect" -> "false") {
        done(one(s"ZORDER TABLE '$relative' BY (a, b) WITH (fileCount = 4)"))
      }
      val adds = DeltaLog.forTable(spark, path.toString).update().allFiles.collect()
      assert(adds.length === 4 && adds.forall(_.stats.contains("minValues")))
    }
  }

  test("metadata is the same however its JSON is written, and but for what identity columns have given") {
    def of(marks: String) = Metadata(
      id = "x",
      schemaString =
        """{"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{""" +
          marks + "}}]}",
      configuration = Map("k" -> "1"))
    def identity(mark: Int) = s""""delta.identity.start":1,"delta.identity.highWaterMark":$mark"""
    def column(text: String, mark: Int) = of(identity(mark) + text)
    val (first, second) = (column(""","comment":"noted"""", 1), column(""","comment":"noted"""", 2))
    val swapped = of(""""comment": "noted", """ + identity(1))
    assert(first != swapped && SameMetadata(first, swapped))
    assert(!SameMetadata(first, second) && SameMetadata.butForIdentities(first, second))
    assert(!SameMetadata.butForIdentities(first, column("", 1)))
    assert(!SameMetadata.butForIdentities(first, second.copy(configuration = Map.empty)))
  }

  test(
    "a rollback looks past a vacuum, properties and comments and keeps them; not past gone files or columns",
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val before = files(path)
      def alter(change: String) = spark.sql(s"ALTER TABLE delta.`$path` $change")
      def kept() = {
        val snapshot = DeltaLog.forTable(spark, path.toString).update()
        snapshot.metadata.configuration.get("mine").contains("1") &&
        snapshot.schema("a").getComment().contains("noted")
      }
      done(zorder(path, "BY (a, b) WITH (fileCount = 4)"))
      alter("SET TBLPROPERTIES ('mine' = '1', 'delta.logRetentionDuration' = 'interval 60 days')")
      alter("ALTER COLUMN a COMMENT 'noted'")
      spark.sql(s"ZORDER VACUUM '$path'").collect()
      refused(path, s"ZORDER VACUUM '$path' LATE FILES APPEND DRY RUN", "LATE FILES is for plain Parquet")
      System.setProperty(CrashPoint.Property, "delta-restored")
      try intercept[CrashPoint.Crash](spark.sql(s"ZORDER ROLLBACK '$path'").collect())
      finally System.clearProperty(CrashPoint.Property)
      assert(files(path) === before && !kept())
      assert(status(one(s"ZORDER ROLLBACK '$path'")) === "ROLLED_BACK")
      assert(files(path) === before && kept())
      val bytes = DeltaLog.forTable(spark, path.toString).update().sizeInBytes
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
      withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
        val row = spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").head()
        assert(row.getAs[Long]("bytes_deleted") >= bytes)
      }
      refused(path, s"ZORDER ROLLBACK '$path'", "deleted by a vacuum")
      alter("ADD COLUMN later INT")
      refused(path, s"ZORDER ROLLBACK '$path'", "written to after the run", "ADD COLUMNS")
    }
  }

  test("partitioned tables of the catalog, and OPTIMIZE of Delta beside ours", SameOnAllLines) {
    withTable("d_t") {
      val rows = numbers(20000).selectExpr("*", "cast(id % 2 as int) p")
      rows.repartition(3).write.format("delta").partitionBy("p").saveAsTable("d_t")
      val path = new java.io.File(new java.net.URI(
        spark.sql("DESCRIBE DETAIL d_t").head().getAs[String]("location"))).toPath
      val options = "WITH (fileCount = 8, pageRowLimit = 200)"
      step("WHERE takes the files of a partition") {
        val some = done(keeps(path)(one(s"ZORDER TABLE d_t WHERE p = 1 BY (a, b) $options")))
        assert(metric[Long](some, "rows") === 10000 && files(path) === 3 + 8)
      }
      step("rows are in order inside files") {
        val all = done(keeps(path)(one(s"ZORDER TABLE d_t FULL BY (a, b) $options")))
        assert(files(path) === 16 && metric[Long](all, "partitionsOptimized") === 2)
        for (c <- 0 to 1)
          assert(share(all, c, "pages", "measured") < 0.7 * share(all, c, "files", "measured"))
      }
      step("a partition column is refused") {
        val refusal = intercept[Exception](spark.sql("ZORDER TABLE d_t BY (a, p)").collect())
        assert(refusal.getMessage.contains("partition column"))
      }
      step("OPTIMIZE is Delta's") {
        val theirs = spark.sql("OPTIMIZE d_t ZORDER BY (a)")
        assert(!theirs.columns.contains("status") && theirs.count() === 1)
      }
      step("OPTIMIZE is ours where the session says so") {
        withConf("spark.zorder.delta.takeOver" -> "true") {
          val ours = spark.sql("OPTIMIZE d_t ZORDER BY (a, b) WITH (fileCount = 8, force = true)")
          assert(ours.columns.contains("status"))
        }
        assert(spark.table("d_t").count() === 20000)
      }
    }
  }

  test("a table with more rows than are sampled", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 260000)
      val row = done(zorder(path, "BY (a, b) WITH (fileCount = 16)"))
      assert(metric[Long](row, "sampledRows") < 230000 && metric[Long](row, "sampledRows") > 170000)
      assert(read(path).count() === 260000 && files(path) === 16)
      for (c <- 0 to 1)
        assert(math.abs(share(row, c, "files", "forecast") - share(row, c, "files", "measured")) < 0.01)
    }
  }

  test("INTO makes a plain Parquet copy", LongTest) {
    withTempDir { dir =>
      val (path, copy) = (dir.resolve("t"), dir.resolve("copy"))
      delta(path)
      done(zorder(path, s"BY (a, b) WITH (fileCount = 4) INTO '$copy'"))
      assert(spark.read.parquet(copy.toString).count() === 20000 && files(path) === 6)
    }
  }

  test("a run that is verified by checksum; a vacuum keeps to Delta's retention", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("a`b")
      delta(path)
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 16, verify = 'checksum')")))
      val short = intercept[ZOrderException](spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").collect())
      assert(short.condition === "ZORDER_CANNOT_VACUUM.DELTA_RETENTION", short.getMessage)
      assert(short.getMessage.contains("its own retention is 168 hours"))
      withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
        val row = spark.sql(s"ZORDER VACUUM '$path' RETAIN 0 HOURS").head()
        assert(row.getAs[Long]("files_deleted") === 6)
      }
      assert(read(path).count() === 20000)
    }
  }

  test("a vacuum that finds an empty directory alone has nothing to do", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(1000).selectExpr("*", "cast(id % 2 as int) p").coalesce(1)
        .write.format("delta").partitionBy("p").save(path.toString)
      spark.sql(s"DELETE FROM delta.`$path` WHERE p = 1")
      def vacuum(): (String, Long) = {
        val row = one(s"ZORDER VACUUM '$path' RETAIN 0 HOURS")
        (status(row), row.getAs[Long]("files_deleted"))
      }
      withConf("spark.databricks.delta.retentionDurationCheck.enabled" -> "false") {
        assert(vacuum() === (("DELETED", 1L)) && Files.exists(path.resolve("p=1")))
        assert(vacuum() === (("NOTHING_TO_DO", 0L)) && !Files.exists(path.resolve("p=1")))
      }
      assert(read(path).count() === 500)
    }
  }

  test(
    "a vacuum keeps files as long as the longer retention says, ours or Delta's own",
    SameOnAllLines,
    LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000)
      val left = path.resolve("left.parquet")
      Files.copy(path.resolve(dataFiles(path).keys.head), left)
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
      def aged(days: Long) = left.toFile.setLastModified(System.currentTimeMillis - days * 24 * 3600 * 1000)
      def own(length: String) = spark.sql(s"ALTER TABLE delta.`$path` SET TBLPROPERTIES " +
        s"('delta.deletedFileRetentionDuration' = 'interval $length')")
      def vacuum(rest: String = ""): (String, Long) = {
        val row = one(s"ZORDER VACUUM '$path' $rest")
        (status(row), row.getAs[Long]("files_deleted"))
      }
      step("Delta's is longer") {
        own("30 days")
        aged(20)
        assert(vacuum() === (("NOTHING_TO_DO", 0L)) && vacuum("DRY RUN") === (("NOTHING_TO_DO", 0L)))
        val short = intercept[ZOrderException](vacuum("RETAIN 0 HOURS")).getMessage
        assert(short.contains("a retention of 0 hours") && short.contains("its own retention is 720 hours"))
        aged(31)
        assert(vacuum("DRY RUN") === (("DRY_RUN", 1L)))
      }
      step("ours is longer") {
        own("1 hours")
        aged(5)
        assert(vacuum() === (("NOTHING_TO_DO", 0L)))
      }
      step("the statement's counts before ours") {
        aged(8)
        assert(vacuum("RETAIN 200 HOURS") === (("NOTHING_TO_DO", 0L)) && Files.exists(left))
        assert(vacuum("RETAIN 180.5 HOURS DRY RUN") === (("DRY_RUN", 1L)))
      }
      step("a file that is in no version is deleted where Delta's own vacuum would not look for it") {
        withConf("spark.databricks.delta.vacuum.lite.enabled" -> "true") {
          assert(vacuum() === (("DELETED", 1L)) && !Files.exists(left))
        }
      }
      assert(read(path).count() === 4000)
    }
  }
}
