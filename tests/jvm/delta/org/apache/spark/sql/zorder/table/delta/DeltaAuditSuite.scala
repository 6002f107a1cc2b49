package org.apache.spark.sql.zorder.table.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import sparkzorder.mark.SameOnAllLines

/** The audit of Delta tables, whose files come from the log, partitions and renamed columns included. */
@SameOnAllLines
class DeltaAuditSuite extends AnyFunSuite with DeltaFixture {

  test("a partition is audited by itself, and renamed columns are found in files") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      numbers(4000).selectExpr("a", "b", "id % 2 AS p").repartition(4).write.format("delta")
        .option("delta.columnMapping.mode", "name").partitionBy("p").save(path.toString)
      spark.sql(s"ALTER TABLE delta.`$path` RENAME COLUMN a TO x")
      def audit(columns: String): Seq[Row] =
        spark.sql(s"SELECT * FROM clustering_information('$path'$columns)").collect().toSeq
      val rows = audit(", 'x, b'")
      assert(rows.map(_.getAs[String]("partition")).toSet === Set(null, "p=0", "p=1"))
      assert(rows.map(_.getAs[String]("verdict")).distinct === Seq("RECLUSTER"))
      assert(rows.map(_.getAs[String]("statement")).toSet === Set(
        s"ZORDER TABLE '$path' BY (x, b) WITH (fileCount = 4)",
        s"ZORDER TABLE '$path' WHERE p = 0L BY (x, b) WITH (fileCount = 4)",
        s"ZORDER TABLE '$path' WHERE p = 1L BY (x, b) WITH (fileCount = 4)"))
      done(one(rows.last.getAs[String]("statement").replace("= 4)", "= 4, force = true)")))
      val worst = rows.last.getAs[String]("partition")
      val after = audit("")
      assert(after.find(_.getAs[String]("partition") == worst).get.getAs[String]("verdict") === "OK")
      assert(after.head.getAs[String]("statement") === rows(1).getAs[String]("statement"))
      assert(after.head.getAs[Long]("files_without_statistics") === 0)
    }
  }
}
