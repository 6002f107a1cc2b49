package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import sparkzorder.mark.SameOnAllLines

/** The audit of Iceberg tables, whose files come from the manifests. */
@SameOnAllLines
class IcebergAuditSuite extends AnyFunSuite with IcebergFixture {

  test("a table in no order, then clustered, then appended to") {
    val table = create("audited", "id BIGINT, a INT, b BIGINT", "PARTITIONED BY (bucket(1, id))")
    def more(): Unit =
      fill(
        table,
        4000,
        4,
        "id",
        "cast(pmod(xxhash64(id), 1000) as int) AS a",
        "pmod(xxhash64(id, 2), 5000) AS b")
    def audit(columns: String): Seq[Row] =
      sql(s"SELECT * FROM clustering_information('$table'$columns)").collect().toSeq
    more()
    val before = audit(", 'a, b'")
    assert(before.map(_.getAs[String]("verdict")) === Seq("RECLUSTER", "RECLUSTER"))
    // a bucket is no column that a condition could name
    assert(before.map(_.getAs[String]("statement")).distinct === Seq(
      s"ZORDER TABLE $table BY (a, b) WITH (fileCount = 4)"))
    cluster(table, "a, b")
    val after = audit("").head
    assert(after.getAs[String]("verdict") === "OK" && after.getAs[Long]("files_since_last_run") === 0, after)
    more()
    assert(audit("").head.getAs[Long]("files_since_last_run") === 4)
  }
}
