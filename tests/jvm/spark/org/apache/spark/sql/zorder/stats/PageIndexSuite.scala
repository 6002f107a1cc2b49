package org.apache.spark.sql.zorder.stats

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.parquet.format.{ColumnIndex, Util}
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import sparkzorder.curve.{Evenly, NormalizedBytes, NormalizedLong, Zone}

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
            NormalizedLong(p * 2000L),
            NormalizedLong(math.min(10499L, p * 2000L + 1999)))))
      assert(pages.pages(0) == ids)
      assert(pages.pages(1) == ids.take(2).map(_._1 -> Zone.OnlyNulls) ++ ids.drop(2))
      assert(pages.columns(2).map(_.rows).sum == 10500)
      // a page index keeps 64 bytes of 100 and more, the row group all: no page reaches beyond its row group
      def text(end: String): NormalizedBytes = NormalizedBytes(("p" * 100 + end).getBytes)
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
    assert(Evenly.take(0 until 10000, 1000) == (0 until 10000 by 10))
    assert(Evenly.take(0 until 7, 1000) == (0 until 7))
    assert(Evenly.take(0 until 1500, 1000).count(_ >= 750) == 500)
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

  test("pages that contradict their row group are not believed, and files are not left out by them") {
    inTempDir { dir =>
      val path = dir.resolve("t")
      spark.range(0, 4000, 1, 4).selectExpr(
        "id",
        "if(id % 1000 = 999, null, concat('prefix-of-many-', lpad(cast(id as string), 5, '0'))) as s")
        .write.option("parquet.page.row.count.limit", 100).parquet(path.toString)
      val columns = Seq(StatColumn(Seq("id"), LongType), StatColumn(Seq("s"), StringType))
      def pages: Seq[FilePages] = PageIndex.read(session, parquetFiles(path), columns)
      val before = pages
      assert(before.forall(_.columns.forall(_.length == 10)))
      def cut(values: java.util.List[ByteBuffer]): Unit =
        values.asScala.indices.foreach { i =>
          val first = new Array[Byte](18)
          values.get(i).duplicate().get(first)
          values.set(i, ByteBuffer.wrap(first))
        }
      // bounds cut short, the upper ones, too; minimum too high; a page of values that is called one of NULLs; another number of NULLs
      val harms = Seq[(Int, ColumnIndex => Unit)](
        1 -> { i =>
          cut(i.min_values)
          cut(i.max_values)
        },
        0 -> (i => i.min_values.set(0, i.max_values.get(0))),
        0 -> { i =>
          i.null_pages.set(4, true)
          i.min_values.set(4, ByteBuffer.allocate(0))
          i.max_values.set(4, ByteBuffer.allocate(0))
        },
        1 -> (i => i.null_counts.set(9, 0L)))
      for ((file, (column, harm)) <- parquetFiles(path).zip(harms))
        PatchedIndex(java.nio.file.Paths.get(file.path.stripPrefix("file:")), column)(harm)
      for ((file, f) <- pages.zipWithIndex; c <- 0 to 1)
        assert(
          if (harms(f)._1 == c) file.columns(c).length == 1 else file.columns(c) == before(f).columns(c),
          s"$f $c")
      // the same with a page index that is written anew as it was
      PatchedIndex(java.nio.file.Paths.get(parquetFiles(path).head.path.stripPrefix("file:")), 0)(_ => ())
      assert(pages.head.columns(0) == before.head.columns(0))
    }
  }
}

/** Puts another page index of a column in the place of the one that a file has. */
private object PatchedIndex {
  def apply(path: java.nio.file.Path, column: Int)(change: ColumnIndex => Unit): Unit = {
    val bytes = java.nio.file.Files.readAllBytes(path)
    val length = ByteBuffer.wrap(bytes, bytes.length - 8, 4).order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt
    val start = bytes.length - 8 - length
    val meta = Util.readFileMetaData(new ByteArrayInputStream(bytes, start, length))
    val out = new ByteArrayOutputStream()
    out.write(bytes, 0, start)
    for (group <- meta.getRow_groups.asScala) {
      val chunk = group.getColumns.get(column)
      val index = Util.readColumnIndex(new ByteArrayInputStream(
        bytes,
        chunk.getColumn_index_offset.toInt,
        chunk.getColumn_index_length))
      change(index)
      val at = out.size
      Util.writeColumnIndex(index, out)
      chunk.setColumn_index_offset(at.toLong)
      chunk.setColumn_index_length(out.size - at)
    }
    val footer = out.size
    Util.writeFileMetaData(meta, out)
    val tail = ByteBuffer.allocate(8).order(java.nio.ByteOrder.LITTLE_ENDIAN).putInt(out.size - footer)
    out.write(tail.put("PAR1".getBytes).array)
    java.nio.file.Files.write(path, out.toByteArray)
    val crc = path.resolveSibling(s".${path.getFileName}.crc")
    java.nio.file.Files.deleteIfExists(crc)
    ()
  }
}
