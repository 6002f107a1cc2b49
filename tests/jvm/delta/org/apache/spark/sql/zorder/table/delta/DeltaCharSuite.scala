package org.apache.spark.sql.zorder.table.delta

import java.nio.file.{Path, Paths}

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.delta.DeltaLog
import sparkzorder.mark.SameOnAllLines

/** CHAR values that are shorter than their type, as Delta's partitions and other writers have them. */
@SameOnAllLines
class DeltaCharSuite extends AnyFunSuite with UncomparedCommits {
  private val two = "WITH (fileCount = 2, force = true, verify = 'checksum')"

  private def root(table: String): Path =
    Paths.get(new java.net.URI(spark.sql(s"DESCRIBE DETAIL $table").head().getAs[String]("location")).getPath)

  private def rows(): Seq[String] =
    spark.table("chars").collect().map(r => s"<${r.mkString("|")}>").sorted.toSeq

  /** The values of a column in the files. */
  private def stored(column: String): Set[String] =
    withConf("spark.sql.readSideCharPadding" -> "false") {
      spark.read.parquet(spark.table("chars").inputFiles.toSeq: _*).select(column).distinct().collect()
        .map(_.getString(0)).toSet
    }

  /** The values of the partition column in Delta's log. */
  private def partitions(): Set[String] =
    DeltaLog.forTable(spark, root("chars").toString).update().allFiles.collect()
      .map(_.partitionValues.getOrElse("p", null)).toSet

  private def keepsAll(statement: String): Unit = {
    val (before, values) = (rows(), partitions())
    done(one(statement))
    assert(rows() === before && partitions() === values)
  }

  test("partitions of CHAR columns keep their texts, of Delta and of other writers") {
    withTempDir(dir =>
      withTable("chars") {
        spark.sql("CREATE TABLE chars (id BIGINT, a INT, p CHAR(5)) USING delta PARTITIONED BY (p)")
        spark.sql("INSERT INTO chars SELECT /*+ REPARTITION(3) */ id, cast(id % 97 AS INT), " +
          "if(id % 3 = 2, null, concat('x', id % 3)) FROM range(3000)")
        keepsAll(s"ZORDER TABLE chars FULL BY (a, id) $two")
        numbers(400).select("id", "a").coalesce(1).write.parquet(s"$dir/unpadded")
        DeltaFiles.add(spark, root("chars"), dir.resolve("unpadded"), Map("p" -> "x7"))
        numbers(400).select("id", "a").coalesce(1).write.parquet(s"$dir/padded")
        DeltaFiles.add(spark, root("chars"), dir.resolve("padded"), Map("p" -> "x7   "))
        assert(spark.table("chars").where("p = 'x7'").count() === 800)
        keepsAll(s"ZORDER TABLE chars BY (a, id) $two")
        keepsAll(s"ZORDER TABLE chars FULL BY (id, a) $two")
        assert(spark.table("chars").where("p = 'x7'").count() === 800)
      })
  }

  test("values of other writers stay without blanks in the files") {
    withTempDir(dir =>
      withTable("chars") {
        spark.sql("CREATE TABLE chars (id BIGINT, c CHAR(5)) USING delta")
        spark.range(2000).selectExpr("id", "concat('x', id % 10) c").repartition(2).write
          .parquet(s"$dir/unpadded")
        DeltaFiles.add(spark, root("chars"), dir.resolve("unpadded"))
        val before = (rows(), stored("c"))
        done(one(s"ZORDER TABLE chars FULL BY (id) $two"))
        assert((rows(), stored("c")) === before)
        assert(before._2.forall(_.length == 2) && before._1.forall(_.length > 8))
      })
  }
}
