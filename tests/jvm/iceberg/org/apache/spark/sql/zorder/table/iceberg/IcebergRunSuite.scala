package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

/** A clustering run over an Iceberg table, from the statement to the snapshot. */
class IcebergRunSuite extends AnyFunSuite with IcebergFixture {

  test("a run replaces the files of the snapshot, and the rows are the same") {
    val t = create("plain", "id BIGINT, a INT, b DOUBLE, c STRING")
    fill(t, 20000, 8, "id", "int(id * 7919 % 20000) AS a", "pmod(hash(id), 1000) / 8d AS b", "string(id) AS c")
    val before = content(t)
    val old = filesOf(t)
    val row = cluster(t, "a, b")
    assert(status(row) == "DONE")
    assert(content(t) == before)
    assert(tasks(t).length == 4 && filesOf(t).intersect(old).isEmpty)
    assert(load(t).currentSnapshot.operation == "replace")
    val runId = row.getAs[String]("run_id")
    assert(lastSummary(t)("zorder.run-id") == runId)
    assert(lastSummary(t)("zorder.columns") == "a, b")
    assert(lastSummary(t)("zorder.layout").matches("[0-9a-f]{8}"))
    val shown = sql(s"SELECT operation, summary['zorder.run-id'] FROM $t.snapshots ORDER BY committed_at").collect()
    assert(shown.last.getString(0) == "replace" && shown.last.getString(1) == runId)
  }
}
