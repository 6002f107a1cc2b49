package org.apache.spark.sql.zorder.clustering.forecast

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.mark.SameOnAllLines

/** How many rows Parquet's writer puts into a row group. */
@SameOnAllLines
class RowGroupRowsSuite extends AnyFunSuite {
  private val Limit = 128L << 20

  test("a row group ends near its limit") {
    for (bytes <- Seq(1.0, 2.0, 8.0, 100.0, 5000.0)) {
      val rows = RowGroupRows(bytes, bytes).of(Limit, 20000)
      assert(rows * bytes <= Limit * 1.001 && rows * bytes >= Limit * 0.95, bytes)
    }
  }

  test("rows of less than a byte are not counted one by one") {
    for (bytes <- Seq(0.9, 0.5, 0.003, 1e-9)) {
      val rows = RowGroupRows(bytes, 8.0).of(Limit, 20000)
      assert(math.abs(rows * bytes / Limit - 1.0) < 0.001, bytes)
    }
    assert(RowGroupRows(0.0, 8.0).of(Limit, 20000) == Double.MaxValue)
  }

  test("a limit that no row group reaches ends the count, too") {
    assert(RowGroupRows(100.0, 100.0).of(Long.MaxValue / 4, 20000) >= Int.MaxValue)
  }
}
