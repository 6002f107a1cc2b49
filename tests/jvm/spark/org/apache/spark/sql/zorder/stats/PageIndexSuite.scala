package org.apache.spark.sql.zorder.stats

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import sparkzorder.curve.{BytesWord, LongWord, Zone}

class PageIndexSuite extends AnyFunSuite with StatsFixture {

  test("pages have the rows and bounds that the row limit makes") {
    inTempDir { dir =>
      spark.range(10500).selectExpr("id", "if(id < 4000, null, id) as n", "concat(repeat('p', 100), id) as s")
        .coalesce(1).write.option("parquet.page.row.count.limit", 2000).parquet(dir.resolve("t").toString)
      val columns = Seq("id" -> LongType, "n" -> LongType, "s" -> StringType, "absent" -> LongType)
        .map { case (name, dataType) => StatColumn(Seq(name), dataType) }
      val pages = PageIndex.read(session, parquetFiles(dir), columns).head
      val ids = (0 until 6).map(p =>
        (
          math.min(2000L, 10500L - p * 2000),
          Zone.Between(
            LongWord(p * 2000L),
            LongWord(math.min(10499L, p * 2000L + 1999)))))
      assert(pages.pages(0) == ids)
      assert(pages.pages(1) == ids.take(2).map(_._1 -> Zone.OnlyNulls) ++ ids.drop(2))
      assert(pages.columns(2).map(_.rows).sum == 10500)
      // a page index keeps 64 bytes of 100 and more, the row group all: no page reaches beyond its row group
      def text(end: String): BytesWord = BytesWord(("p" * 100 + end).getBytes)
      assert(pages.pages(2).map(_._2) == Seq.fill(6)(Zone.Between(text("0"), text("9999"))))
      assert(pages.pages(3) == Seq((10500L, Zone.Unknown)))
      // runs: where a page of either column begins; what is asked of neither column is not known
      val runs = pages.runs(IndexedSeq(Some(0), None, Some(2)))
      assert(runs.map(_.rows).sum == 10500 && runs.forall(_.zones(1) == Zone.Unknown))
      val begins = runs.scanLeft(0L)(_ + _.rows)
      for (c <- Seq(0, 2)) assert(pages.columns(c).scanLeft(0L)(_ + _.rows).toSet.subsetOf(begins.toSet))
      for ((run, from) <- runs.zip(begins)) {
        val page = pages.columns(0).scanLeft(0L)(_ + _.rows).lastIndexWhere(_ <= from)
        assert(run.zones(0) == pages.columns(0)(page).zones.head)
      }
      assert(pages.runs(IndexedSeq(Some(1))).map(!_.mayHoldNull(0)) == Seq(false, false) ++ Seq.fill(4)(true))
    }
  }

  test("of many files some are read, evenly taken: the first ones may be unlike the rest") {
    assert(PageIndex.evenly(0 until 10000, 1000) == (0 until 10000 by 10))
    assert(PageIndex.evenly(0 until 7, 1000) == (0 until 7))
    assert(PageIndex.evenly(0 until 1500, 1000).count(_ >= 750) == 500)
    inTempDir { dir =>
      spark.range(0, 600, 1, 6).write.parquet(dir.resolve("t").toString)
      val files = parquetFiles(dir)
      val pages = PageIndex.ofSome(session, files, Seq(StatColumn(Seq("id"), LongType)), most = 3)
      assert(pages.map(_.file) == Seq(files(0), files(2), files(4)))
    }
  }

  test("without a page index a row group is one page") {
    inTempDir { dir =>
      setting("spark.sql.parquet.outputTimestampType" -> "INT96") {
        spark.range(0, 7000, 1, 7).selectExpr("id", "timestamp_micros(id) as t", "cast(id as double) as x")
          .write.option("parquet.page.row.count.limit", 100).option("parquet.columnindex.enabled", "false")
          .parquet(dir.resolve("t").toString)
      }
      val columns = Seq(StatColumn(Seq("id"), LongType), StatColumn(Seq("t"), TimestampType))
      val read = PageIndex.read(session, parquetFiles(dir), columns)
      assert(read.map(_.file) == parquetFiles(dir))
      assert(read.forall(_.columns(0).map(_.rows).sum == 1000))
      assert(read.forall(_.pages(1).forall(_._2 == Zone.Unknown)))
    }
  }
}
