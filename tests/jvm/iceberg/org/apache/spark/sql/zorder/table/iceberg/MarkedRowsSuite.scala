package org.apache.spark.sql.zorder.table.iceberg

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.SameOnAllLines

/** Which rows a run marks; what is committed of that is for [[IcebergRebaseSuite]]. */
@SameOnAllLines
class MarkedRowsSuite extends AnyFunSuite {

  /** Counted, and never looked at. */
  private object Many extends IndexedSeq[Long] {
    override def length: Int = 1000
    override def apply(i: Int): Long = fail("rows were listed that are too many to be marked")
  }

  test("more rows than may be marked are counted alone") {
    val marked = new MarkedRows(null, null, Map.empty, (_: Iterable[String]) => ())
    assert(!marked.mark(Map.empty, Map("a.parquet" -> Many)))
    assert(marked.counts.isEmpty)
  }
}
