package org.apache.spark.sql.zorder.clustering.fit

import org.scalatest.funsuite.AnyFunSuite
import sparkzorder.mark.SameOnAllLines

/** Rank correlation of sampled columns. */
@SameOnAllLines
class RankCorrelationSuite extends AnyFunSuite {
  private val n = 3000

  private def column(f: Int => Long, isNull: Int => Boolean = _ => false): SampleColumn =
    LongSample(Array.tabulate(n)(f), Array.tabulate(n)(isNull))

  private def of(a: SampleColumn, b: SampleColumn): Double =
    RankCorrelation.of(Sample(IndexedSeq(a, b)), 0, 1)

  test("rising, falling, curved, unrelated, constant") {
    val up = column(i => i.toLong)
    assert(of(up, column(i => i.toLong * i)) > 0.9999)
    assert(of(up, column(i => -3L * i)) < -0.9999)
    assert(math.abs(of(up, column(i => (i * 7919L) % 3001))) < 0.06)
    assert(of(up, column(_ => 4L)) === 0.0)
  }

  test("rows with a NULL do not count") {
    val holes = column(i => if (i % 3 == 0) -1000000L else i.toLong, _ % 3 == 0)
    assert(of(column(i => i.toLong), holes) > 0.9999)
    assert(of(column(i => i.toLong), column(i => i.toLong, _ => true)) === 0.0)
  }
}
