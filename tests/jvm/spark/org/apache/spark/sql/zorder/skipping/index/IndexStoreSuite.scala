package org.apache.spark.sql.zorder.skipping.index

import java.io.{IOException, OutputStream}
import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types.{DataType, LongType}
import org.apache.spark.sql.zorder.{QuickRawFileSystem, ZOrderSession}
import org.apache.spark.sql.zorder.expr.Normalization
import sparkzorder.curve.NormalizedValue
import sparkzorder.mark.SameOnAllLines

/** Several writers of one index, and a storage that fails. */
@SameOnAllLines
class IndexStoreSuite extends AnyFunSuite with ZOrderSession {
  private val normalize: Any => NormalizedValue = Normalization.of(LongType).get.normalize

  /** One file, whose ids are all this one. */
  private def index(id: Long): StatisticsIndex = {
    val ranges = FileColumn.ranges(LongType, IndexedSeq(FileColumn.between(normalize(id), normalize(id), 0L)))
    new StatisticsIndex(
      IndexedFiles.of(Seq(("f", 7L, 0L, 10L))),
      IndexedSeq(IndexedColumn("id", Seq("id"), LongType, absentIsNull = true)),
      caseSensitive = false,
      (_: Int) => Option[ColumnRanges](ranges))
  }

  private def among[A](body: (IndexStore, StoreOfOthers) => A): A = withTempDir { dir =>
    val fs = new StoreOfOthers
    fs.initialize(new URI("file:///"), new Configuration())
    body(new IndexStore(fs, new Path(dir.resolve("index").toUri)), fs)
  }

  test("of two writers that take the same number at one moment, the later one gets the next") {
    among { (store, fs) =>
      fs.after("index-1") = () => { val _ = store.write(index(1)) }
      assert(store.write(index(2)).isDefined)
      assert(store.listed().map(_._1) === Seq(2, 1))
      assert(store.newest().map(_._1) === Some(2))
    }
  }

  test("an index that could not be written is not there, and the one before it counts") {
    among { (store, fs) =>
      assert(store.write(index(1)).isDefined)
      fs.full = "index-2"
      assert(intercept[IOException](store.write(index(2))).getMessage === "No space left on device")
      assert(store.listed().map(_._1) === Seq(1))
      fs.full = ""
      assert(store.write(index(2)).isDefined && store.newest().map(_._1) === Some(2))
    }
  }

  test("a column of a type that this Spark does not know answers nothing, and the others do") {
    among { (store, _) =>
      val single = index(1)
      val later = IndexedColumn("later", Seq("later"), OfALaterSpark, absentIsNull = true)
      val both = new StatisticsIndex(
        single.files,
        single.columns :+ later,
        single.caseSensitive,
        (_: Int) => single.rangesAt(0))
      assert(store.write(both).isDefined)
      val read = store.newest().get._2
      assert(read.columns.map(_.sql) === Seq("id", "later"))
      assert(read.rangesOf("id", LongType).map(_.states.toSeq) === Some(Seq(ColumnRanges.Bounded)))
      assert(read.rangesAt(1).isEmpty)
    }
  }
}

/** A type whose text no Spark of the tests can read. */
private object OfALaterSpark extends DataType {
  override def defaultSize: Int = 8
  override def typeName: String = "of_a_later_spark"
  override private[spark] def asNullable: DataType = this
}

/** A file system where others write between two calls, and that is full for one file. */
private class StoreOfOthers extends QuickRawFileSystem {
  val after = scala.collection.mutable.Map.empty[String, () => Unit]
  var full = ""

  override def exists(path: Path): Boolean = {
    val there = super.exists(path)
    after.remove(path.getName).foreach(_.apply())
    there
  }

  override protected def createOutputStream(path: Path, append: Boolean): OutputStream =
    limited(path, super.createOutputStream(path, append))

  override protected def createOutputStreamWithMode(
      path: Path,
      append: Boolean,
      permission: org.apache.hadoop.fs.permission.FsPermission): OutputStream =
    limited(path, super.createOutputStreamWithMode(path, append, permission))

  private def limited(path: Path, out: OutputStream): OutputStream =
    if (path.getName != full) out
    else
      new OutputStream {
        override def write(byte: Int): Unit = throw new IOException("No space left on device")
        override def close(): Unit = out.close()
      }
}
