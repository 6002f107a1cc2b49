package org.apache.spark.sql.zorder.clustering.fit

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.LongTest
import sparkzorder.curve.{Block, NormalizedLong, Zone}
import sparkzorder.curve.cost.SortedValues
import sparkzorder.mark.SameOnAllLines

/** Bounds of blocks of which only some rows are known. */
@SameOnAllLines
class ZoneExtrapolationSuite extends AnyFunSuite {
  private val random = new java.util.SplittableRandom(7)

  private def between(a: Long, b: Long): Zone = Zone.Between(NormalizedLong(a), NormalizedLong(b))

  private def widened(values: Array[Long], missing: Double, rows: Long, zone: Zone, file: Zone): Zone =
    new ZoneExtrapolation(IndexedSeq(SortedValues.ofLongs(values)), missing)
      .widened(Block(rows, IndexedSeq(zone)), IndexedSeq(file)).zones.head

  test("sampled ranges are as wide as those of all rows, whatever the distribution", LongTest) {
    val shapes = Seq[Double => Long](x => (x * 1000000).toLong, x => (math.exp(18 * x) * 1000).toLong)
    for (shape <- shapes; n <- Seq(5, 13, 40)) {
      val table = Array.fill(20000)(shape(random.nextDouble()))
      val sorted = table.sorted
      def share(zone: Zone): Double = zone match {
        case Zone.Between(NormalizedLong(a), NormalizedLong(b)) =>
          table.count(v => v >= a && v <= b) / 20000.0
        case _ => 0.0
      }
      // blocks of a tenth of the values each, of which n rows are sampled
      val shares = for (_ <- 1 to 200) yield {
        val from = random.nextInt(18000)
        val rows = Seq.fill(n)(sorted(from + random.nextInt(2000)))
        val told = between(rows.min, rows.max)
        (share(told), share(widened(table, 1.0, n.toLong, told, between(sorted.head, sorted.last))))
      }
      val (plain, better) = (shares.map(_._1).sum / 200, shares.map(_._2).sum / 200)
      assert(plain < 0.1 * (n - 1) / (n + 1) + 0.01, s"$n")
      assert(math.abs(better - 0.1) < 0.008, s"$n rows: $better, without $plain")
    }
  }

  test("one value stays one value, neighbours of few values stay out, the file is the limit") {
    val eight = Array.tabulate(8000)(i => (i % 8).toLong)
    assert(widened(eight, 1.0, 13, between(3, 3), between(0, 7)) === between(3, 3))
    assert(widened(eight, 1.0, 13, between(3, 4), between(0, 7)) === between(3, 4))
    assert(widened(eight, 1.0, 13, between(2, 5), between(0, 7)) === between(2, 5))
    val all = Array.tabulate(1000)(_.toLong)
    assert(widened(all, 1.0, 11, between(100, 200), between(95, 205)) === between(95, 205))
    assert(widened(all, 1.0, 11, between(100, 200), between(0, 999)) === between(90, 210))
    assert(widened(all, 0.0, 11, between(100, 200), between(0, 999)) === between(100, 200))
    assert(widened(all, 1.0, 1, between(100, 100), between(0, 999)) === between(100, 100))
  }
}
