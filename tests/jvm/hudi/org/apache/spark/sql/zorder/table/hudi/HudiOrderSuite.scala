package org.apache.spark.sql.zorder.table.hudi

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.LongTest

/** Our extension in front of Hudi's: the guide says behind, but both orders must work. */
class HudiOrderSuite extends AnyFunSuite with HudiFixture {
  override protected def extensions: String = s"${ZOrderSession.extension},${HudiFixture.extension}"

  test("our statements are ours, Hudi's procedures and DML are Hudi's", LongTest) {
    withTempDir { dir =>
      hudi(dir.resolve("t"), 2000)
      register("o_t", dir.resolve("t"))
      done(one("ZORDER TABLE o_t BY (a, b) WITH (fileCount = 4, force = true)"))
      spark.sql("UPDATE o_t SET a = -1 WHERE id = 3")
      assert(spark.sql("CALL show_clustering(table => 'o_t')").collect().length === 1)
      assert(spark.table("o_t").where("a = -1").count() === 1 && spark.table("o_t").count() === 2000)
    }
  }
}
