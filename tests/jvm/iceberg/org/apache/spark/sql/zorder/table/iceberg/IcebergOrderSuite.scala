package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession

/** Our extension before Iceberg's: the same statements, of both. */
class IcebergOrderSuite extends AnyFunSuite with IcebergFixture {
  override protected def extensions: Seq[String] = Seq(ZOrderSession.extension, icebergExtension)

  test("statements of both work, whichever extension comes first") {
    val t = create("first", "id BIGINT, a INT, b INT")
    fill(t, 2000, 4, "id", "int(hash(id)) AS a", "int(id % 97) AS b")
    assert(status(cluster(t, "a, b")) == "DONE")
    sql(s"ALTER TABLE $t WRITE ORDERED BY a")
    val rewritten = sql("CALL ice.system.rewrite_data_files(table => 'db.first', strategy => 'sort', " +
      "sort_order => 'zorder(a, b)', options => map('rewrite-all', 'true'))").head()
    assert(rewritten.getInt(0) == 4)
    assert(
      status(sql(s"OPTIMIZE $t FULL ZORDER BY (a, b) WITH (fileCount = 4, force = true)").head()) == "DONE")
    assert(spark.table(t).count() == 2000)
  }
}
