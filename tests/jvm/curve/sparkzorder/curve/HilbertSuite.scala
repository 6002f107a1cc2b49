package sparkzorder.curve

import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

/** The curve is a bijection of unit steps, refined level by level, and the one that HilbertRule names. */
class HilbertSuite extends AnyFunSuite {
  // as many levels as keep an exhaustive walk short
  private val exhaustive = Seq(
    1 -> 10,
    2 -> 1,
    2 -> 2,
    2 -> 4,
    2 -> 5,
    2 -> 6,
    2 -> 8,
    3 -> 1,
    3 -> 2,
    3 -> 3,
    3 -> 4,
    3 -> 5,
    4 -> 1,
    4 -> 2,
    4 -> 3,
    4 -> 4,
    5 -> 1,
    5 -> 2,
    5 -> 3,
    6 -> 1,
    6 -> 2,
    7 -> 2,
    8 -> 1,
    8 -> 2)

  for ((d, bits) <- exhaustive) test(s"d=$d, $bits levels: bijective, unit steps, round trip") {
    val n = 1L << (d * bits)
    val point = new Array[Int](d)
    val before = new Array[Int](d)
    var i = 0L
    while (i < n) {
      HilbertPoint.of(i, d, bits, point)
      assert(point.forall(c => c >= 0 && c < (1 << bits)))
      assert(Hilbert.index(point, d, bits) === i)
      if (i > 0) assert((0 until d).map(j => math.abs(point(j) - before(j))).sum === 1)
      System.arraycopy(point, 0, before, 0, d)
      i += 1
    }
    assert(point.toSeq === ((1 << bits) - 1) +: Seq.fill(d - 1)(0), "it leaves along the first coordinate")
  }

  test("one level in two dimensions is (0,0) (0,1) (1,1) (1,0)") {
    assert(Seq((0, 0), (0, 1), (1, 1), (1, 0)).map(p => Hilbert.index(Array(p._1, p._2), 2, 1)) === Seq(
      0,
      1,
      2,
      3))
  }

  test("two dimensions equal Skilling's curve, for every number of levels") {
    for (bits <- 1 to 7; x <- 0 until (1 << bits); y <- 0 until (1 << bits)) {
      assert(Hilbert.index(Array(x, y), 2, bits) === Skilling.index(Array(x, y), bits).longValueExact)
    }
    val random = new Random(1)
    for (_ <- 0 until 2000) {
      val p = Array.fill(2)(random.nextInt(Int.MaxValue))
      assert(Hilbert.index(p, 2, 31) === Skilling.index(p, 31).longValueExact)
    }
  }

  test("the first level equals Skilling's in every number of dimensions; below it the two curves differ") {
    for (d <- 2 to 12; cell <- 0 until (1 << d)) {
      val p = Array.tabulate(d)(j => (cell >>> (d - 1 - j)) & 1)
      assert(Hilbert.index(p, d, 1) === Skilling.index(p, 1).longValueExact)
    }
    for (d <- 3 to 5) {
      val points = (0L until (1L << (2 * d))).map { i =>
        val p = new Array[Int](d)
        HilbertPoint.of(i, d, 2, p)
        p
      }
      assert(points.exists(p => Hilbert.index(p, d, 2) != Skilling.index(p, 2).longValueExact))
    }
  }

  test("the first levels of an index depend on the first levels of the coordinates only") {
    val random = new Random(2)
    for (d <- 1 to 31; bits <- Seq(2, 63 / d).filter(b => b >= 1 && b <= 32 && b * d <= 63);
      _ <- 0 until 50) {
      val p = Array.fill(d)(random.nextInt() & (-1 >>> (32 - bits)))
      val deep = Hilbert.index(p, d, bits)
      for (k <- 1 until bits)
        assert(
          Hilbert.index(p.map(_ >>> (bits - k)), d, k) === deep >>> (d * (bits - k)),
          s"d=$d $k of $bits")
    }
  }

  test("round trip at full width, up to 63 dimensions") {
    val random = new Random(3)
    for (d <- 1 to 63; _ <- 0 until 200) {
      val bits = math.min(32, 63 / d)
      val p = Array.fill(d)(random.nextInt() & (-1 >>> (32 - bits)))
      val back = new Array[Int](d)
      val i = Hilbert.index(p, d, bits)
      assert(i >= 0)
      HilbertPoint.of(i, d, bits, back)
      assert(back.toSeq === p.toSeq)
    }
  }

  test("all 64 bits of an index, unsigned: round trip, and Skilling's in two dimensions") {
    val random = new Random(5)
    for (d <- Seq(2, 4, 8, 16, 32, 64); _ <- 0 until 500) {
      val bits = 64 / d
      val p = Array.fill(d)(random.nextInt() >>> (32 - bits))
      val back = new Array[Int](d)
      val i = Hilbert.index(p, d, bits)
      HilbertPoint.of(i, d, bits, back)
      assert(back.toSeq === p.toSeq)
      if (d == 2) assert(i === Skilling.index(p, bits).longValue)
    }
  }

  test("bits above the coordinate width are ignored") {
    assert(Hilbert.index(Array(-1, 5), 2, 3) === Hilbert.index(Array(7, 5), 2, 3))
    assert(Hilbert.index(Array(-1, 5, 9, 8, -4), 5, 3) === Hilbert.index(Array(7, 5, 1, 0, 4), 5, 3))
  }

  test("tables agree with the level-by-level rule") {
    val random = new Random(4)
    for (d <- 2 to 4; _ <- 0 until 500) {
      val bits = 1 + random.nextInt(63 / d)
      val p = Array.fill(d)(random.nextInt() & (-1 >>> (32 - bits)))
      var entry = 0L
      var axis = HilbertRule.startAxis(d)
      var expected = 0L
      for (level <- bits - 1 to 0 by -1) {
        val cell = p.foldLeft(0L)((c, x) => (c << 1) | ((x >>> level) & 1))
        val digit = HilbertRule.digit(cell, entry, axis, d)
        entry = HilbertRule.nextEntry(digit, entry, axis, d)
        axis = HilbertRule.nextAxis(digit, axis, d)
        expected = (expected << d) | digit
      }
      assert(Hilbert.index(p, d, bits) === expected)
    }
  }
}
