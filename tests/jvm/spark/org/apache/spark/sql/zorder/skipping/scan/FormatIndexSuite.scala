package org.apache.spark.sql.zorder.skipping.scan

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.LongType
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.index.{
  ColumnRanges,
  FileColumn,
  IndexedColumn,
  IndexedFiles,
  StatisticsIndex
}
import org.apache.spark.sql.zorder.skipping.predicate.TopRows
import sparkzorder.curve.NormalizedValue
import sparkzorder.mark.SameOnAllLines

/** What an index of a table of a format leaves out of a list, and what it says nothing of. */
@SameOnAllLines
class FormatIndexSuite extends AnyFunSuite {
  private val normalize: Any => NormalizedValue = Normalization.of(LongType).get.normalize

  /** Three files: file n has the ids 10 n to 10 n + 9. */
  private val index = {
    val ranges = FileColumn.ranges(
      LongType,
      (0 until 3).map(n => FileColumn.between(normalize(10L * n), normalize(10L * n + 9), 0L)))
    new StatisticsIndex(
      IndexedFiles.of((0 until 3).map(n => (s"f$n", 7L, 0L, 10L))),
      IndexedSeq(IndexedColumn("id", Seq("id"), LongType, absentIsNull = true)),
      caseSensitive = false,
      (_: Int) => Option[ColumnRanges](ranges),
      identities = Map("id" -> "1"))
  }

  private val id = AttributeReference("id", LongType)()
  private val is15 = EqualTo(id, Literal(15L))

  private def list(identities: Map[String, String]): NarrowedList = new NarrowedList(
    new Path("/t"),
    new AskedOfFormat(mostListed = 200),
    _ => false,
    _ => None,
    Some(new FormatIndex(index, path => path.stripPrefix("/t/"), identities)))

  private def left(list: NarrowedList, filter: Expression, files: (String, Long)*): Seq[String] =
    list.narrow(Seq(filter), files)(f => FileIdentity(f._1, f._2, 99L)).map(_._1)

  private val files = Seq("/t/f0" -> 7L, "/t/f1" -> 7L, "/t/f2" -> 7L)

  test("files are found by path and length, whatever their times") {
    assert(left(list(Map("id" -> "1")), is15, files: _*) === Seq("/t/f1"))
    assert(left(list(Map("id" -> "1")), is15, "/t/f0" -> 8L, "/t/f2" -> 7L, "/t/f3" -> 7L) ===
      Seq("/t/f0", "/t/f3"))
  }

  test("a file that came under the path of an earlier one is left") {
    val brought = files.map { case (path, length) => FileIdentity(path, length, 99L, generation = 3L) }
    assert(list(Map("id" -> "1")).narrow(Seq(is15), brought)(f => f) === brought)
  }

  test("a column of which files have something else is not answered") {
    for (other <- Seq(Map("id" -> "2"), Map.empty[String, String]))
      assert(left(list(other), is15, files: _*) === files.map(_._1))
  }

  test("it is asked of filters that name what it tells of, and of no first rows") {
    val asked = list(Map("id" -> "1"))
    val top = TopRows(SortOrder(id, Ascending), id, 3L, Nil)
    val other = EqualTo(AttributeReference("other", LongType)(), Literal(1L))
    assert(asked.own(Seq(is15, other, top)).map(_._1) === Some(Seq(is15)))
    assert(asked.own(Seq(other, top)).isEmpty && asked.own(Nil).isEmpty)
    // bounds are asked of the first rows
    assert(asked.asks(Seq(is15, other, top)) === Seq(is15, top))
    assert(!asked.asksBlooms(is15))
  }

  test("a table without an index has the list of its format") {
    val none = new NarrowedList(new Path("/t"), new AskedOfFormat(1), _ => false, _ => None, None)
    assert(left(none, is15, files: _*) === files.map(_._1))
  }
}
