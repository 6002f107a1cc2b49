package org.apache.spark.sql.zorder.table.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.coordinatedcommits.InMemoryCommitCoordinatorBuilder
import org.apache.spark.sql.zorder.errors.ZOrderException

/** Tables whose catalog says which commit is the next. */
class DeltaManagedSuite extends AnyFunSuite with DeltaFixture {
  private val run = "BY (a, b) WITH (fileCount = 8)"

  test("a table whose commits a catalog manages is refused, as by Delta's own OPTIMIZE (Delta 4)") {
    assume(spark.version.head >= '4', "Delta 3 does not know such tables")
    // by its name: the class is not in Delta 3
    val provider =
      Class.forName("org.apache.spark.sql.delta.coordinatedcommits.CatalogOwnedCommitCoordinatorProvider$")
    provider.getMethods.find(_.getName == "registerBuilder").get
      .invoke(provider.getField("MODULE$").get(null), "spark_catalog", InMemoryCommitCoordinatorBuilder(5))
    withTable("managed") {
      spark.sql("CREATE TABLE managed (id BIGINT, a INT, b BIGINT) USING delta " +
        "TBLPROPERTIES ('delta.feature.catalogManaged' = 'supported')")
      numbers(400).select("id", "a", "b").write.format("delta").mode("append").saveAsTable("managed")
      for (statement <- Seq(run, s"$run DRY RUN", s"FULL $run")) {
        val e = intercept[ZOrderException](one(s"ZORDER TABLE managed $statement"))
        assert(e.condition === "ZORDER_TABLE_REFUSED.DELTA_MANAGED_BY_CATALOG", e.getMessage)
      }
      val own = intercept[Exception](one("OPTIMIZE managed"))
      assert(own.getMessage.contains("DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION"), own.getMessage)
      assert(spark.table("managed").orderBy("id").limit(3).collect().map(_.getLong(0)) === Array(0L, 1L, 2L))
    }
  }
}
