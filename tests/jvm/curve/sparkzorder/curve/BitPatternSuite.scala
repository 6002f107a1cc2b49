package sparkzorder.curve

import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

/** Codes by a bit pattern against strings of bits, and the way back. */
class BitPatternSuite extends AnyFunSuite {

  /** The code as a string of bits: each turn takes the next digit of its column. */
  private def slow(turns: Seq[Int], widths: Seq[Int], point: Seq[Int]): Long = {
    val digits = point.zip(widths).map { case (x, w) =>
      val all = "0" * 32 + (x & 0xffffffffL).toBinaryString
      all.takeRight(w).iterator
    }
    java.lang.Long.parseUnsignedLong(turns.map(c => digits(c).next()).mkString, 2)
  }

  /** The point without the bits that have no turn. */
  private def kept(turns: Seq[Int], widths: Seq[Int], point: Seq[Int]): Seq[Int] =
    widths.indices.map { c =>
      val taken = turns.count(_ == c)
      val mask = if (taken == 0) 0L else (-1L >>> (64 - taken)) << (widths(c) - taken)
      (point(c) & mask).toInt
    }

  private def check(turns: Seq[Int], widths: Seq[Int])(points: Iterator[Seq[Int]]): Unit = {
    val pattern = new BitPattern(turns.toArray, widths.toArray)
    val back = Array.fill(widths.length)(-1)
    for (point <- points) {
      val code = pattern.code(point.toArray)
      if (code != slow(turns, widths, point)) fail(s"$turns $widths $point: $code")
      pattern.point(code, back)
      if (back.toSeq != kept(turns, widths, point)) fail(s"way back of $turns $widths $point")
    }
  }

  private def everyPoint(widths: Seq[Int]): Iterator[Seq[Int]] =
    widths.foldLeft(Iterator(Seq.empty[Int])) { (points, w) =>
      points.flatMap(p => Iterator.range(0, 1 << w).map(p :+ _))
    }

  /** Every order of turns in which each column has at most its width. */
  private def everyPattern(left: Seq[Int]): Iterator[List[Int]] =
    Iterator(Nil) ++ left.indices.iterator.filter(left(_) > 0).flatMap { c =>
      everyPattern(left.updated(c, left(c) - 1)).map(c :: _)
    }

  test("every point of every pattern of up to 3 columns of 1 to 3 bits") {
    val shapes = (1 to 3).flatMap(n =>
      (1 to n).foldLeft(Seq(Seq.empty[Int]))((s, _) => s.flatMap(w => (1 to 3).map(w :+ _))))
    for (widths <- shapes if widths.sum <= 6; turns <- everyPattern(widths) if turns.nonEmpty)
      check(turns, widths)(everyPoint(widths))
  }

  test("neighbours: carries across bytes, single bits, extremes; 1 to 8 columns of up to 32 bits") {
    val random = new Random(9)
    val edges = Seq(0, 1, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000, Int.MaxValue, Int.MinValue, -1)
    for (columns <- 1 to 8; _ <- 0 until 60) {
      val widths = Seq.fill(columns)(1 + random.nextInt(32))
      val all = random.shuffle(widths.indices.flatMap(c => Seq.fill(widths(c))(c)))
      val turns = all.take(1 + random.nextInt(math.min(64, all.length)))
      val start = Seq.fill(columns)(edges(random.nextInt(edges.length)))
      val near = for (c <- 0 until columns; d <- Seq(-1, 1)) yield start.updated(c, start(c) + d)
      val flipped = for (c <- 0 until columns; b <- 0 until 32) yield start.updated(c, start(c) ^ (1 << b))
      check(turns, widths)((start +: (near ++ flipped)).iterator)
    }
  }

  test("columns in turn are the Morton code, one after the other is a sort") {
    val random = new Random(10)
    val morton = new BitPattern(Array.tabulate(64)(_ % 2), Array(32, 32))
    val lexical = new BitPattern(Array.tabulate(62)(_ / 31), Array(31, 31))
    for (_ <- 0 until 2000) {
      val (a, b) = (random.nextInt(), random.nextInt())
      assert(morton.code(Array(a, b)) === Morton.morton2(a, b))
      val (x, y) = (a & Int.MaxValue, b & Int.MaxValue)
      assert(lexical.code(Array(x, y)) === ((x.toLong << 31) | y))
    }
  }

  test("the number of bits; a column without a turn is not read") {
    val pattern = new BitPattern(Array(2, 0, 2), Array(30, 30, 30))
    assert(pattern.bits === 3)
    assert(pattern.code(Array(1 << 29, -1, 1 << 28)) === 3L)
  }

  test("no turn, too many, or one of a column that is not there is refused") {
    val bad = Seq(
      (Array.empty[Int], Array(4)),
      (Array.fill(65)(0), Array(32, 32)),
      (Array(1), Array(4)),
      (Array(-1), Array(4)),
      (Array(0, 0), Array(1)),
      (Array(0), Array(0)),
      (Array(0), Array(33)))
    for ((turns, widths) <- bad) assertThrows[IllegalArgumentException](new BitPattern(turns, widths))
  }
}
