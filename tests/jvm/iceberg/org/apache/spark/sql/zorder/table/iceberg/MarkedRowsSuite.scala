package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{DataFiles, PartitionSpec}
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
    val written = DataFiles.builder(PartitionSpec.unpartitioned()).withPath("n.parquet")
      .withFileSizeInBytes(10L).withRecordCount(10L).build()
    marked.places = Some(RowPlaces(Map("n.parquet" -> Array.range(0, 10).map(_.toLong))))
    assert(!marked.mark(Map("n.parquet" -> written), Map("a.parquet" -> Many)))
    assert(marked.counts.isEmpty)
  }
}
