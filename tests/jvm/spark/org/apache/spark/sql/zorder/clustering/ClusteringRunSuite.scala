package org.apache.spark.sql.zorder.clustering

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.{SameOnAllLines, Steps}

/** Runs on small tables, from the statement to the files. */
class ClusteringRunSuite extends AnyFunSuite with RunFixture with SharedTables with Steps {
  private val small = "WITH (fileCount = 16, pageRowLimit = 500)"
  private val eight = "WITH (fileCount = 8, pageRowLimit = 500)"

  /** Rows that the scan of a look-up hands on: of the row groups and pages that it could not skip. */
  private def rowsRead(path: Path, where: String): Long = {
    val query = read(path).where(where)
    query.collect()
    query.queryExecution.executedPlan.collectFirst { case s: FileSourceScanExec =>
      s.metrics("numOutputRows").value
    }.get
  }

  /** A run of its own: the table, what the statement returned, its jobs, and rows read by look-ups before it. */
  private case class Ran(path: Path, row: Row, jobs: JobWatch, before: Seq[Long])

  /** A table of six files in no order, clustered by a and b into sixteen. */
  private lazy val clustered: Ran = {
    val path = shared.resolve("clustered")
    numbers(40000).repartition(6).write.parquet(path.toString)
    val before = Seq("a", "b").map(c => rowsRead(path, s"$c = ${read(path).select(c).head().get(0)}"))
    val (row, jobs) = JobWatch(spark)(done(zorder(path, s"BY (a, b) $small")))
    Ran(path, row, jobs, before)
  }

  test("a run keeps the rows, and its row counts them and the files", SameOnAllLines) {
    val Ran(path, row, _, _) = clustered
    sameRows(numbers(40000), read(path))
    assert(row.schema === ClusteringRun.resultSchema)
    assert(row.getAs[String]("path").endsWith(path.toString))
    assert(metric[Long](row, "rows") === 40000 && metric[Long](row, "numFilesAdded") === 16)
    assert(metric[Long](row, "numFilesRemoved") === 6 && metric[Long](row, "totalConsideredFiles") === 6)
    assert(dataFiles(path).size === 16)
  }

  test("shares of a run are what an independent query finds, and near their bounds", SameOnAllLines) {
    val Ran(path, row, _, _) = clustered
    for ((c, i) <- Seq("a", "b").zipWithIndex) {
      val independent = shareRead(read(path), c)
      assert(math.abs(share(row, i, "files", "measured") - independent) < 0.005, c)
      assert(math.abs(share(row, i, "files", "forecast") - independent) < 0.02, c)
      assert(share(row, i, "files", "now") > 0.98 && independent < 1.15 * share(row, i, "files", "bound"))
      assert(share(row, i, "pages", "measured") < 1.35 * share(row, i, "pages", "bound"))
      assert(share(row, i, "pages", "measured") < 0.6 * share(row, i, "files", "measured"))
    }
  }

  test("a look-up of either column reads less after a run", SameOnAllLines) {
    val Ran(path, _, _, before) = clustered
    for ((c, i) <- Seq("a", "b").zipWithIndex) {
      val value = read(path).select(c).head().get(0)
      assert(rowsRead(path, s"$c = $value") < 0.4 * before(i), c)
    }
  }

  test("a run reads the rows for the sample and for the rewrite, by jobs that have names", SameOnAllLines) {
    val watch = clustered.jobs
    assert(watch.reads.map(_._1.split(": ").last) === Seq("sample", "rewrite"), watch.jobs)
    assert(watch.reads.map(_._2) === Seq(40000L, 40000L))
    // so few that the driver reads them
    assert(watch.ofFooters.isEmpty)
    assert(watch.jobs.forall(_.nonEmpty), watch.jobs.mkString("|"))
  }

  test("footers of many files are read in two jobs, with a query log in three", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).repartition(20).write.parquet(path.toString)
      def ofFooters(options: String): Seq[String] =
        JobWatch(spark)(done(zorder(
          path,
          s"FULL BY (a, b) WITH (fileCount = 20, pageRowLimit = 500$options)")))
          ._2.ofFooters.map(_.takeWhile(!_.isDigit))
      assert(ofFooters("") === Seq("footers and page indexes of ", "verification of "))
      logOf("footer_log", path, Seq("a < 100"))
      assert(ofFooters(", queryLog = 'footer_log'") ===
        Seq("footers of ", "page indexes of ", "verification of "))
    }
  }

  test("a second run has nothing to do and reads no row", SameOnAllLines) {
    val path = clustered.path
    val (again, watch) = JobWatch(spark)(zorder(path, s"BY (a, b) $small"))
    assert(status(again) === "NOTHING_TO_DO" && watch.reads.isEmpty)
    assert(status(zorder(path, "")) === "NOTHING_TO_DO")
  }

  /** Four files in no order, and a column of one value. */
  private lazy val unordered: Path = {
    val path = shared.resolve("unordered")
    numbers(20000).selectExpr("*", "1 AS one").repartition(4).write.parquet(path.toString)
    path
  }

  test("a dry run forecasts and changes nothing", SameOnAllLines) {
    val before = listing(unordered)
    val dry = zorder(unordered, s"BY (a, b) $small DRY RUN")
    assert(status(dry) === "DRY_RUN" && listing(unordered) === before)
    assert(share(dry, 0, "files", "forecast") < 0.5 && metric[Long](dry, "targetFiles") === 16)
  }

  test("a table that is too small for two files is left as it is", SameOnAllLines) {
    val before = listing(unordered)
    assert(status(zorder(unordered, "BY (a, b)")) === "TOO_SMALL")
    assert(listing(unordered) === before)
  }

  test("a column of one value is no gain", SameOnAllLines) {
    val before = listing(unordered)
    assert(status(zorder(unordered, s"BY (one) $small")) === "NO_GAIN" && listing(unordered) === before)
  }

  test("INTO makes a copy in order, and the table stays as it is", SameOnAllLines) {
    withTempDir { dir =>
      val (copy, before) = (dir.resolve("copy"), listing(unordered))
      val row = done(zorder(unordered, s"BY (a, b) $small INTO '$copy'"))
      assert(row.getAs[String]("path").endsWith("copy"))
      assert(listing(unordered) === before)
      sameRows(read(unordered), read(copy))
      assert(shareRead(read(copy), "a") < 0.4)
    }
  }

  test("force rewrites what is too small or no gain", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(2000).selectExpr("*", "1 AS one").repartition(2).write.parquet(path.toString)
      step("too small")(done(keepsRows(path)(zorder(path, "BY (a, b) WITH (force = true)"))))
      step("no gain") {
        done(keepsRows(path)(zorder(path, "BY (one) WITH (fileCount = 4, force = true)")))
        assert(dataFiles(path).size === 4)
      }
    }
  }

  test("every run after the first keeps the rows, and the history has those that wrote", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(20000).repartition(4).write.parquet(path.toString)
      done(keepsRows(path)(zorder(path, s"BY (a, b) $small")))
      step("appended rows are clustered") {
        numbers(3000).selectExpr(
          "id + 1000000 id",
          "a",
          "b",
          "s",
          "d").write.mode("append").parquet(path.toString)
        done(keepsRows(path)(zorder(path, s"BY (a, b) $small")))
        assert(read(path).count() === 23000)
      }
      step("FULL takes all files") {
        done(keepsRows(path)(zorder(path, "FULL BY (a, b) WITH (fileCount = 8, force = true)")))
        assert(dataFiles(path).size === 8)
      }
      step("another curve") {
        val lexical = done(keepsRows(path)(zorder(
          path,
          "BY (a, b) USING CURVE lexical WITH (fileCount = 8, force = true)")))
        assert(
          share(lexical, 0, "files", "measured") < 0.14 && share(lexical, 1, "files", "measured") > 0.95)
      }
      step("what is no gain is told, with the way to do it all the same") {
        val none = zorder(path, "BY (a) WITH (fileCount = 8)")
        assert(status(none) === "NO_GAIN" && reason(none).contains("force = true"))
      }
      step("the history") {
        val history = spark.sql(s"SELECT * FROM zorder_history('$path')").collect()
        assert(history.length === 4)
      }
    }
  }

  /** Four partitions: of NULL, and of names with characters that paths and SQL have a use for. */
  private def parts: DataFrame = numbers(24000).selectExpr(
    "*",
    "elt(cast(id % 4 as int) + 1, 'a/b=c', 'x y%z', 'ü:*', null) AS p",
    "cast(id % 2 as int) q")

  private lazy val partitioned: Ran = {
    val path = shared.resolve("partitioned")
    parts.repartition(2).write.partitionBy("p", "q").parquet(path.toString)
    val (row, jobs) = JobWatch(spark)(done(zorder(path, s"BY (a, b) $eight")))
    Ran(path, row, jobs, Nil)
  }

  test("partitions of NULL and of odd names keep their rows", SameOnAllLines) {
    sameRows(parts, read(partitioned.path))
  }

  test(
    "all partitions of a path are read together: once for the sample, once for the rewrite",
    SameOnAllLines) {
    val Ran(_, row, watch, _) = partitioned
    assert(watch.reads.length === 2 && metric[Long](row, "partitionsOptimized") === 4)
  }

  test("each partition has its own files in its own order", SameOnAllLines) {
    val Ran(path, row, _, _) = partitioned
    assert(dataFiles(path).size === 32)
    assert(dataFiles(path).groupBy(_._1.split('/').init.mkString("/")).values.forall(_.size == 8))
    val one = read(path).where("p IS NULL")
    assert(shareRead(one, "a") + shareRead(one, "b") < 0.8) // eight files: 4 x 2
    assert(math.abs(share(row, 0, "files", "measured") - shareRead(read(path), "a")) < 0.01)
  }

  test("a second run of a partitioned path has nothing to do", SameOnAllLines) {
    assert(status(zorder(partitioned.path, s"BY (a, b) $eight")) === "NOTHING_TO_DO")
  }

  test("a table of the catalog: the rows stay, a second run has nothing to do, appended rows are clustered") {
    withTable("run_flat") {
      numbers(20000).repartition(3).write.saveAsTable("run_flat")
      done(one(s"OPTIMIZE run_flat ZORDER BY (a, b) $small"))
      sameRows(numbers(20000), spark.table("run_flat"))
      assert(shareRead(spark.table("run_flat"), "a") < 0.3)
      assert(status(one(s"ZORDER TABLE default.run_flat BY (a, b) $small")) === "NOTHING_TO_DO")
      numbers(2000).write.insertInto("run_flat")
      done(one(s"ZORDER TABLE run_flat BY (a, b) $small"))
      assert(spark.table("run_flat").count() === 22000)
    }
  }

  test("a partitioned table of the catalog is clustered by partitions, and by its properties") {
    withTable("run_parts") {
      def parts = numbers(20000).selectExpr("*", "if(id % 3 = 0, null, cast(id % 3 as string)) p")
      parts.repartition(2).write.partitionBy("p").saveAsTable("run_parts")
      step("by partitions") {
        done(one("ZORDER TABLE run_parts BY (a, b) WITH (fileCount = 8)"))
        sameRows(parts, spark.table("run_parts"))
        assert(spark.table("run_parts").where("p = '1'").inputFiles.length === 8)
      }
      step("by its properties") {
        spark.sql("ALTER TABLE run_parts SET TBLPROPERTIES ('zorder.by' = 'b, a', 'zorder.fileCount' = '4')")
        val row = done(one("ZORDER TABLE run_parts WITH (force = true)"))
        assert(names(row, "columns") === Seq("b", "a"))
        assert(spark.table("run_parts").where("p IS NULL").inputFiles.length === 4)
        sameRows(parts, spark.table("run_parts"))
      }
      step("an empty property names no columns: those of the last run stand") {
        spark.sql("ALTER TABLE run_parts SET TBLPROPERTIES ('zorder.by' = '')")
        assert(status(one("ZORDER TABLE run_parts WITH (force = true)")) === "NOTHING_TO_DO")
      }
      step("not by a property that Spark reads as a column under another name") {
        spark.sql("ALTER TABLE run_parts SET TBLPROPERTIES ('zorder.by' = 'a b')")
        val refused = intercept[ZOrderException](one("ZORDER TABLE run_parts WITH (force = true)"))
        assert(refused.getMessage.contains("'a b' is not one plain column or expression"))
      }
    }
  }
}
