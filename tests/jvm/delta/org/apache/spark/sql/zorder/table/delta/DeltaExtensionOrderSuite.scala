package org.apache.spark.sql.zorder.table.delta

import io.delta.sql.DeltaSparkSessionExtension
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.ZOrderSession
import sparkzorder.mark.{LongTest, SameOnAllLines}

/** Our extension in front of Delta's: the guide says behind, but both orders must work. */
@SameOnAllLines
class DeltaExtensionOrderSuite extends AnyFunSuite with UncomparedCommits {
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

  test("the lists that Delta plans are narrowed in this order, too") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 2000, 1, 6).write.format("delta").save(path.toString)
      val rows = spark.sql(s"ZORDER EXPLAIN SELECT * FROM delta.`$path` ORDER BY id DESC LIMIT 5").collect()
      assert(rows.length === 2 && rows.head.getAs[Long]("considered") === 6)
      assert(rows.last.getAs[String]("filter").startsWith("zorder_top_rows(id DESC"))
      assert(rows.last.getAs[Long]("pruned") === 5)
    }
  }
}

/** Delta's extension as an object, which no setting names. */
@LongTest
@SameOnAllLines
class DeltaExtensionObjectSuite extends AnyFunSuite with DeltaFixture {
  override protected def extensions: String = ZOrderSession.extension

  override protected def builder: SparkSession.Builder =
    super.builder.withExtensions(new DeltaSparkSessionExtension)

  test("a session that got Delta's extension as an object is as good as one that names it") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      delta(path, 2000, Map("enableDeletionVectors" -> "true"))
      spark.sql(s"DELETE FROM delta.`$path` WHERE id % 10 = 3")
      done(keeps(path)(zorder(path, "BY (a, b) WITH (fileCount = 4)")))
      assert(read(path).count() === 1800 && files(path) === 4)
    }
  }
}
