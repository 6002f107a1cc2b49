package org.apache.spark.sql.zorder.table.delta

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.delta.{DeltaLog, DeltaOperations}
import org.apache.spark.sql.delta.actions.{Action, DeletionVectorDescriptor}
import org.apache.spark.sql.delta.deletionvectors.{RoaringBitmapArray, RoaringBitmapArrayFormat}
import org.apache.spark.sql.delta.zorder.OtherRows
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{CrashPoints, RestlessWriter, RoundTimes}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** Rows that others remove during a run are taken out of its files, and the run goes on. */
class DeltaRebaseSuite extends AnyFunSuite with DeltaFixture {

  /** As if the writer were another application. */
  override protected def builder: SparkSession.Builder = super.builder.config("spark.scheduler.mode", "FAIR")

  private val run = "BY (a, b) WITH (fileCount = 8)"

  /** Lets others do one thing after the other, each when the run is about to commit. */
  private def beside[A](others: (() => Any)*)(body: => A): A = {
    val left = others.iterator
    CrashPoint.meanwhile = p => if (p == "delta-commit" && left.hasNext) { left.next()(); () }
    try body
    finally CrashPoint.meanwhile = _ => ()
  }

  /** A run beside these statements: nobody sees that it was there. */
  private def rebased(path: Path, run: String, statements: String*): Row = {
    var after = Seq.empty[String]
    val others = statements.map { texts => () =>
      texts.split("; ").foreach(text => spark.sql(text.replace("<t>", s"delta.`$path`")).collect())
      after = rows(path)
    }
    val row = done(beside(others: _*)(zorder(path, run)))
    assert(rows(path) === after)
    assert(unknown(path) === Set.empty)
    row
  }

  private def conflicts(path: Path, run: String, statements: String*): Unit = {
    var after = Seq.empty[String]
    val e = intercept[ZOrderConflictException](beside(() => {
      statements.foreach { text =>
        // Delta 4 would read it during the analysis, which Spark 4 forbids in tests
        DeltaLog.forTable(spark, path.toString).update().domainMetadata
        spark.sql(text.replace("<t>", s"delta.`$path`")).collect()
      }
      after = rows(path)
    })(zorder(path, run)))
    assert(e.condition === "ZORDER_CONFLICT.COMMIT_REFUSED" && e.getSqlState === "40001")
    assert(rows(path) === after)
    assert(unknown(path) === Set.empty)
  }

  private val delete = "DELETE FROM <t> WHERE id IN (17, 1700, 3000)"

  for ((name, statement, removed) <- Seq(
      ("DELETE", delete, 3),
      ("UPDATE", "UPDATE <t> SET a = -5 WHERE id < 4", 4),
      (
        "MERGE",
        "MERGE INTO <t> t USING (SELECT id, id % 2 AS odd FROM range(3990, 4010)) u ON t.id = u.id " +
          "WHEN MATCHED AND odd = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET t.s = 'merged' " +
          "WHEN NOT MATCHED THEN INSERT (id, a, b, s, d) VALUES (u.id, 1, 1, 'new', NULL)",
        10))) test(
    s"$name with deletion vectors",
    SameOnAllLines +: LongTest.unless(name == "DELETE"): _*) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000, Map("enableDeletionVectors" -> "true"))
      val row = rebased(path, "BY (a, b) WITH (fileCount = 8, verify = 'checksum')", statement)
      assert(reason(row).contains(s"Others removed or rewrote $removed rows during the run"), reason(row))
      assert(metric[Long](row, "rows") === 4000 - removed)
      if (name != "DELETE") done(keeps(path)(zorder(path, "FULL " + run)))
    }
  }

  test("the rows of a file but for some, of files with more rows than an INT counts, too", SameOnAllLines) {
    val many = 1L << 32
    val some = Seq(0L, 5L, 69999L, many)
    val marked = new RoaringBitmapArray()
    some.foreach(n => marked.add(n))
    for (n <- Seq(0L, 1L, 6L, 70000L, many + 3)) {
      val others = OtherRows.of(marked, n)
      assert(others.cardinality === n - some.count(_ < n))
      for (row <- Seq(0L, 1L, 5L, 69998L, 69999L, many, many + 2))
        assert(others.contains(row) === (row < n && !some.contains(row)), s"$row of $n")
    }
  }

  test(
    "DELETE, copy-on-write: all rows of the old file are gone, and its successor is a new file",
    SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000, Map("enableDeletionVectors" -> "false"))
      val row = rebased(path, run, "DELETE FROM <t> WHERE id = 17")
      assert(reason(row).contains("Others removed or rewrote"), reason(row))
      assert(metric[Long](row, "rows") < 3500 && metric[Long](row, "rows") > 3000)
      assert(metric[Long](row, "numFilesRemoved") === 5 && files(path) === 9)
    }
  }

  test("copy-on-write of most rows: a conflict", SameOnAllLines, LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000, Map("enableDeletionVectors" -> "false"))
      conflicts(path, run, "UPDATE <t> SET a = 0 WHERE id % 10 = 0")
    }
  }

  test("three conflicts one after the other, and appends beside", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000, Map("enableDeletionVectors" -> "true"))
      val row = rebased(
        path,
        run,
        delete,
        "INSERT INTO <t> SELECT id + 5000, 1, 2, 'new', NULL FROM range(100); " +
          "UPDATE <t> SET s = 'other' WHERE id BETWEEN 10 AND 20 OR id = 5003",
        "DELETE FROM <t> WHERE id % 100 = 1",
        "INSERT INTO <t> SELECT id + 6000, 1, 2, 'new', NULL FROM range(100)")
      assert(files(path) > 8, reason(row))
    }
  }

  test("other metadata: a conflict", SameOnAllLines, LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 4000, Map("enableDeletionVectors" -> "true"))
      conflicts(path, run, delete, "ALTER TABLE <t> ADD COLUMNS (more INT)")
    }
  }

  /** A row of each file is removed by a vector of our own, so that only one of equal rows goes. */
  private def firstOfEach(path: Path, some: Int): Unit = {
    val txn = DeltaLog.forTable(spark, path.toString).startTransaction(None)
    val first = RoaringBitmapArray(0L).serializeAsByteArray(RoaringBitmapArrayFormat.Portable)
    val vector = DeletionVectorDescriptor.inlineInLog(first, 1)
    val changed: Seq[Action] =
      txn.snapshot.allFiles.collect().toSeq.sortBy(_.path).take(some).flatMap { add =>
        val (now, before) = add.removeRows(vector, updateStats = false)
        Seq(now, before)
      }
    txn.commit(changed, DeltaOperations.ManualUpdate)
    ()
  }

  private def saved(df: DataFrame, path: Path, properties: (String, String)*): Unit = {
    val named = (("enableDeletionVectors" -> "true") +: properties).map { case (k, v) =>
      s"spark.databricks.delta.properties.defaults.$k" -> v
    }
    withConf(named: _*)(df.write.format("delta").save(path.toString))
  }

  /** Others remove the first row of so many files during a run: these rows go, and no equal ones. */
  private def losesFirstOfEach(path: Path, files: Int, removed: String, left: Int): Unit = {
    var after = Seq.empty[String]
    val row = done(beside(() => {
      firstOfEach(path, files)
      after = rows(path)
    })(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
    assert(after.length === left && rows(path) === after)
    assert(reason(row).contains(s"Others removed or rewrote $removed during the run"), reason(row))
  }

  test("one of three equal rows: two stay", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // each of three files has the same rows, with NULL, NaN and both zeros
      val each = spark.range(0, 500, 1, 1).selectExpr(
        "int(if(id % 7 = 0, null, id % 50)) AS a",
        "int(id % 11) AS b",
        "CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D END AS x",
        "named_struct('l', array(float(id % 3), null), 's', string(id % 2)) AS n")
      saved(each.union(each).union(each), path)
      losesFirstOfEach(path, 1, "1 row", left = 1499)
    }
  }

  test("a collation makes no rows equal: of two that differ in case alone, the right one goes (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no collations")
    withTempDir { dir =>
      val path = dir.resolve("t")
      // Delta 4.4 does not write such a column otherwise
      withConf("spark.databricks.delta.schema.typeCheck.enabled" -> "false")(saved(
        spark.range(0, 2000, 1, 4).selectExpr(
          "int(id % 100) AS a",
          "int(id % 10) AS b",
          "if(id DIV 100 % 2 = 0, 'Name', 'nAME') COLLATE UTF8_LCASE AS s"),
        path))
      assert(read(path).where("s = 'NAME'").count() === 2000)
      losesFirstOfEach(path, 3, "3 rows", left = 1997)
    }
  }

  private val incomparable = Seq("map('k', id % 2)", "parse_json(concat('{\"k\": ', id % 2, '}'))")

  private def of(value: String): DataFrame = {
    assume(value.startsWith("map") || spark.version.head >= '4', "Spark 3.5 has no VARIANT")
    spark.range(0, 2000, 1, 4).selectExpr("int(id % 100) AS a", "int(id % 10) AS b", s"$value AS m")
  }

  for (value <- incomparable) test(s"$value cannot be compared: a conflict", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(of(value), path)
      conflicts(path, "BY (a, b) WITH (fileCount = 4)", "DELETE FROM <t> WHERE a = 17")
    }
  }

  for (value <- incomparable) test(s"row tracking: rows are told apart by their ids, also of $value") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(of(value), path, "enableRowTracking" -> "true")
      def ids(): Seq[String] =
        read(path).selectExpr("a", "b", "_metadata.row_id", "_metadata.row_commit_version").collect()
          .map(_.toString).sorted.toSeq
      var after = Seq.empty[String]
      val row = done(beside(() => {
        firstOfEach(path, 3)
        after = ids()
      })(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
      assert(after.length === 1997 && ids() === after, reason(row))
    }
  }

  test("partitions: only the files of the partition with removed rows are written again", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf("spark.databricks.delta.properties.defaults.enableDeletionVectors" -> "true") {
        numbers(4000).selectExpr(
          "*",
          "if(id % 3 = 0, null, id % 3) AS p").repartition(3).write.format("delta")
          .partitionBy("p").save(path.toString)
      }
      val row = rebased(path, "BY (a, b) WITH (fileCount = 4)", "DELETE FROM <t> WHERE p = 2 AND id < 50")
      assert(reason(row).contains("Others removed or rewrote 16 rows"), reason(row))
    }
  }

  test("directories whose names are written escaped: their files are found again", SameOnAllLines) {
    withTempDir { dir =>
      val path = dir.resolve("a table")
      numbers(2000).selectExpr("*", "concat('k=/ %', id % 2) AS kind").repartition(3).write.format("delta")
        .option("delta.enableDeletionVectors", "true").partitionBy("kind").save(path.toString)
      val row = rebased(
        path,
        "BY (a, b) WITH (fileCount = 4, force = true)",
        "DELETE FROM <t> WHERE id % 100 = 3")
      assert(reason(row).contains("Others removed or rewrote 20 rows"), reason(row))
    }
  }

  for (place <- CrashPoints.rebase)
    test(s"a run that dies at $place leaves the table as the others made it", LongTest) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        delta(path, 2000, Map("enableDeletionVectors" -> "true"))
        System.setProperty(CrashPoint.Property, place)
        try intercept[CrashPoint.Crash](
            beside(() => spark.sql(s"DELETE FROM delta.`$path` WHERE id < 10").collect())(zorder(path, run)))
        finally System.clearProperty(CrashPoint.Property)
        assert(read(path).count() === 1990 && files(path) === 6)
        done(keeps(path)(zorder(path, run)))
      }
    }

  test("the time of a round", LongTest) {
    withTempDir { dir =>
      val path = dir.resolve("t")
      saved(
        spark.range(0, 20000, 1, 6).selectExpr("id", "int(pmod(hash(id), 1000)) AS a", "int(id % 97) AS b"),
        path)
      val times = new RoundTimes(
        spark,
        "delta-commit",
        n => spark.sql(s"DELETE FROM delta.`$path` WHERE id % 2000 = $n"))
      val row = times.of(done(zorder(path, "FULL BY (a, b) WITH (fileCount = 8)")))
      assert(reason(row).contains("Others removed or rewrote 50 rows"), reason(row))
      times.rounds.foreach(info(_))
    }
  }

  for ((vectors, rest) <- Seq("true" -> 0L, "true" -> 500L, "false" -> 500L))
    test(s"runs beside a writer that never stops, deletion vectors = $vectors, rests $rest ms", LongTest) {
      withTempDir { dir =>
        val path = dir.resolve("t")
        withConf("spark.databricks.delta.properties.defaults.enableDeletionVectors" -> vectors) {
          spark.range(0, 20000, 1, 6).selectExpr("id", "int(pmod(hash(id), 1000)) AS a", "int(id % 97) AS b")
            .write.format("delta").save(path.toString)
        }
        val writer = new RestlessWriter(spark, s"delta.`$path`", 17, rest)
        info(writer.besideRuns(reason(done(zorder(path, "FULL BY (a, b) WITH (fileCount = 8)")))))
        assert(writer.difference() === ((Nil, Nil)))
      }
    }
}
