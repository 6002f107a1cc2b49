package org.apache.spark.sql.zorder.table.hudi

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row

/** The audit of Hudi tables, whose files are those of the latest slices. */
class HudiAuditSuite extends AnyFunSuite with HudiFixture {
  private def audit(path: Path, columns: String): Row =
    spark.sql(s"SELECT * FROM clustering_information('$path'$columns)").head()

  test("a table in no order, then clustered") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      hudi(path, 4000)
      val before = audit(path, ", 'a, b'")
      assert(before.getAs[String]("verdict") === "RECLUSTER" && before.getAs[Long]("total_rows") === 4000)
      done(one(before.getAs[String]("statement")))
      val after = audit(path, "")
      assert(after.getAs[String]("verdict") === "OK" && after.getAs[Long]("total_file_count") === 6, after)
    }
  }
}
