package org.apache.spark.sql.zorder.skipping

import java.nio.file.Path

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.zorder.skipping.index.RangeSet
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.mark.SameOnAllLines

/** Files that have few values of a column: what is not among them is not looked for there. */
@SameOnAllLines
class ValueSetSuite extends AnyFunSuite with SkippedScans {

  private def indexValues(path: Path, values: String): Row = indexWith(path, s"values = '$values'")

  private def valueFiles(path: Path): Map[String, Long] =
    spark.sql(s"ZORDER DESCRIBE INDEX '$path'").collect()
      .map(r => r.getAs[String]("column") -> r.getAs[Long]("value_files")).toMap

  /** Eight files, each with ten of 80 values that lie far apart, many times. */
  private def few(rows: Int = 2000): DataFrame = spark.range(0, 8L * rows, 1, 8).selectExpr(
    "id",
    s"(id % 10) * 8 + id div $rows v").selectExpr(
    "id",
    "v",
    "cast(v as int) i",
    "concat('state ', lpad(cast(v as string), 2, '0')) s",
    "date_add(date'2020-01-01', cast(v as int)) d",
    "timestamp_seconds(v * 86400) ts",
    "cast(v as decimal(7, 2)) n",
    "v / 2.0D f",
    "if(id % 3 = 0, null, v) maybe",
    "named_struct('x', v) st")

  test("a look-up opens the files that have the value, whatever its type") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      withConf(
        "spark.sql.parquet.outputTimestampType" -> "TIMESTAMP_MICROS")(few().write.parquet(path.toString))
      def t = spark.read.parquet(path.toString)
      val lookUps = Seq(
        "v = 43",
        "i = 43",
        "s = 'state 43'",
        "d = date'2020-02-13'",
        "to_date(ts) = date'1970-02-13'",
        "n = 43",
        "f = 21.5D",
        "maybe = 43",
        "st.x = 43")
      indexValues(path, "v")
      assert(valueFiles(path).filter(_._2 > 0) === Map("v" -> 8L))
      val made = indexValues(path, "v, i, s, d, ts, n, f, maybe, st.x")
      assert(made.getAs[Long]("footers_read") === 8)
      assert(valueFiles(path).filter(_._2 != 8).keySet === Set("id"))
      quick(lookUps.foreach(w => assert(opens(t.where(w)) === 1, w)))
      assert(opens(t.where("v IN (43, 44, 1000)")) === 2)
      assert(opens(t.where("v <=> 43 OR maybe IS NULL")) === 8)
      assert(opens(t.where("v BETWEEN 43 AND 44 AND NOT (v = 44)")) === 1)
      assert(opens(t.where("v > 2 AND v < 4")) === 1)
      assert(opens(t.where("v = 80")) === 0)
      assert(t.where("s = 'state 43'").count() === 200)
      // the ends of a dictionary are values of rows here
      assert(opens(t.selectExpr("min(v)", "max(v)", "min(d)", "max(n)", "count(maybe)")) === 0)
    }
  }

  test("a refresh and a run keep the values, an index that is made without them has none") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      few(200).write.parquet(path.toString)
      indexValues(path, "v")
      assert(one(s"ZORDER REFRESH INDEX '$path'").getAs[Long]("footers_read") === 0)
      assert(opens(spark.read.parquet(path.toString).where("v = 43")) === 1)
      spark.sql(s"ZORDER TABLE '$path' BY (id, v) WITH (fileCount = 8, force = true)")
      assert(valueFiles(path)("v") === 8)
      spark.sql(s"ZORDER INDEX '$path'")
      assert(valueFiles(path).values.sum === 0)
    }
  }

  test("the keys of a join are looked for among the values, too") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      few(200).write.parquet(path.toString)
      indexValues(path, "v")
      spark.read.parquet(path.toString).createOrReplaceTempView("t")
      spark.range(42, 44, 1, 1).toDF("k").write.parquet(dir.resolve("k").toString)
      spark.read.parquet(dir.resolve("k").toString).createOrReplaceTempView("k")
      assert(opens(spark.sql("SELECT t.id FROM t JOIN k ON t.v = k.k")) === 2 + 1)
    }
  }

  test("a row group that is not wholly encoded by its dictionary has other values, too") {
    withTempDir { dir =>
      val path = dir.resolve("t")
      // the dictionary has room for ten values, and others come pages later, between these
      few().selectExpr("id", "if(id % 2000 < 1800, v, 8 + id % 64) v")
        .write.option("parquet.dictionary.page.size", "80").option("parquet.page.row.count.limit", "200")
        .parquet(path.toString)
      indexValues(path, "v")
      assert(valueFiles(path)("v") === 0)
      def t = spark.read.parquet(path.toString)
      assert(opens(t.where("v = 21")) === 8)
      // without a dictionary, with too many values, and with few of them but others in each row group
      val others = dir.resolve("others")
      few().write.option("parquet.enable.dictionary", "false").parquet(others.toString)
      few().selectExpr("id", "id % 100 v").write.mode("append").parquet(others.toString)
      few().selectExpr("id", "id % 2000 div 200 * 8 + id div 2000 v")
        .write.mode("append").option("parquet.block.size", "4000")
        .option(
          "parquet.block.row.check.min",
          "100").option("parquet.page.size", "500").parquet(others.toString)
      indexValues(others, "v")
      assert(valueFiles(others)("v") === 8)
      assert(opens(spark.read.parquet(others.toString).select("id", "v").where("v = 43")) === 8 + 8 + 1)
    }
  }

  test("values that no row has, and those that cannot be all, do not mislead") {
    def longs(values: Long*): IndexedSeq[NormalizedValue] = values.map(NormalizedLong(_)).toIndexedSeq
    def between(low: Long, high: Long): Zone = Zone.Between(NormalizedLong(low), NormalizedLong(high))
    val ranges = RangeSet.of(Seq(between(1, 5), between(100, 110)))
    assert(ranges.only(longs(1, 3, 110)).ranges.map(_._1) === longs(1, 3, 110))
    // a dictionary that is made for several files: 50 and 200 are in no row
    assert(ranges.only(longs(-1, 1, 4, 50, 110, 200)).ranges.map(_._1) === longs(1, 4, 110))
    // 1 and 110 are values of rows
    Seq(longs(2, 110), longs(1, 100), longs(), longs(50)).foreach(v => assert(ranges.only(v) === ranges))
    assert(RangeSet.Unknown.only(longs(1)) === RangeSet.Unknown)
    assert(RangeSet.OnlyNulls.only(longs(1)) === RangeSet.OnlyNulls)
    def text(s: String): NormalizedValue = NormalizedBytes(s.getBytes("UTF-8"))
    // bounds of text may be cut off
    val texts = RangeSet.of(Seq(Zone.Between(text("a"), text("c"))))
    assert(texts.only(IndexedSeq("ab", "b").map(text)).ranges.map(_._1) === Seq("ab", "b").map(text))
    assert(texts.only((0 until 20).map(i => text("b" * 200 + i))) === texts)
  }
}
