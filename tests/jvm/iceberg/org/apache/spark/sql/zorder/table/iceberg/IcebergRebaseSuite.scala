package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{CrashPoints, RestlessWriter, RoundTimes}
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** Rows that others remove during a run are taken out of its files, and the run goes on. */
class IcebergRebaseSuite extends AnyFunSuite with IcebergFixture {

  /** As if the writer were another application. */
  override protected def builder: SparkSession.Builder = super.builder.config("spark.scheduler.mode", "FAIR")

  private def filled(name: String, version: Int, mode: String = "merge-on-read"): String = {
    val t = create(name, "id BIGINT, a INT, b INT", writing(version, mode))
    fill(t, 4000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    t
  }

  /** Lets others do one thing after the other, each when the run is about to commit. */
  private def beside(others: (() => Any)*): Unit = {
    val left = others.iterator
    CrashPoint.meanwhile = (at: String) => if (at == "iceberg-commit" && left.hasNext) { left.next()(); () }
  }

  private def noneLeft(t: String): Unit = {
    val known = {
      val table = load(t)
      val names = scala.collection.mutable.Set.empty[String]
      table.snapshots.forEach { s =>
        val planned = table.newScan().useSnapshot(s.snapshotId).planFiles()
        try planned.forEach { task =>
            names += task.file.location.split('/').last
            task.deletes.forEach { d => names += d.location.split('/').last; () }
          }
        finally planned.close()
      }
      names.toSet
    }
    assert(filesOnDisk(t).diff(known).filterNot(_.contains("deletes")) == Set.empty)
    assert(vectorsOnDisk(t).diff(known) == Set.empty)
  }

  private def rebased(t: String, columns: String, statements: String*): Row = {
    var after = Seq.empty[String]
    beside(statements.map { texts => () =>
      texts.split("; ").foreach(text => sql(text.replace("<t>", t)))
      after = content(t, columns)
    }: _*)
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
    assert(status(row) == "DONE")
    assert(content(t, columns) == after)
    assert(lastSummary(t).contains("zorder.columns"))
    noneLeft(t)
    row
  }

  private def conflicts(t: String, others: => Any): Unit = {
    var after = Seq.empty[String]
    beside(() => {
      others
      after = content(t)
    })
    val e = intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(e.condition == "ZORDER_CONFLICT.COMMIT_REFUSED", e.getMessage)
    assert(content(t) == after)
    noneLeft(t)
  }

  private val delete = "DELETE FROM <t> WHERE id IN (17, 1700, 3000)"
  private val lineage = "struct(id, a, b, _row_id, _last_updated_sequence_number) AS r"

  for (version <- 2 to 3;
    (name, statement, removed) <- Seq(
      ("DELETE", delete, 3),
      ("UPDATE", "UPDATE <t> SET a = -5 WHERE id < 4", 4),
      (
        "MERGE",
        "MERGE INTO <t> t USING (SELECT id, id % 2 AS odd FROM range(3990, 4010)) u ON t.id = u.id " +
          "WHEN MATCHED AND odd = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET t.b = -1 " +
          "WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (u.id, 1, NULL)",
        10))) test(s"$name, merge-on-read, version $version", LongTest.unless(name == "DELETE"): _*) {
    val t = filled(s"${name}_$version", version)
    val row = rebased(t, if (version == 3) lineage else "*", statement)
    val text = row.getAs[String]("reason")
    assert(text.contains(s"Others removed or rewrote $removed rows during the run"), text)
    // position deletes do not tell how many rows are left
    if (version == 3) {
      assert(row.getAs[Row]("metrics").getAs[Long]("rows") == 4000 - removed)
      // each in a file of its own
      assert(vectorsOf(t).size == tasks(t).count(!_.deletes.isEmpty))
      assert(lastSummary(t)("added-position-deletes").toInt == removed)
    }
    val before = content(t)
    assert(status(sql(s"ZORDER TABLE $t FULL BY (b, a) WITH (fileCount = 4, force = true)").head()) == "DONE")
    assert(content(t) == before)
  }

  for (version <- 2 to 3) test(s"removed rows are counted without reading them, version $version") {
    val t = filled(s"counted_$version", version)
    assert(IcebergChanges.named(tasks(t)) == 0)
    for (n <- 1 to 2) {
      sql(s"DELETE FROM $t WHERE id % 10 = $n")
      assert(IcebergChanges.named(tasks(t)) == 400 * n)
    }
  }

  test(
    "DELETE, copy-on-write: all rows of the old file are gone, and its successor is a new file",
    SameOnAllLines) {
    val t = filled("copied", 2, "copy-on-write")
    val row = rebased(t, "*", "DELETE FROM <t> WHERE id = 17")
    assert(
      row.getAs[String]("reason").contains("Others removed or rewrote 1,000 rows"),
      row.getAs[String]("reason"))
    assert(tasks(t).length == 5 && spark.table(t).count() == 3999)
  }

  for (version <- 2 to 3) test(
    s"three conflicts one after the other, equality deletes and appends beside, version $version",
    SameOnAllLines +: LongTest.unless(version == 2): _*) {
    val t = filled(s"three_$version", version)
    sql(s"DELETE FROM $t WHERE id % 1000 = 77")
    var after = Seq.empty[String]
    def other(text: String): () => Any = () => {
      sql(text.replace("<t>", t))
      deleteEqual(t, 90 + text.length % 7)
      after = content(t)
    }
    beside(
      other(delete),
      other("UPDATE <t> SET b = -1 WHERE id BETWEEN 10 AND 20"),
      other("DELETE FROM <t> WHERE id % 100 = 1"),
      other("INSERT INTO <t> SELECT id + 5000, 1, 2 FROM range(100)"))
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(content(t) == after)
    noneLeft(t)
    assert(status(sql(s"ZORDER TABLE $t FULL BY (b, a) WITH (fileCount = 4, force = true)").head()) == "DONE")
    assert(content(t) == after)
  }

  private def vectors(t: String, statements: String*): Row = {
    val row = rebased(t, lineage, statements: _*)
    assert(vectorsOf(t).nonEmpty)
    row
  }

  test("vectors of the new files: Iceberg's own rewrite takes them away", SameOnAllLines) {
    val t = filled("purged", 3)
    vectors(t, delete, "DELETE FROM <t> WHERE id IN (18, 2000)", "UPDATE <t> SET a = 7 WHERE id = 3001")
    val before = content(t)
    sql("CALL ice.system.rewrite_data_files(table => 'db.purged', options => map('rewrite-all', 'true'))")
    assert(content(t) == before && before.length == 3995 && vectorsOf(t).isEmpty)
  }

  test("many rows: files are written again, and have no vectors", SameOnAllLines) {
    val t = filled("many", 3)
    val row = rebased(t, lineage, delete, "DELETE FROM <t> WHERE id % 10 = 1")
    assert(
      row.getAs[String]("reason").contains("Others removed or rewrote 403 rows"),
      row.getAs[String]("reason"))
    assert(vectorsOf(t).isEmpty && spark.table(t).count() == 3597)
  }

  test("vectors, then all rows of a file") {
    val t = filled("mixed", 3)
    var after = Seq.empty[String]
    beside(
      () => sql(delete.replace("<t>", t)),
      () => {
        dropFile(t)
        after = content(t, lineage)
      })
    val row = cluster(t, "a, b")
    assert(
      status(row) == "DONE" && row.getAs[String]("reason").contains("Others removed or rewrote 1,002 rows"))
    assert(content(t, lineage) == after && after.length == 2998)
    noneLeft(t)
  }

  /** The file with the row 17, from which this row was removed. */
  private def dropFile(t: String): Unit = {
    load(t).newDelete().deleteFile(tasks(t).map(_.file).find(_.location.contains("/00000-")).get).commit()
    sql(s"REFRESH TABLE $t")
  }

  test("vectors, then no input has one any more: a conflict, since Iceberg forbids to add some", LongTest) {
    val t = filled("unmarked", 3)
    var after = Seq.empty[String]
    beside(
      () => sql(s"DELETE FROM $t WHERE id = 17"),
      () => {
        dropFile(t)
        after = content(t)
      })
    intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(content(t) == after && after.length == 3000)
    noneLeft(t)
  }

  test("an id that two rows have, or none, has no place") {
    val places = RowPlaces(Map("p" -> Array(5L, RowIds.Unknown, 7L), "q" -> Array(9L, 7L)))
    assert(places.of(5L).contains(("p", 0L)) && places.of(9L).contains(("q", 0L)))
    assert(places.of(7L).isEmpty && places.of(6L).isEmpty && places.of(RowIds.Unknown).isEmpty)
  }

  test("deletes that somebody turns into others, which Iceberg does not validate", LongTest) {
    val t = filled("turned", 2)
    Seq(3, 4).foreach(n => sql(s"DELETE FROM $t WHERE id % 100 = $n"))
    val before = content(t)
    var places = Seq.empty[String]
    CrashPoint.meanwhile = (at: String) => {
      places :+= at
      if (places.count(_ == "iceberg-commit") == 1 && at == "iceberg-commit")
        sql("CALL ice.system.rewrite_position_delete_files(" +
          "table => 'db.turned', options => map('rewrite-all', 'true'))")
    }
    val row = cluster(t, "a, b")
    assert(status(row) == "DONE" && !row.getAs[String]("reason").contains("Others removed or rewrote"))
    assert(places.contains("rebase-found") && !places.contains("rebase-written"), places)
    assert(content(t) == before && before.length == 3920)
  }

  test("conflicts that never end, end the run", LongTest) {
    val t = filled("never", 2)
    beside((1 to 41).map(i => () => sql(s"DELETE FROM $t WHERE id = $i")): _*)
    intercept[ZOrderConflictException](cluster(t, "a, b"))
    assert(spark.table(t).count() == 3959)
    noneLeft(t)
  }

  test("one of three equal rows: two stay", SameOnAllLines) {
    val t = create(
      "equal",
      "a INT, b INT, x DOUBLE, n STRUCT<l: ARRAY<FLOAT>, s: STRING>",
      writing(2, "merge-on-read"))
    val columns = Seq(
      "int(if(id % 7 = 0, null, id % 50)) AS a",
      "int(id % 11) AS b",
      "CASE id % 4 WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D END AS x",
      "named_struct('l', array(float(id % 3), null), 's', string(id % 2)) AS n")
    (1 to 3).foreach(_ => fill(t, 500, 1, columns: _*))
    var after = Seq.empty[String]
    beside(() => {
      load(t).newDelete().deleteFile(tasks(t).head.file).commit()
      sql(s"REFRESH TABLE $t")
      after = content(t)
    })
    val row = cluster(t, "a, b")
    assert(
      status(row) == "DONE" && row.getAs[String]("reason").contains("Others removed or rewrote 500 rows"))
    assert(content(t) == after && after.length == 1000)
    noneLeft(t)
  }

  for ((kind, value, version) <- Seq(
      ("MAP<STRING, INT>", "map('k', int(id % 2))", 2),
      ("MAP<STRING, INT>", "map('k', int(id % 2))", 3),
      ("VARIANT", "parse_json(string(id % 2))", 3)))
    test(s"a $kind, version $version: rows are told apart by their ids, or there is a conflict") {
      assume(kind != "VARIANT" || spark.version.head >= '4', "Spark 3.5 has no VARIANT")
      val t = create(
        s"${kind.take(3)}_$version",
        s"a INT, b INT, m $kind",
        writing(version, "merge-on-read"))
      fill(t, 2000, 4, "int(id % 100) AS a", "int(id % 10) AS b", s"$value AS m")
      val statement = "DELETE FROM <t> WHERE a = 17"
      if (version == 2) conflicts(t, sql(statement.replace("<t>", t)))
      else {
        rebased(t, "struct(a, b, m, _row_id) AS r", statement)
        assert(spark.table(t).count() == 1980)
      }
    }

  test("another schema, another partitioning: conflicts", SameOnAllLines) {
    for (change <- Seq("ADD COLUMN more INT", "ADD PARTITION FIELD bucket(4, id)")) {
      val t = filled("changed", 2)
      conflicts(t, { sql(delete.replace("<t>", t)); sql(s"ALTER TABLE $t $change") })
    }
  }

  test("partitions: files of partitions without removed rows stay", LongTest) {
    val t = create(
      "parted",
      "id BIGINT, a INT, b INT",
      s"PARTITIONED BY (bucket(3, id)) ${writing(3, "merge-on-read")}")
    spark.range(0, 4000).selectExpr("id", "int(hash(id)) AS a", "int(id % 97) AS b").writeTo(t).append()
    val row = rebased(t, lineage, delete)
    assert(
      row.getAs[String]("reason").contains("Others removed or rewrote 3 rows"),
      row.getAs[String]("reason"))
  }

  for ((version, places) <- Seq(2 -> CrashPoints.rebase, 3 -> Seq("rebase-marked", "rebase-found"));
    place <- places)
    test(s"a run that dies at $place leaves the table as the others made it, version $version", LongTest) {
      val t = filled(s"${place.replace('-', '_')}_$version", version)
      beside(() => sql(s"DELETE FROM $t WHERE id < 10"))
      System.setProperty(CrashPoint.Property, place)
      intercept[Throwable](cluster(t, "a, b"))
      System.clearProperty(CrashPoint.Property)
      assert(spark.table(t).count() == 3990 && load(t).currentSnapshot.operation != "replace")
      assert(status(cluster(t, "a, b")) == "DONE" && spark.table(t).count() == 3990)
    }

  for (version <- 2 to 3) test(s"the time of a round, version $version", LongTest) {
    val t = create(s"timed_$version", "id BIGINT, a INT, b INT", writing(version, "merge-on-read"))
    fill(t, 20000, 6, "id", "int(pmod(hash(id), 1000)) AS a", "int(id % 97) AS b")
    val times = new RoundTimes(spark, "iceberg-commit", n => sql(s"DELETE FROM $t WHERE id % 2000 = $n"))
    val row = times.of(sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (fileCount = 8, force = true)").head())
    assert(status(row) == "DONE" && row.getAs[String]("reason").contains("Others removed or rewrote 50 rows"))
    times.rounds.foreach(info(_))
  }

  for ((version, mode, rest) <- Seq(
      (3, "merge-on-read", 0L),
      (3, "merge-on-read", 500L),
      (2, "merge-on-read", 500L),
      (2, "copy-on-write", 500L)))
    test(s"runs beside a writer that never stops, version $version, $mode, rests $rest ms", LongTest) {
      val t =
        create(s"race_${version}_${mode.take(4)}_$rest", "id BIGINT, a INT, b INT", writing(version, mode))
      fill(t, 20000, 6, "id", "int(pmod(hash(id), 1000)) AS a", "int(id % 97) AS b")
      val writer = new RestlessWriter(spark, t, 17, rest)
      info(writer.besideRuns {
        val row = sql(s"ZORDER TABLE $t FULL BY (a, b) WITH (fileCount = 8, force = true)").head()
        assert(status(row) == "DONE")
        row.getAs[String]("reason")
      })
      sql(s"REFRESH TABLE $t")
      assert(writer.difference() == ((Nil, Nil)))
    }
}
