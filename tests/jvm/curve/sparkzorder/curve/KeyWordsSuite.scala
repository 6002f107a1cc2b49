package sparkzorder.curve

import java.math.BigInteger
import org.scalatest.funsuite.AnyFunSuite

import sparkzorder.curve.Reference.Cell

/** Values become words in their own order, whatever the words held before. */
class KeyWordsSuite extends AnyFunSuite {
  private def written(width: Int)(put: Array[Long] => Unit): Seq[Long] = {
    val words = Array.fill(KeyShape.longs(width))(0x5a5a5a5a5a5a5a5aL)
    put(words)
    words.toSeq
  }

  private def expected(width: Int, value: Option[BigInteger]): Seq[Long] =
    Reference.words(Seq(Cell(width, value)))._2.toSeq

  for (width <- Seq(8, 16, 32, 64)) test(s"signed numbers of $width bits and their neighbours") {
    val max = BigInteger.ONE.shiftLeft(width - 1).subtract(BigInteger.ONE).longValueExact
    val values = Seq(-max - 1, -max, -2L, -1L, 0L, 1L, 2L, max / 2, max / 2 + 1, max / 2 + 2, max - 1, max)
    for (v <- values) {
      val unsigned = BigInteger.valueOf(v).add(BigInteger.ONE.shiftLeft(width - 1))
      assert(written(width)(KeyWords.putLong(_, 0, width, v)) === expected(width, Some(unsigned)))
    }
  }

  test("truth values and NULL: NULL < FALSE < TRUE") {
    assert(written(1)(KeyWords.putLong(_, 0, 1, 0L)) === expected(1, Some(BigInteger.ZERO)))
    assert(written(1)(KeyWords.putLong(_, 0, 1, 1L)) === expected(1, Some(BigInteger.ONE)))
    for (width <- Seq(1, 8, 32, 63, 64, 127, 128))
      assert(written(width)(KeyWords.putNull(_, 0, width)) === expected(width, None))
  }

  test("byte strings: the first 16 bytes, padded with zeros") {
    for (n <- 0 to 20) {
      val bytes = Array.tabulate(n)(i => (255 - 7 * i).toByte)
      val first = new BigInteger(1, java.util.Arrays.copyOf(bytes, 16))
      assert(written(128)(KeyWords.putBytes(_, 0, bytes)) === expected(128, Some(first)))
    }
  }

  test("-0.0 is 0.0, every NaN is greatest, and adjacent floating-point numbers stay in order") {
    // Paimon and Iceberg until 2026 scrambled doubles that share their top 32 bits: neighbours show it
    val doubles = Seq(0.0, 1.0, 1.5, 1e-300, 1754000000.123, 52.52, Double.MinPositiveValue, Double.MaxValue)
    for (v <- doubles; s <- Seq(v, -v) if s < Double.MaxValue)
      assert(OrderedBits.ofDouble(s) < OrderedBits.ofDouble(Math.nextUp(s)), s)
    for (v <- Seq(0.0f, 1.0f, 1e-30f, 52.52f, Float.MinPositiveValue); s <- Seq(v, -v))
      assert(OrderedBits.ofFloat(s) < OrderedBits.ofFloat(Math.nextUp(s)), s)
    assert(OrderedBits.ofDouble(-0.0) === OrderedBits.ofDouble(0.0))
    assert(OrderedBits.ofFloat(-0.0f) === OrderedBits.ofFloat(0.0f))
    val otherNaN = java.lang.Double.longBitsToDouble(0xfff8000000000001L)
    assert(OrderedBits.ofDouble(otherNaN) === OrderedBits.ofDouble(Double.NaN))
    assert(OrderedBits.ofDouble(Double.NaN) > OrderedBits.ofDouble(Double.PositiveInfinity))
    assert(OrderedBits.ofFloat(Float.NaN) > OrderedBits.ofFloat(Float.PositiveInfinity))
    assert(OrderedBits.ofDouble(Double.NegativeInfinity) < OrderedBits.ofDouble(-Double.MaxValue))
  }

  test("numbers of up to 128 bits, negative ones of unlike length") {
    val values = Seq(
      "-99999999999999999999999999999999999999",
      "-256",
      "-129",
      "-128",
      "-1",
      "0",
      "1",
      "127",
      "128",
      "99999999999999999999999999999999999999").map(new BigInteger(_))
    for ((a, b) <- values.zip(values.tail))
      assert(
        NormalizedBytes.compareBytes(OrderedBits.ofBigInteger(a), OrderedBits.ofBigInteger(b)) < 0,
        s"$a < $b")
  }
}
