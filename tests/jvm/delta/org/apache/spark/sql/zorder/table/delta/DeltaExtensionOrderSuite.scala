package org.apache.spark.sql.zorder.table.delta

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.mark.SameOnAllLines

/** Our extension in front of Delta's: the guide says behind, but both orders must work. */
@SameOnAllLines
class DeltaExtensionOrderSuite extends AnyFunSuite with DeltaFixture {
  override protected def extensions: String = s"${ZOrderSession.extension},$deltaExtension"

  test("ZORDER TABLE is ours, OPTIMIZE of a Delta table is Delta's, VACUUM too") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path)
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 8)")))
      val theirs = spark.sql(s"OPTIMIZE delta.`$path` ZORDER BY (a)")
      assert(!theirs.columns.contains("status"))
      assert(spark.sql(s"VACUUM delta.`$path` DRY RUN").collect().length === 0)
      assert(read(path).count() === 20000)
    }
  }

  test("queries have the list that Delta plans, and EXPLAIN says why no file of it is left out") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000)
      val rows = spark.sql(s"ZORDER EXPLAIN SELECT * FROM delta.`$path` ORDER BY id DESC LIMIT 5").collect()
      assert(rows.length === 1 && rows.head.getAs[Long]("kept") === 6)
      assert(rows.head.getAs[String]("reason").contains("if spark.sql.extensions has ours before that of Delta"))
    }
  }
}
