package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.FileFormat
import org.apache.iceberg.data.{GenericFileWriterFactory, GenericRecord}
import org.apache.iceberg.encryption.EncryptedFiles
import org.scalatest.funsuite.AnyFunSuite

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
      if (tasks(t).length == 4) assert(status(cluster(t, "a, b", "")) == "DONE")
      assert(tasks(t).length == 3 && spark.table(t).count() == 3500 - gone.length)
    }

  test("equality deletes, as other engines write them", SameOnAllLines) {
    val t = filled("equality", 2)
    val table = load(t)
    val schema = table.schema.select("b")
    val factory = new GenericFileWriterFactory.Builder(table).equalityFieldIds(
      Array(schema.findField("b").fieldId)).equalityDeleteRowSchema(schema)
      .deleteFileFormat(FileFormat.PARQUET).build()
    val out = EncryptedFiles.plainAsEncryptedOutput(
      table.io.newOutputFile(table.location + "/data/equality-delete.parquet"))
    val writer = factory.newEqualityDeleteWriter(out, table.spec, null)
    val record = GenericRecord.create(schema)
    Seq(5, 50).foreach { b =>
      record.setField("b", b)
      writer.write(record)
    }
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile).commit()
    sql(s"REFRESH TABLE $t")
    val before = content(t)
    assert(before.length < 4000 && spark.table(t).where("b IN (5, 50)").isEmpty)
    assert(status(cluster(t, "a, b")) == "DONE")
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
