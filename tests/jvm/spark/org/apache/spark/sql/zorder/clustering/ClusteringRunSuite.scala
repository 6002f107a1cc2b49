package org.apache.spark.sql.zorder.clustering

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.execution.FileSourceScanExec
import sparkzorder.SameOnAllLines

/** Runs on small tables, from the statement to the files. */
class ClusteringRunSuite extends AnyFunSuite with RunFixture {
  private val small = "WITH (fileCount = 16, pageRowLimit = 500)"

  /** Rows that the scan of a look-up hands on: of the row groups and pages that it could not skip. */
  private def rowsRead(path: java.nio.file.Path, where: String): Long = {
    val query = read(path).where(where)
    query.collect()
    query.queryExecution.executedPlan.collectFirst { case s: FileSourceScanExec =>
      s.metrics("numOutputRows").value
    }.get
  }

  test("a path: rows stay, shares are what an independent query finds, jobs are counted", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(40000).repartition(6).write.parquet(path.toString)
      val before = Seq("a", "b").map(c => rowsRead(path, s"$c = ${read(path).select(c).head().get(0)}"))
      val (row, watch) = JobWatch(spark)(done(zorder(path, s"BY (a, b) $small")))
      sameRows(numbers(40000), read(path))
      assert(row.schema === ClusteringRun.resultSchema)
      assert(row.getAs[String]("path").endsWith(path.toString))
      assert(metric[Long](row, "rows") === 40000 && metric[Long](row, "numFilesAdded") === 16)
      assert(metric[Long](row, "numFilesRemoved") === 6 && metric[Long](row, "totalConsideredFiles") === 6)
      assert(dataFiles(path).size === 16)
      for ((c, i) <- Seq("a", "b").zipWithIndex) {
        val independent = shareRead(read(path), c)
        assert(math.abs(share(row, i, "files", "measured") - independent) < 0.005, c)
        assert(math.abs(share(row, i, "files", "forecast") - independent) < 0.02, c)
        assert(share(row, i, "files", "now") > 0.98 && independent < 1.15 * share(row, i, "files", "bound"))
        assert(share(row, i, "pages", "measured") < 1.35 * share(row, i, "pages", "bound"))
        assert(share(row, i, "pages", "measured") < 0.6 * share(row, i, "files", "measured"))
        val value = read(path).select(c).head().get(0)
        assert(rowsRead(path, s"$c = $value") < 0.4 * before(i), c)
      }
      assert(watch.reads.map(_._1.split(": ").last) === Seq("sample", "rewrite"), watch.jobs)
      assert(watch.reads.map(_._2) === Seq(40000L, 40000L))
      assert(watch.jobs.count(j => j.contains("footers") || j.contains("page indexes")) <= 3, watch.jobs)
      assert(watch.jobs.forall(_.nonEmpty), watch.jobs.mkString("|"))
    }
  }

  test("second run, append, FULL, DRY RUN, another order, force", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).repartition(4).write.parquet(path.toString)
      val before = listing(path)
      val dry = zorder(path, s"BY (a, b) $small DRY RUN")
      assert(status(dry) === "DRY_RUN" && listing(path) === before)
      assert(share(dry, 0, "files", "forecast") < 0.5 && metric[Long](dry, "targetFiles") === 16)
      done(keepsRows(path)(zorder(path, s"BY (a, b) $small")))
      val (again, watch) = JobWatch(spark)(zorder(path, s"BY (a, b) $small"))
      assert(status(again) === "NOTHING_TO_DO" && watch.reads.isEmpty)
      assert(status(zorder(path, "")) === "NOTHING_TO_DO")
      numbers(3000).selectExpr(
        "id + 1000000 id",
        "a",
        "b",
        "s",
        "d").write.mode("append").parquet(path.toString)
      done(keepsRows(path)(zorder(path, s"BY (a, b) $small")))
      assert(read(path).count() === 23000)
      done(keepsRows(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 8, force = true)")))
      assert(dataFiles(path).size === 8)
      val lexical = done(keepsRows(path)(zorder(
        path,
        "BY (a, b) USING CURVE lexical WITH (fileCount = 8, force = true)")))
      assert(share(lexical, 0, "files", "measured") < 0.14 && share(lexical, 1, "files", "measured") > 0.95)
      val none = zorder(path, "BY (a) WITH (fileCount = 8)")
      assert(status(none) === "NO_GAIN" && reason(none).contains("force = true"))
      val history = spark.sql(s"SELECT * FROM zorder_history('$path')").collect()
      assert(history.length === 4)
    }
  }

  test("too small, constant columns, a copy beside", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).selectExpr("*", "1 AS one").repartition(4).write.parquet(path.toString)
      val before = listing(path)
      assert(status(zorder(path, "BY (a, b)")) === "TOO_SMALL")
      val constant = zorder(path, s"BY (one) $small")
      assert(status(constant) === "NO_GAIN" && listing(path) === before)
      val copy = dir.resolve("copy")
      val row = done(zorder(path, s"BY (a, b) $small INTO '$copy'"))
      assert(row.getAs[String]("path").endsWith("copy"))
      assert(listing(path).filterNot(_._1.startsWith("copy")) === before)
      sameRows(read(path), read(copy))
      assert(shareRead(read(copy), "a") < 0.4)
      done(keepsRows(path)(zorder(path, "BY (a, b) WITH (force = true)")))
      done(keepsRows(path)(zorder(path, "BY (one) WITH (fileCount = 4, force = true)")))
      assert(dataFiles(path).size === 4)
    }
  }

  test("a partitioned path: NULL, odd characters, one job for all, partitions as they were", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val p = "elt(cast(id % 4 as int) + 1, 'a/b=c', 'x y%z', 'ü:*', null)"
      numbers(24000).selectExpr("*", s"$p AS p", "cast(id % 2 as int) q").repartition(2)
        .write.partitionBy("p", "q").parquet(path.toString)
      val (row, watch) =
        JobWatch(spark)(done(zorder(path, "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500)")))
      sameRows(numbers(24000).selectExpr("*", s"$p AS p", "cast(id % 2 as int) q"), read(path))
      assert(watch.reads.length === 2 && metric[Long](row, "partitionsOptimized") === 4)
      assert(dataFiles(path).size === 32)
      assert(dataFiles(path).groupBy(_._1.split('/').init.mkString("/")).values.forall(_.size == 8))
      val one = read(path).where("p IS NULL")
      assert(shareRead(one, "a") + shareRead(one, "b") < 0.8) // eight files: 4 x 2
      assert(math.abs(share(row, 0, "files", "measured") - shareRead(read(path), "a")) < 0.01)
      assert(status(zorder(path, "BY (a, b) WITH (fileCount = 8, pageRowLimit = 500)")) === "NOTHING_TO_DO")
    }
  }

  test("catalog tables, unpartitioned and partitioned") {
    withTable("run_flat", "run_parts") {
      numbers(20000).repartition(3).write.saveAsTable("run_flat")
      done(one(s"OPTIMIZE run_flat ZORDER BY (a, b) $small"))
      sameRows(numbers(20000), spark.table("run_flat"))
      assert(shareRead(spark.table("run_flat"), "a") < 0.3)
      assert(status(one(s"ZORDER TABLE default.run_flat BY (a, b) $small")) === "NOTHING_TO_DO")
      numbers(2000).write.insertInto("run_flat")
      done(one(s"ZORDER TABLE run_flat BY (a, b) $small"))
      assert(spark.table("run_flat").count() === 22000)
      def parts = numbers(20000).selectExpr("*", "if(id % 3 = 0, null, cast(id % 3 as string)) p")
      parts.repartition(2).write.partitionBy("p").saveAsTable("run_parts")
      done(one("ZORDER TABLE run_parts BY (a, b) WITH (fileCount = 8)"))
      sameRows(parts, spark.table("run_parts"))
      assert(spark.table("run_parts").where("p = '1'").inputFiles.length === 8)
      spark.sql("ALTER TABLE run_parts SET TBLPROPERTIES ('zorder.by' = 'b, a', 'zorder.fileCount' = '4')")
      val row = done(one("ZORDER TABLE run_parts WITH (force = true)"))
      assert(row.getSeq[org.apache.spark.sql.Row](row.fieldIndex("columns")).map(_.getString(0)) === Seq(
        "b",
        "a"))
      assert(spark.table("run_parts").where("p IS NULL").inputFiles.length === 4)
      sameRows(parts, spark.table("run_parts"))
    }
  }
}
