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

  test("a column that is renamed between the runs of two partitions: the first stays as it was asked for") {
    val table = create("renamed", "a INT, product BIGINT, p INT", "PARTITIONED BY (p)")
    def more(p: Int, column: String): Unit =
      fill(
        table,
        5000,
        4,
        "cast(pmod(xxhash64(id), 1000) as int) AS a",
        s"pmod(xxhash64(id, 2), 5000) AS $column",
        s"$p AS p")
    def sort(where: String, column: String): Unit = {
      val row = sql(s"ZORDER TABLE $table $where BY (a, $column) USING CURVE lexical " +
        "WITH (fileCount = 16, force = true)").collect().head
      assert(status(row) === "DONE", row)
    }
    def verdict: String = sql(s"SELECT verdict FROM clustering_information('$table') WHERE partition = 'p=1'")
      .collect().head.getString(0)
    more(1, "product")
    sort("", "product")
    assert(verdict === "OK")
    sql(s"ALTER TABLE $table RENAME COLUMN product TO item")
    more(2, "item")
    sort("WHERE p = 2", "item")
    assert(verdict === "OK")
  }

  test("statements name partitions by their values, and tables by names that parse") {
    val table =
      create("`audited-too`", "id BIGINT, a INT, b INT, `my city` STRING", "PARTITIONED BY (`my city`)")
    for (city <- Seq("New York", "Zürich"))
      fill(
        table,
        4000,
        4,
        "id",
        "int(hash(id) % 1000) AS a",
        "int(hash(id, 2) % 5000) AS b",
        s"'$city' AS `my city`")
    def statements: Seq[String] =
      sql(s"SELECT statement FROM clustering_information('$table', 'a, b') WHERE partition != ''")
        .collect().toSeq.map(_.getString(0)).sorted
    assert(statements.map(_.takeWhile(_ != '(')) === Seq("New York", "Zürich").map(city =>
      s"ZORDER TABLE ice.db.`audited-too` WHERE `my city` = '$city' BY "))
    statements.foreach(s => assert(status(sql(s).collect().head) === "DONE", s))
    val log = "SELECT * FROM zorder_query_log('SELECT * FROM ice.db.`audited-too` WHERE a = 5')"
    sql(log).createOrReplaceTempView("asked")
    assert(sql(s"SELECT * FROM clustering_queries('$table', 'asked')").count() > 0)
  }
}
