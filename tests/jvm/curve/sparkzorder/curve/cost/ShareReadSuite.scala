package sparkzorder.curve.cost

import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

class ShareReadSuite extends AnyFunSuite {
  private def longs(values: Long*): SortedValues = SortedValues.ofLongs(values.toArray)
  private def between(min: Long, max: Long): Zone = Zone.Between(NormalizedLong(min), NormalizedLong(max))
  private def text(s: String): NormalizedValue = NormalizedBytes(s.getBytes("UTF-8"))

  test("share read of disjoint blocks is the share of each block, weighed by its values") {
    val blocks = Seq((10L, between(0, 9)), (30L, between(10, 39)))
    assert(ShareRead.of(blocks, longs((0L until 40L): _*)) == (10 * 10 + 30 * 30) / (40.0 * 40))
  }

  test("Unknown counts fully, OnlyNulls never") {
    val values = longs(1, 2, 3)
    assert(ShareRead.of(Seq((5L, Zone.Unknown), (5L, Zone.OnlyNulls)), values) == 0.5)
    assert(ShareRead.of(Seq((5L, Zone.Unknown), (15L, between(1, 3))), longs()) == 0.25)
    assert(ShareRead.of(Nil, values) == 0.0)
  }

  test("bounds are inclusive, duplicates count, empty ranges hold nothing") {
    val values = longs(5, 5, 7, 9)
    assert(values.countIn(between(5, 5)) == 2)
    assert(values.countIn(between(5, 9)) == 4)
    assert(values.countIn(between(6, 6)) == 0)
    assert(values.countIn(between(9, 5)) == 0)
    assert(values.countIn(between(Long.MinValue, Long.MaxValue)) == 4)
  }

  test("byte strings compare unsigned and a prefix comes first") {
    val values = SortedValues.of(Seq(text("b"), text("é"), text("a"), text("ab")))
    assert(values.countIn(Zone.Between(text("a"), text("ab"))) == 2)
    assert(values.countIn(Zone.Between(text("c"), text("zzz"))) == 0)
    assert(values.countIn(Zone.Between(text("c"), text("é"))) == 1)
    assert(values.countIn(Zone.Between(text("z"), text("a"))) == 0)
  }

  test("share read agrees with its definition on random zones") {
    val random = new scala.util.Random(7)
    (1 to 50).foreach { _ =>
      val values = Seq.fill(1 + random.nextInt(60))(random.nextInt(40).toLong)
      val blocks = Seq.fill(1 + random.nextInt(20)) {
        val zone = random.nextInt(8) match {
          case 0 => Zone.Unknown
          case 1 => Zone.OnlyNulls
          case _ =>
            val low = random.nextInt(40).toLong
            between(low, low + random.nextInt(15))
        }
        (1L + random.nextInt(100), zone)
      }
      val rows = blocks.map(_._1).sum.toDouble
      def holds(zone: Zone, v: Long): Boolean = zone match {
        case Zone.Unknown => true
        case Zone.OnlyNulls => false
        case Zone.Between(min, max) => min <= NormalizedLong(v) && NormalizedLong(v) <= max
      }
      def read(v: Long): Double = blocks.collect { case (r, z) if holds(z, v) => r }.sum / rows
      val slow = values.map(read).sum / values.size
      assert(math.abs(ShareRead.of(blocks, longs(values: _*)) - slow) < 1e-12)
    }
  }

  test("columns of the same blocks") {
    val blocks = Seq(
      Block(1, IndexedSeq(between(0, 1), between(0, 0))),
      Block(1, IndexedSeq(between(0, 1), between(1, 1))))
    assert(ShareRead.ofColumns(blocks, IndexedSeq(longs(0, 1), longs(0, 1))) == IndexedSeq(1.0, 0.5))
  }

  test("100,000 values against 100,000 blocks take well under five seconds") {
    val values = SortedValues.ofLongs(Array.tabulate(100000)(i => (i * 7919L) % 1000003L))
    val blocks = (0 until 100000).map(i => (20L, between(i * 10L, i * 10L + 50)))
    val start = System.nanoTime()
    val share = ShareRead.of(blocks, values)
    assert(share > 0 && share < 0.001)
    assert(System.nanoTime() - start < 5000000000L)
  }
}
