package org.apache.spark.sql.zorder

import org.apache.parquet.schema.{LogicalTypeAnnotation, Types}
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.BINARY
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.skipping.index.{
  ColumnRanges,
  IndexedColumn,
  IndexedFiles,
  NoRanges,
  StatisticsIndex
}
import org.apache.spark.sql.zorder.stats.{FileOrigin, ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.stats.bloom.BloomKey

/** Texts with a collation, whose types differ between the lines of Spark 4. */
class CollationSuite extends AnyFunSuite with ZOrderSession with StatementRows {

  test("an indexed expression by another collation is another one, and its type stays (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no collations")
    withTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 40, 1, 4).selectExpr("id", "if(id < 10, 'xabcx', 'xABCx') s")
        .write.parquet(path.toString)
      // entries of fresh files are not trusted
      path.toFile.listFiles.foreach(_.setLastModified(System.currentTimeMillis() - 3600000))
      def by(collation: String): String = s"CAST(s AS STRING COLLATE $collation)"
      def holds(collation: String): String = s"contains(${by(collation)}, 'abc')"
      one(s"ZORDER INDEX '$path' COLUMNS (${holds("UNICODE")}, lower(${by("UNICODE")}))")
      // rows that are found, and files that are opened for them
      def found(collation: String): (Int, Long) = {
        val df = spark.read.parquet(path.toString).where(holds(collation))
        val rows = df.collect().length
        val scans = df.queryExecution.executedPlan.collectLeaves()
        (rows, scans.flatMap(_.metrics.get("numFiles")).map(_.value).sum)
      }
      assert(found("UNICODE") === ((10, 1L)))
      assert(found("UNICODE_CI") === ((40, 4L)))
      val types = spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect().map(_.getAs[String]("data_type"))
      assert(types.toSeq === Seq("BOOLEAN", "STRING COLLATE UNICODE"))
    }
  }

  test("a VARCHAR with a collation has neither bounds nor Bloom filters (Spark 4.2)") {
    assume(spark.version >= "4.2", "VARCHAR has collations from Spark 4.2 on")
    val column = StatColumn(Seq("v"), DataType.fromDDL("VARCHAR(10) COLLATE UNICODE"))
    val stored = Types.optional(BINARY).as(LogicalTypeAnnotation.stringType()).named("v")
    assert(ParquetZones.decoder(stored, column, FileOrigin("", Map.empty)).isEmpty)
    assert(BloomKey.of(stored, column).isEmpty)
  }

  test("what an index has of the bytes of a text with a collation answers no filter (Spark 4)") {
    assume(spark.version.head >= '4', "Spark 3.5 has no collations")
    for ((text, answers) <- Seq("STRING" -> true, "STRING COLLATE UNICODE_CI" -> false)) {
      val dataType = DataType.fromDDL(text)
      val ranges = new ColumnRanges(dataType, Array(ColumnRanges.OnlyNulls), Array(1L), Array(0, 0), NoRanges)
      val index = new StatisticsIndex(
        IndexedFiles.of(Seq(("f", 7L, 0L, 1L))),
        IndexedSeq(IndexedColumn("s", Seq("s"), dataType, absentIsNull = true)),
        caseSensitive = false,
        (_: Int) => Some(ranges))
      assert(index.rangesOf("s", dataType).isDefined === answers, text)
    }
  }
}
