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
}
