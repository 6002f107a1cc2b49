package org.apache.spark.sql.zorder.insight.audit

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path, Paths}

import org.apache.parquet.crypto.FileEncryptionProperties
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.functions.{col, lit}
import org.apache.spark.sql.zorder.SharedTables
import org.apache.spark.sql.zorder.clustering.{JobWatch, RunFixture}
import org.apache.spark.sql.zorder.stats.ForeignFile
import sparkzorder.{LongTest, Steps}
import sparkzorder.mark.SameOnAllLines

/** Tables whose trouble is known, what is said of them, and that the statement helps. */
@SameOnAllLines
class AuditSuite extends AnyFunSuite with RunFixture with SharedTables with Steps {

  private def audit(arguments: String): Seq[Row] =
    spark.sql(s"SELECT * FROM clustering_information($arguments)").collect().toSeq

  private def of(path: Path, columns: String): Row = audit(s"'$path', '$columns'").head

  private def verdict(row: Row): String = row.getAs[String]("verdict")
  private def statement(row: Row): String = row.getAs[String]("statement")
  private def long(row: Row, name: String): Long = row.getAs[Long](name)
  private def double(row: Row, name: String): Double = row.getAs[Double](name)

  /** The numbers of one level, jointly or of a column. */
  private def level(row: Row, name: String, column: String = null): Row =
    row.getSeq[Row](row.fieldIndex("levels"))
      .find(l => l.getAs[String]("level") == name && l.getAs[String]("name") == column).get

  /** Files of a hundred rows each, id in order, and a in the order of what is asked. */
  private def write(df: DataFrame, files: Int, path: Path): Unit =
    df.repartitionByRange(files, col("id")).sortWithinPartitions("id").write.parquet(path.toString)

  private def ids(n: Long): DataFrame = spark.range(0, n, 1, 4).toDF()

  /** The audit of four files in order, and its jobs. */
  private lazy val (fourFiles, jobsOfFour) = {
    val path = shared.resolve("four")
    (0 until 4).foreach(i =>
      spark.range(100L * i, 100L * i + 100, 1, 1).write.mode("append").parquet(path.toString))
    JobWatch(spark)(of(path, "id"))
  }

  test("an audit reads no row of data")(assert(jobsOfFour.reads.isEmpty))

  test("four files in order: OK, and nothing to do") {
    val row = fourFiles
    assert(verdict(row) === "OK" && statement(row) === null && row.getAs[String]("partition") === null)
    assert(row.getAs[String]("cluster_by_keys") === "(id)" && row.isNullAt(row.fieldIndex("curve")))
    assert(long(row, "avoidable_files") === 0 && row.isNullAt(row.fieldIndex("files_since_last_run")))
  }

  test("four files in order: depths of the table, to the last digit") {
    val row = fourFiles
    assert(long(row, "total_file_count") === 4 && long(row, "total_rows") === 400)
    assert(double(row, "average_depth") === 1.0 && double(row, "average_overlaps") === 0.0)
    assert(row.getAs[Map[String, Long]]("file_depth_histogram") === Map("00001" -> 4L))
  }

  test("four files in order: shares of the levels, to the last digit") {
    Seq("file", "row group").map(level(fourFiles, _)).foreach { level =>
      assert(double(level, "look_up_share") === 0.25)
      assert(double(level, "look_up_bound") === 0.25 && double(level, "efficiency") === 1.0)
    }
    assert(long(level(fourFiles, "page", "id"), "sampled_files") === 4)
  }

  test("two columns in no order: RECLUSTER, and the statement makes it OK") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(20000), 16, path)
      val row = of(path, "a, b")
      step("the verdict has its statement and its reason") {
        assert(verdict(row) === "RECLUSTER", row)
        assert(statement(row) === s"ZORDER TABLE '$path' BY (a, b) WITH (fileCount = 16)")
        assert(reason(row).startsWith("Looking up one value of a, b reads 99."), reason(row))
      }
      step("the shares are those that a query counts which knows nothing of us") {
        assert(double(level(row, "file"), "look_up_bound") === 0.25)
        assert(math.abs(double(level(row, "file", "a"), "look_up_share") - shareRead(read(path), "a")) < 0.01)
        assert(long(row, "avoidable_files") === 13 && long(row, "avoidable_bytes") < long(row, "total_bytes"))
      }
      step("the statement makes it OK") {
        done(one(statement(row)))
        val after = audit(s"'$path'").head
        assert(verdict(after) === "OK" && after.getAs[String]("cluster_by_keys") === "(a, b)", after)
        assert(double(level(after, "file"), "efficiency") > 0.8 && long(after, "files_since_last_run") === 0)
        assert(
          math.abs(double(level(after, "file", "a"), "look_up_share") - shareRead(read(path), "a")) < 0.02)
      }
      step("what came since the run is counted") {
        numbers(20000).coalesce(1).write.mode("append").parquet(path.toString)
        val later = audit(s"'$path'").head
        assert(long(later, "files_since_last_run") === 1 && long(later, "bytes_since_last_run") > 0)
      }
    }
  }

  test("some files in no order beside many in order: the statement takes just the worst of them", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val rows = spark.range(0, 4800, 1, 1).selectExpr("id", "id x", "id DIV 200 f")
      rows.where("f < 16").repartitionByRange(16, col("id")).drop("f").write.parquet(path.toString)
      spark.range(0, 1600, 1, 8).selectExpr("pmod(xxhash64(id, 1), 3200) id", "pmod(xxhash64(id, 2), 3200) x")
        .write.mode("append").parquet(path.toString)
      val row = of(path, "id, x")
      assert(verdict(row) === "RECLUSTER", row)
      assert(statement(row) === s"ZORDER TABLE '$path' BY (id, x) WITH (worstFiles = 0.8, fileCount = 7)")
      assert(row.getAs[String]("reason").contains("The statement takes just these, "), row)
      assert(long(row, "avoidable_files") === 7 && long(row, "avoidable_bytes") * 2 <= long(
        row,
        "total_bytes"))
      val files = dataFiles(path).values.toSet
      val run = keepsRows(path)(done(one(statement(row))))
      assert(metric[Long](run, "numFilesRemoved") === 7 && metric[Long](run, "totalFilesSkipped") === 17, run)
      // the others are there to the last byte
      assert(dataFiles(path).values.toSet.intersect(files).size === 17)
      val after = of(path, "id, x")
      val (was, is) =
        (double(level(row, "file"), "look_up_share"), double(level(after, "file"), "look_up_share"))
      val bound = double(level(row, "file"), "look_up_bound")
      info(
        f"look-ups read $was%.3f of the rows, and $is%.3f after 7 of 24 files were rewritten; bound $bound%.3f")
      assert(is - bound < 0.3 * (was - bound))
      assert(math.abs(is - (shareRead(read(path), "id") + shareRead(read(path), "x")) / 2) < 0.02)
      assert(verdict(after) === "OK")
    }
  }

  test("worstFiles of a copy, and of files that nothing is wrong with") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(ids(800), 8, path)
      val row = zorder(path, "BY (id) WITH (worstFiles = 0.5)")
      assert(status(row) === "NOTHING_TO_DO")
      assert(
        reason(row) === "The file statistics show no unnecessary file reads. worstFiles took 0 of 8 files.")
      refused(
        path,
        s"ZORDER TABLE '$path' BY (id) WITH (worstFiles = 0.5) INTO '${dir.resolve("copy")}'",
        "worstFiles to 1")
      refused(
        path,
        s"ZORDER TABLE '$path' BY (id + 1) WITH (worstFiles = 0.5, force = true)",
        "no bounds of expressions")
    }
  }

  test("other columns than are asked: WRONG COLUMNS, and the statement names those") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(5000), 8, path)
      logOf("audit_log", path, Seq("a = 1", "a = 2 AND d = date'2020-02-02'", "b = 3"))
      val row = audit(s"'$path', 's', 'audit_log'").head
      assert(row.getSeq[String](row.fieldIndex("notes")).last.startsWith("The queries of the log read "))
      assert(
        verdict(row) === "WRONG COLUMNS" && statement(
          row) === s"ZORDER TABLE '$path' BY (a, b, d) WITH (fileCount = 8)",
        row)
      assert(verdict(audit(s"'$path', 'a, b', 'audit_log'").head) === "RECLUSTER")
    }
  }

  test("one column, and one that can help: USE SORT") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(5000).withColumn("seven", lit(7)), 8, path)
      Seq("b", "b, seven").foreach { columns =>
        val row = of(path, columns)
        assert(verdict(row) === "USE SORT" && statement(
          row) === s"ZORDER TABLE '$path' BY (b) USING CURVE lexical WITH (fileCount = 8)")
      }
      assert(verdict(of(path, "seven")) === "OK")
      done(one(statement(of(path, "b"))))
      assert(verdict(of(path, "b")) === "OK")
    }
  }

  test("timestamps without bounds: NO STATISTICS, and the statement gives them some") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf("spark.sql.parquet.outputTimestampType" -> "INT96") {
        write(numbers(5000).selectExpr("*", "cast(d AS timestamp) AS ts"), 8, path)
      }
      val row = of(path, "ts, b")
      assert(verdict(row) === "NO STATISTICS" && long(row, "files_without_statistics") === 8, row)
      assert(
        statement(row) === s"ZORDER TABLE '$path' BY (ts, b) WITH (timestampType = 'micros', fileCount = 8)")
      done(one(statement(row)))
      assert(verdict(of(path, "ts, b")) === "OK")
    }
  }

  /** One file of 100 rows more. */
  private def append(path: Path, s: String): Unit =
    spark.range(0, 100, 1, 1).selectExpr("id", s"$s s").write.mode("append").parquet(path.toString)

  private val longText = "concat(repeat('x', 3000), id)"

  test("strings without bounds in files of a run: NO STATISTICS, and no statement") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 4).foreach(_ => append(path, longText))
      val before = of(path, "s")
      assert(verdict(before) === "NO STATISTICS" && statement(before) != null, before)
      done(zorder(path, "BY (id) WITH (fileCount = 4, force = true)"))
      val after = of(path, "s")
      assert(verdict(after) === "NO STATISTICS" && statement(after) === null, after)
      assert(after.getAs[String]("reason").contains("though a run wrote them"), after)
    }
  }

  test("one value in the files with bounds: nothing is said of the others") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 3).foreach(_ => append(path, "'k'"))
      assert(of(path, "s").getAs[String]("reason") === "All files have the same single value of s.")
      append(path, longText)
      val row = of(path, "s")
      assert(verdict(row) === "OK" && long(row, "files_without_statistics") === 1, row)
      assert(
        row.getAs[String]("reason") === "All files with min and max have the same single value of s.")
    }
  }

  test("files of one row group without rows, as pyarrow writes them, count as not there") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 4).foreach(i =>
        spark.range(100L * i, 100L * i + 100, 1, 1).write.mode("append").parquet(path.toString))
      val before = of(path, "id")
      val empty = Paths.get("tests/shared/golden/no-rows.parquet")
      (0 until 6).foreach(i => Files.copy(empty, path.resolve(s"z-$i.parquet")))
      assert(verdict(before) === "OK" && of(path, "id") === before)
    }
  }

  test("encrypted footers: NO STATISTICS by the number of files, and no statement") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      append(path, "'k'")
      (0 until 4).foreach { f =>
        val key = FileEncryptionProperties.builder("0123456789abcdef".getBytes(UTF_8)).build()
        ForeignFile.write(path.resolve(s"z-$f.parquet"), "message m { optional int64 id; }", 10)(
          _.withEncryption(key))((g, i) => g.append("id", i.toLong))
      }
      val row = of(path, "id")
      assert(verdict(row) === "NO STATISTICS" && statement(row) === null, row)
      assert(row.getAs[String]("reason") ===
        "80.0 % of the files are without min and max of id: a run refuses encrypted files.")
    }
  }

  test("clustered by a column and an expression: no statement undoes that layout") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(5000), 8, path)
      done(zorder(path, "BY (a, upper(s)) WITH (fileCount = 8, force = true)"))
      val row = audit(s"'$path'").head
      assert(row.getSeq[String](row.fieldIndex("notes")).exists(_.contains("upper(s): it is left out")), row)
      assert(row.getAs[String]("curve") != null, row)
      assert(!Set("USE SORT", "RECLUSTER").contains(verdict(row)), row)
      assert(Option(statement(row)).forall(_.contains("BY (a, upper(s))")), row)
    }
  }

  for {
    (run, log, said) <- Seq(
      ("BY (a, b) USING CURVE lexical", "", "USING CURVE lexical"),
      ("BY (a, b)", ", queryLog = 'audit_skewed'", "logged queries"))
  } test(
    s"what was made for other than look-ups of all columns alike is not undone: $said",
    LongTest.unless(log.isEmpty): _*) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(5000), 8, path)
      logOf("audit_skewed", path, (0 until 19).map(i => s"a = $i") :+ "b = 3")
      done(one(s"ZORDER TABLE '$path' $run WITH (fileCount = 16, force = true$log)"))
      step(s"$said: nothing is to be done, though the mean of both columns is far above its bound") {
        val row = audit(s"'$path'").head
        assert(double(
          level(row, "file"),
          "look_up_share") > 1.4 * double(level(row, "file"), "look_up_bound"))
        assert(verdict(row) === "OK" && statement(row) === null, row)
        assert(row.getAs[String]("reason").contains(said), row)
      }
      step(s"$said: what comes later is taken in by the same curve") {
        numbers(9000).where("id >= 5000").repartition(12).write.mode("append").parquet(path.toString)
        val row = audit(s"'$path'").head
        assert(verdict(row) === "RECLUSTER", row)
        assert(statement(row) === s"ZORDER TABLE '$path' $run WITH (fileCount = 28)")
      }
    }
  }

  test("late rows of a partition stay late when a run is on another one") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(6000).selectExpr("*", "id % 2 p").repartition(4).write.partitionBy("p").parquet(path.toString)
      def run(p: Int) = done(zorder(path, s"WHERE p = $p BY (a, b) WITH (fileCount = 8, force = true)"))
      run(0)
      numbers(6000).where("id % 2 = 0").selectExpr("*", "0L p").repartition(5)
        .write.mode("append").partitionBy("p").parquet(path.toString)
      run(1)
      val rows = audit(s"'$path'")
      assert(rows.map(r => (r.getAs[String]("partition"), long(r, "files_since_last_run"))).toSet ===
        Set((null, 5L), ("p=0", 5L), ("p=1", 0L)))
      assert(!rows.flatMap(r => Option(statement(r))).exists(_.contains("FULL")), rows.mkString("\n"))
    }
  }

  test("a sort by a column of few values promises no less than its own bound") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(5000).selectExpr("*", "id % 2 = 0 flag"), 8, path)
      val row = of(path, "flag")
      assert(double(level(row, "file", "flag"), "look_up_bound") === 0.5)
      assert(
        verdict(row) === "USE SORT" && row.getAs[String]("reason").contains("can bring it to 50.0 %"),
        row)
    }
  }

  test("partitions: the table first, then the worst, whose statement is about it alone") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      val good =
        (0 until 4).map(i => ids(1000).filter(s"id DIV 250 = $i").selectExpr("id", "id x", "'good one' p"))
      good.foreach(_.coalesce(1).write.mode("append").partitionBy("p").parquet(path.toString))
      numbers(1000).selectExpr("id", "cast(a AS bigint) x", "'bad' p").repartition(4)
        .write.mode("append").partitionBy("p").parquet(path.toString)
      val rows = audit(s"'$path', 'id, x'")
      assert(rows.map(_.getAs[String]("partition")) === Seq(null, "p=bad", "p=good one"))
      assert(rows.map(verdict) === Seq("RECLUSTER", "RECLUSTER", "OK"))
      val fix = s"ZORDER TABLE '$path' WHERE p = 'bad' BY (id, x) WITH (fileCount = 4)"
      assert(rows.map(statement) === Seq(fix, fix, null))
      assert(double(rows.head, "average_depth") === (4.0 * 4 + 4 * 1) / 8)
      assert(double(rows(2), "average_depth") === 1.0)
      assert(rows(1).getAs[String]("reason").contains("a run leaves it alone without fileCount"))
      done(one(fix.replace("= 4)", "= 4, force = true)")))
      withConf("spark.zorder.fileCount" -> "4") {
        assert(statement(audit(s"'$path', 'id, x'")(1)) === null)
      }
    }
  }

  test("with an index its ranges are taken, and footers of a sample only", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(1200), 120, path)
      val before = of(path, "id")
      assert(verdict(before) === "OK" && statement(before) === s"ZORDER INDEX '$path'", before)
      spark.sql(s"ZORDER INDEX '$path'").collect()
      val (row, watch) = JobWatch(spark)(of(path, "id"))
      assert(watch.reads.isEmpty && statement(row) === null)
      assert(row.getSeq[String](row.fieldIndex("notes")) === Seq(
        "Ranges of 120 of 120 files come from the statistics index.",
        "Row groups and pages are those of 100 files, evenly taken from 120."))
      assert(long(level(row, "row group"), "sampled_files") === 100)
      val files = level(before, "file")
      assert(level(row, "file") === files)
      assert(math.abs(double(level(row, "row group"), "look_up_share") - double(
        files,
        "look_up_share")) < 1e-3)
    }
  }

  test("what logged queries read, the worst first, with and without their values") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      write(numbers(20000), 16, path)
      logOf(
        "audit_log",
        path,
        Seq("id = 77", "b BETWEEN 500000 AND 500100", "a = 5 AND b = 7", "abs(a) = 3", "id >= 0"))
      val rows = spark.sql(s"SELECT * FROM clustering_queries('$path', 'audit_log')").collect().toSeq
      def alert(query: Row): Boolean = query.getAs[Boolean]("alert")
      val found = rows.map(r => r.getAs[String]("query") -> r).toMap
      assert(rows.length === 5 && math.abs(rows.map(double(_, "weight")).sum - 1.0) < 1e-6)
      // a sixteenth, if the files of a range partitioning were of one size
      assert(math.abs(double(found("id = ?"), "share") - 0.0625) < 0.01 && !alert(found("id = ?")))
      assert(double(found("b BETWEEN ? AND ?"), "share") > 0.9 && alert(found("b BETWEEN ? AND ?")))
      assert(!alert(found("id >= ?")) && double(found("id >= ?"), "bound") > 0.9)
      assert(alert(rows.head) && !alert(rows.last))
      spark.table("audit_log").selectExpr(
        "table",
        "time",
        "query",
        "weight",
        "transform(boxes, b -> transform(b, c -> named_struct('column', c.column, 'kind', c.kind))) boxes")
        .createOrReplaceTempView("audit_masked")
      val masked = spark.sql(s"SELECT * FROM clustering_queries('$path', 'audit_masked')").collect().toSeq
      val id = masked.find(_.getAs[String]("query") == "id = ?").get
      assert(math.abs(double(id, "share") - 0.0625) < 0.01)
    }
  }

  test("the boxes of files and row groups") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      (0 until 2).foreach(i =>
        ids(10).selectExpr(s"id + 10 * $i id", "concat('k', id) k").coalesce(1)
          .write.mode("append").parquet(path.toString))
      val rows = spark.sql(s"SELECT * FROM clustering_boxes('$path', 'id, k')").collect()
      val files = rows.filter(r => r.isNullAt(r.fieldIndex("row_group")))
      assert(rows.length === 4 && files.length === 2)
      val ranges = files.map(r => list(r, "ranges").head).sortBy(_.getAs[String]("low"))
      assert(ranges.map(_.toString).toSeq === Seq("[id,0,9,0,1,false]", "[id,10,19,2,3,false]"))
    }
  }

  test("what cannot be audited is one sentence") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(100).write.parquet(path.toString)
      def refusal(arguments: String): String = intercept[AnalysisException](audit(arguments)).getMessage
      assert(refusal(
        s"'$path'").contains(s"$path was never clustered, so the audit does not know which columns"))
      assert(refusal(s"'$path', 'nope'").contains("has no column nope"))
      assert(refusal(s"'$path', 'a + 1'").contains("Files keep no bounds of the expression a + 1"))
      assert(
        refusal("").contains("clustering_information takes table, columns, log as strings, as in SELECT"))
      assert(refusal("'/not/there', 'a'").contains("There is nothing at file:/not/there."))
    }
  }
}
