package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row

/** A table that is larger than a batch: `replace` snapshots of a part of it at a time. */
class IcebergStepsSuite extends AnyFunSuite with IcebergFixture {

  test(
    "each snapshot replaces a batch at most, a reader of any sees all rows, the files are those of one commit") {
    val t = create("steps", "id BIGINT, a INT, b BIGINT")
    fill(
      t,
      8000,
      8,
      "id",
      "cast(pmod(xxhash64(id, 1), 1000) as int) a",
      "pmod(xxhash64(id, 2), 100000) b")
    val before = content(t)
    val bytes = tasks(t).map(_.file.fileSizeInBytes)
    val limit = bytes.sum / 2
    val row = cluster(t, "a, b", s"WITH (fileCount = 8, force = true, maxBytesInFlight = $limit)")
    assert(status(row) == "DONE" && content(t) == before)
    val metrics = row.getAs[Row]("metrics")
    val replaced = sql(s"SELECT snapshot_id, summary['removed-files-size'] FROM $t.snapshots " +
      "WHERE operation = 'replace'").collect().toSeq
    assert(metrics.getAs[Long]("numBatches") == replaced.length && replaced.length >= 4)
    assert(replaced.forall(_.getString(1).toLong <= limit), replaced)
    assert(metrics.getAs[Long]("numFilesAdded") == 8 && tasks(t).size == 8)
    for (snapshot <- replaced)
      assert(sql(s"SELECT * FROM $t VERSION AS OF ${snapshot.getLong(0)}").count() == 8000)
    assert(status(cluster(t, "a, b", "")) == "NOTHING_TO_DO")
  }
}
