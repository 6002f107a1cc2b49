package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.table.storage.CrashPoint
import sparkzorder.LongTest
import sparkzorder.SameOnAllLines

/** Rows that are deleted without their file being rewritten stay deleted. */
class IcebergDeletesSuite extends AnyFunSuite with IcebergFixture {

  private def merging(version: Int): String =
    s"TBLPROPERTIES ('format-version' = '$version', 'write.delete.mode' = 'merge-on-read', " +
      "'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')"

  private def filled(name: String, version: Int): String = {
    val t = create(name, "id BIGINT, a INT, b INT", merging(version))
    fill(t, 4000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    t
  }

  private def deletesLeft(table: String): Int = tasks(table).map(_.deletes.size).sum

  test("position deletes of format version 2", SameOnAllLines) {
    val t = filled("positions", 2)
    sql(s"DELETE FROM $t WHERE id % 10 = 3")
    assert(deletesLeft(t) > 0)
    val before = content(t)
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
    assert(status(row) == "DONE" && content(t) == before && before.length == 3600)
    assert(row.getAs[Row]("metrics").getAs[Long]("rows") == 3600)
    assert(deletesLeft(t) == 0)
  }

  test("deletion vectors of format version 3, and the row numbers stay") {
    val t = filled("vectors", 3)
    sql(s"DELETE FROM $t WHERE id % 10 = 3")
    assert(deletesLeft(t) > 0)
    val numbered = "id, a, b, _row_id, _last_updated_sequence_number"
    val before = content(t, s"struct($numbered) AS r")
    val row = cluster(t, "a, b", "WITH (fileCount = 4, force = true, verify = 'checksum')")
    assert(status(row) == "DONE" && before.length == 3600)
    assert(content(t, s"struct($numbered) AS r") == before)
    assert(deletesLeft(t) == 0)
    assert(lastSummary(t)("total-delete-files") == "0")
  }

  for (version <- 2 to 3; granularity <- Seq("file", "partition") if version == 2 || granularity == "file")
    test(
      s"files of which many rows are deleted are written again, version $version, by $granularity",
      SameOnAllLines +: LongTest.unless(version == 3): _*) {
      val t = filled(s"thin_${version}_$granularity", version)
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.granularity' = '$granularity')")
      assert(status(cluster(t, "a, b")) == "DONE")
      sql(s"DELETE FROM $t WHERE id % 40 = 3")
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
      sql(s"DELETE FROM $t WHERE id % 10 = 4")
      val before = content(t)
      val row = cluster(t, "a, b", "")
      assert(status(row) == "DONE" && row.getAs[String]("reason").contains("deletedShare"))
      assert(content(t) == before && before.length == 3500 && tasks(t).length == 4)
      assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
      // a file without a row is no file any more
      val one = tasks(t).head.file.location
      val gone = spark.table(t).where(s"input_file_name() = '$one'").select("id").collect().map(_.getLong(0))
      sql(s"DELETE FROM $t WHERE id IN (${gone.mkString(", ")})")
      if (tasks(t).length == 4) assert(status(cluster(t, "a, b", "WITH (verify = 'checksum')")) == "DONE")
      assert(tasks(t).length == 3 && spark.table(t).count() == 3500 - gone.length)
    }

  test("equality deletes, as other engines write them", SameOnAllLines) {
    val t = filled("equality", 2)
    deleteEqual(t, 5, 50)
    val before = content(t)
    assert(before.length < 4000 && spark.table(t).where("b IN (5, 50)").isEmpty)
    assert(status(cluster(t, "a, b")) == "DONE")
    assert(content(t) == before)
  }

  // apache/iceberg#10312: Iceberg drops deletes that are older than all data files that were there before a commit
  for (version <- 2 to 3; appended <- Seq(true, false))
    test(
      s"equality deletes that arrive during a run apply to its files: version $version, appends $appended",
      SameOnAllLines +: LongTest.unless(version == 2): _*) {
      val t = filled(s"meanwhile_${version}_$appended", version)
      def others(values: Int*): Unit = values.foreach { b =>
        deleteEqual(t, b)
        if (appended) sql(s"INSERT INTO $t VALUES (${5000 + b}, 0, $b)")
      }
      var places = Seq("iceberg-commit" -> Seq(5, 50, 51), "iceberg-later-deletes" -> Seq(7, 8))
      CrashPoint.meanwhile = (at: String) =>
        places.headOption.filter(_._1 == at).foreach { case (_, values) =>
          places = places.tail
          others(values: _*)
        }
      val kept = spark.table(t).count() - spark.table(t).where("b IN (5, 50, 51, 7, 8)").count()
      assert(status(cluster(t, "a, b")) == "DONE" && places.isEmpty)
      val found =
        spark.table(t).where("b IN (5, 50, 51, 7, 8)").select("id").collect().map(_.getLong(0)).sorted
      assert(found.toSeq == (if (appended) Seq(5005L, 5007L, 5008L, 5050L, 5051L) else Nil))
      assert(spark.table(t).count() == kept + found.length)
      // also when the snapshot of the run has expired
      for (i <- 1 to 2) sql(s"INSERT INTO $t VALUES (${9000 + i}, 0, 0)")
      val before = content(t)
      load(t).expireSnapshots().expireOlderThan(System.currentTimeMillis + 1000).commit()
      sql(s"REFRESH TABLE $t")
      assert(content(t) == before)
      // and the table goes on
      assert(
        status(sql(s"ZORDER TABLE $t FULL BY (b, a) WITH (fileCount = 4, force = true)").head()) == "DONE")
      assert(content(t) == before)
    }

  test("UPDATE and MERGE go on after a run", SameOnAllLines) {
    val t = filled("updated", 2)
    cluster(t, "a, b")
    sql(s"UPDATE $t SET b = -1 WHERE id < 100")
    sql(s"MERGE INTO $t USING (SELECT id FROM range(3900, 4100)) s ON $t.id = s.id " +
      "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, a, b) VALUES (s.id, 0, 0)")
    val before = content(t)
    assert(before.length == 4000)
    assert(status(sql(s"ZORDER TABLE $t FULL BY (b, a) WITH (fileCount = 4, force = true)").head()) == "DONE")
    assert(content(t) == before)
  }
}
