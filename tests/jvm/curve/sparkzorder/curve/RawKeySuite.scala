package sparkzorder.curve

import java.math.BigInteger
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

import sparkzorder.curve.Reference.Cell

/** Interleaving, its way back, the Hilbert key and the MSD order against the bit-by-bit reference. */
class RawKeySuite extends AnyFunSuite {
  private def cell(width: Int, value: Long): Cell = Cell(width, Some(BigInteger.valueOf(value)))

  private def check(row: Seq[Cell]): Unit = {
    val (shape, words) = Reference.words(row)
    val key = Interleave.key(shape, words)
    if (Reference.hex(key) != Reference.hex(Reference.zorder(row))) fail(s"zorder of $row")
    if (!java.util.Arrays.equals(Deinterleave.words(shape, key), words)) fail(s"way back of $row")
    val curve = HilbertKey.key(shape, words)
    if (Reference.hex(curve) != Reference.hex(Reference.hilbert(row))) fail(s"hilbert of $row")
  }

  /** Every shape of 1 to `columns` columns of 1 to 4 bits. */
  private def shapes(columns: Int): Seq[Seq[Int]] =
    (1 to columns).flatMap(n =>
      (1 to n).foldLeft(Seq(Seq.empty[Int]))((s, _) => s.flatMap(w => (1 to 4).map(w :+ _))))

  private def values(width: Int): Seq[Cell] =
    Cell(width, None) +: (0 until (1 << width)).map(v => cell(width, v.toLong))

  test("all values of all shapes of up to 3 columns of up to 4 bits, and of 4 columns of 4 bits at random") {
    for (shape <- shapes(3)) {
      val rows = shape.foldLeft(Seq(Seq.empty[Cell]))((rows, w) => rows.flatMap(r => values(w).map(r :+ _)))
      rows.foreach(check)
    }
    val random = new Random(5)
    for (shape <- shapes(4); _ <- 0 until 40) check(shape.map(w => values(w)(random.nextInt(values(w).size))))
  }

  test("every row of every shape of 4 columns of up to 4 bits, NULLs included: 1.3 million rows") {
    for (widths <- shapes(4) if widths.length == 4) {
      val shape = new KeyShape(widths.toArray)
      val words = new Array[Long](4)
      val sizes = widths.map(w => (1 << w) + 1).toArray
      var row = 0
      while (row < sizes.product) {
        // each column as 1 + width bits, the NULL bit on top
        val columns = new Array[Int](4)
        var rest = row
        for (i <- 0 until 4) {
          val v = rest % sizes(i)
          rest /= sizes(i)
          columns(i) = if (v == 0) 0 else (1 << widths(i)) | (v - 1)
          words(i) = columns(i).toLong << (63 - widths(i))
        }
        var expected = 0L
        var level = 0
        while (level < shape.levels) {
          var i = 0
          while (i < 4) {
            if (level <= widths(i)) expected = (expected << 1) | ((columns(i) >>> (widths(i) - level)) & 1)
            i += 1
          }
          level += 1
        }
        expected <<= shape.zorderBytes * 8 - widths.map(_ + 1).sum
        val key = Interleave.key(shape, words)
        var got = 0L
        for (b <- key) got = (got << 8) | (b & 0xff)
        if (got != expected) fail(s"$widths ${columns.toSeq}")
        row += 1
      }
    }
  }

  test("all pairs of 4 columns of 4 bits: the order of the keys is the order of the interleaved number") {
    // Impala's manual check (60a9e72fa): the columns of a and b differ in every possible way
    val shape = new KeyShape(Array(4, 4, 4, 4))
    val keys = new Array[Long](1 << 16)
    val words = Array.tabulate(1 << 16) { v =>
      val row = new Array[Long](4)
      for (i <- 0 until 4) KeyWords.putLong(row, i, 4, ((v >>> (12 - 4 * i)) & 15).toLong - 8)
      keys(v) = new BigInteger(1, Interleave.key(shape, row)).longValueExact
      row
    }
    // all pairs by transitivity: every pair of neighbours in key order, and 2 million pairs at random
    val order = words.indices.sortBy(keys(_))
    for (i <- 1 until order.length)
      assert(MsdOrder.compare(shape, words(order(i - 1)), words(order(i))) === -1)
    val random = new Random(6)
    var i = 0
    while (i < 2000000) {
      val (a, b) = (random.nextInt(1 << 16), random.nextInt(1 << 16))
      if (MsdOrder.compare(shape, words(a), words(b)) != java.lang.Long.compare(keys(a), keys(b)))
        fail(s"$a, $b")
      i += 1
    }
  }

  private val widths = Seq(1, 2, 8, 16, 31, 32, 33, 62, 63, 64, 65, 126, 127, 128)

  test("wide and mixed columns, up to 70 of them, at random and at the extremes") {
    val random = new Random(7)
    def any(width: Int): Cell = random.nextInt(6) match {
      case 0 => Cell(width, None)
      case 1 => Cell(width, Some(BigInteger.ZERO))
      case 2 => Cell(width, Some(BigInteger.ONE.shiftLeft(width).subtract(BigInteger.ONE)))
      case 3 => Cell(width, Some(BigInteger.ONE.shiftLeft(random.nextInt(width))))
      case _ => Cell(width, Some(new BigInteger(width, random.self)))
    }
    for (w <- widths) for (_ <- 0 until 20) check(Seq(any(w)))
    for (a <- widths; b <- widths; _ <- 0 until 5) check(Seq(any(a), any(b)))
    for (n <- Seq(3, 4, 5, 6, 7, 8, 9, 10, 12, 17, 33, 55, 56, 57, 63, 64, 65, 70); _ <- 0 until 20) {
      val same = widths(random.nextInt(widths.size))
      check(Seq.fill(n)(any(same)))
      check(Seq.fill(n)(any(widths(random.nextInt(widths.size)))))
    }
  }

  test("MSD order is the order of the keys: neighbours, equal rows, extremes, NULL") {
    val random = new Random(8)
    for (_ <- 0 until 20000) {
      val shape = Seq.fill(1 + random.nextInt(5))(widths(random.nextInt(widths.size)))
      val a =
        shape.map(w => Cell(w, if (random.nextInt(5) == 0) None else Some(new BigInteger(w, random.self))))
      val b = a.map { c =>
        val top = BigInteger.ONE.shiftLeft(c.width).subtract(BigInteger.ONE)
        random.nextInt(5) match {
          case 0 => Cell(c.width, None)
          case 1 => Cell(c.width, c.value.map(_.add(BigInteger.ONE).and(top)))
          case 2 => Cell(c.width, c.value.map(_.flipBit(random.nextInt(c.width))))
          case _ => c
        }
      }
      val (keyShape, x) = Reference.words(a)
      val (_, y) = Reference.words(b)
      val byKey =
        Integer.signum(NormalizedBytes.compareBytes(Interleave.key(keyShape, x), Interleave.key(keyShape, y)))
      assert(MsdOrder.compare(keyShape, x, y) === byKey, s"$a, $b")
      assert(MsdOrder.compare(keyShape, y, x) === -byKey)
      assert(MsdOrder.compare(keyShape, x, x) === 0)
    }
  }

  test("the key's length depends on the widths only, and the NULL bit counts") {
    assert(new KeyShape(Array(32, 32)).zorderBytes === 9)
    assert(new KeyShape(Array(64)).zorderBytes === 9)
    assert(new KeyShape(Array(1)).zorderBytes === 1)
    assert(new KeyShape(Array(1, 128)).zorderBytes === 17)
    assert(new KeyShape(Array(1, 128)).hilbertBytes === 33)
  }

  test("a shape without columns, or with a column of no or too many bits, is refused") {
    for (bad <- Seq(Array.empty[Int], Array(0), Array(129)))
      assertThrows[IllegalArgumentException](new KeyShape(bad))
  }
}
