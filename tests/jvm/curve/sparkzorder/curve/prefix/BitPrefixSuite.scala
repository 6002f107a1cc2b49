package sparkzorder.curve.prefix

import java.math.BigInteger
import org.scalatest.funsuite.AnyFunSuite
import scala.util.Random

import sparkzorder.curve.{HilbertKey, Interleave, KeyShape, KeyWords, Reference}
import sparkzorder.curve.Reference.Cell

/** Prefixes of varying bits against the bits of whole keys, taken one by one. */
class BitPrefixSuite extends AnyFunSuite {
  private val random = new Random(11)

  private def bitsOf(key: Array[Byte], length: Int): String =
    key.map(b => (0 until 8).map(i => (b >>> (7 - i)) & 1).mkString).mkString.take(length)

  /** Rows whose column `i` takes values below `bounds(i)`, some of them NULL. */
  private def rows(widths: Seq[Int], values: Seq[Int], n: Int): Seq[Seq[Cell]] = Seq.fill(n) {
    widths.zip(values).map { case (w, most) =>
      Cell(
        w,
        if (random.nextInt(20) == 0) None else Some(BigInteger.valueOf((random.nextInt(most)).toLong)))
    }
  }

  /** The prefix as the reference has it: the first 64 bits from `from` on in which the keys differ. */
  private def slowly(keys: Seq[String], from: Int): (Seq[Long], Int) = {
    val differing = (from until keys.head.length).filter(i => keys.exists(_(i) != keys.head(i)))
    val chosen = differing.take(64)
    val end = if (chosen.length == 64) chosen.last + 1 else keys.head.length
    (keys.map(k => chosen.foldLeft(0L)((out, i) => (out << 1) | (k(i) - '0').toLong)), end)
  }

  private def check(bits: KeyBits, words: Seq[Array[Long]], keys: Seq[String]): Unit = {
    assert(bits.length === keys.head.length)
    val varying = new VaryingBits(bits.words)
    words.foreach(w => assert(varying.add(w)))
    for (from <- Seq(0, 1, bits.length / 2, bits.length)) {
      val prefix = BitPrefix.of(bits, from, varying.varying)
      val (expected, end) = slowly(keys, from)
      assert(words.map(prefix(_)) === expected)
      assert(prefix.end === end)
      val rest = keys.exists(_.drop(end) != keys.head.drop(end))
      assert(bits.anyFrom(end, varying.varying) === rest)
    }
    for ((a, x) <- words.zip(keys).take(20); (b, y) <- words.zip(keys).take(20))
      assert(bits.compare(a, b) === Integer.signum(x.compareTo(y)))
  }

  private val widthsAndValues = Seq(
    Seq(32 -> 700, 64 -> 3000000),
    Seq(1 -> 2, 8 -> 256, 16 -> 60000),
    Seq(64 -> 1),
    Seq(128 -> 5, 32 -> 1, 128 -> Int.MaxValue),
    Seq(64 -> Int.MaxValue, 64 -> Int.MaxValue, 64 -> Int.MaxValue),
    Seq.fill(8)(32 -> 100000))

  for (columns <- widthsAndValues)
    test(s"interleaved: ${columns.map { case (w, n) => s"$n values of $w bits" }.mkString(", ")}") {
      val rowsOf = rows(columns.map(_._1), columns.map(_._2), 200).map(Reference.words)
      val shape = rowsOf.head._1
      val length = columns.map(_._1 + 1).sum
      val words = rowsOf.map(_._2)
      check(
        KeyBits.interleaved(shape),
        words,
        words.map(w => bitsOf(Interleave.key(shape, w), length)))
    }

  test("a key that is one sequence of bits: Hilbert") {
    for (columns <- widthsAndValues if columns.length > 1) {
      val rowsOf = rows(columns.map(_._1), columns.map(_._2), 100).map(Reference.words)
      val shape = rowsOf.head._1
      val bits = KeyBits.sequence(shape.columns * shape.levels)
      val keys = rowsOf.map { case (_, w) => HilbertKey.key(shape, w) }
      val words = keys.map { k =>
        val out = Array.fill(bits.words)(-1L)
        KeyWords.putKey(out, k)
        out
      }
      check(bits, words, keys.map(bitsOf(_, bits.length)))
    }
  }

  test("every bit that may widen a prefix is noticed, whichever row it comes with, and once a byte") {
    val shape = new KeyShape(Array(32, 64))
    val bits = KeyBits.interleaved(shape)
    for (place <- bits.places) {
      val varying = new VaryingBits(bits.words)
      val row = new Array[Long](bits.words)
      assert(varying.add(row))
      varying.expect(BitPrefix.of(bits, 0, varying.varying))
      val late = row.clone()
      late(place >>> 6) |= Long.MinValue >>> (place & 63)
      assert(!varying.add(late))
      assert(varying.varying.forall(_ == 0L), "a row that is refused is not seen")
      val wider = varying.widenedBy(late)
      varying.expect(BitPrefix.of(bits, 0, wider))
      assert(varying.add(late))
      for (other <- bits.places if other >>> 3 == place >>> 3) {
        val inSameByte = row.clone()
        inSameByte(other >>> 6) |= Long.MinValue >>> (other & 63)
        assert(varying.add(inSameByte))
      }
    }
  }

  test("bits behind the 64th are not expected to be constant") {
    val bits = KeyBits.sequence(192)
    val varying = new VaryingBits(3)
    varying.add(Array(0L, 0L, 0L))
    varying.add(Array(-1L, 0L, 0L))
    varying.expect(BitPrefix.of(bits, 0, varying.varying))
    assert(varying.add(Array(1L, 5L, 6L)))
    assert(BitPrefix.of(bits, 64, varying.varying)(Array(1L, 4L, 2L)) === Integer.parseInt("1001", 2))
    assert(BitPrefix.nothing(bits)(Array(-1L, -1L, -1L)) === 0L)
  }
}
