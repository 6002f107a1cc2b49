package sparkzorder.curve.layout

import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

/** The search for a bin against a scan over all of them, at every start and its neighbours. */
class BinIndexSuite extends AnyFunSuite {
  private val random = new Random(12)

  private def slow(starts: Array[Long], value: Long): Int = starts.init.lastIndexWhere(_ <= value)

  private def check(starts: Array[Long]): BinIndex = {
    val index = BinIndex(starts, starts.indices.map(-_.toLong).toArray)
    val near = starts.flatMap(s => Seq(s - 1, s, s + 1))
    val inside = Seq.fill(200)(starts(0) + random.nextInt(1000))
    for (v <- near ++ inside :+ (starts.last - 1) if v >= starts(0) && v < starts.last) {
      val (place, bin) = (index.place(v), slow(starts, v))
      assert(place === 2 * bin && index.start(place) === starts(bin) && index.held(place) === -bin, v)
    }
    index
  }

  private def ascending(n: Int)(value: => Long): Array[Long] = Array.fill(n)(value).distinct.sorted

  test("evenly spread starts need few steps") {
    val index = check(ascending(1025)(random.nextInt(1000000).toLong - 500000))
    assert(index.steps <= 3)
  }

  test("starts that are dense near the first one need few steps, too") {
    for (first <- Seq(0L, -5L, 1L << 60)) {
      val index = check(ascending(1025)(first + (random.nextLong() >>> (2 + random.nextInt(50)))))
      assert(index.steps <= 4)
    }
  }

  test("two far clusters, in one slot each") {
    val cluster = ascending(500)(random.nextInt(4000).toLong)
    check(cluster ++ cluster.map(_ + (1L << 61)))
  }

  test("ranges that do not fit 63 bits: all longs, and pairs that differ in the last bit only") {
    val extremes = Array(Long.MinValue, Long.MinValue + 1, -1L, 0L, 1L, Long.MaxValue - 1, Long.MaxValue)
    check(extremes)
    check((extremes ++ Array.fill(500)(random.nextLong()).flatMap(v => Seq(v & ~1L, v | 1L))).distinct.sorted)
    check(Array(Long.MinValue, Long.MaxValue))
  }

  test("the widest range of 63 bits") {
    check(Array(0L, 1L, Long.MaxValue - 1, Long.MaxValue))
    check(Array(-1L, 0L, Long.MaxValue - 1))
    check(Array(Long.MinValue, Long.MinValue + 7, -2L, -1L))
  }

  test("one bin, and as many as there may be") {
    assert(check(Array(7L, 8L)).steps === 0)
    check(Array.tabulate(ScaleSuite.MostBins + 1)(_.toLong))
  }
}
