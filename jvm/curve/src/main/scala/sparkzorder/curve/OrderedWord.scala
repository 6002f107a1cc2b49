package sparkzorder.curve

import java.math.BigInteger

/**
 * Values as numbers in their own order. Integers and times already are; the others become so here.
 * Signed order is used throughout: the raw key flips the top bit where it needs unsigned numbers.
 */
object OrderedWord {

  /** Spark's order of FLOAT: -0.0 = 0.0, every NaN equal and greatest. In 32 bits, sign-extended. */
  def ofFloat(value: Float): Long = {
    val bits = java.lang.Float.floatToIntBits(if (value == 0.0f) 0.0f else value)
    (bits ^ ((bits >> 31) & Int.MaxValue)).toLong
  }

  /** Spark's order of DOUBLE: -0.0 = 0.0, every NaN equal and greatest. */
  def ofDouble(value: Double): Long = {
    val bits = java.lang.Double.doubleToLongBits(if (value == 0.0d) 0.0d else value)
    bits ^ ((bits >> 63) & Long.MaxValue)
  }

  /** A number of at most 128 bits as 16 bytes whose unsigned order is the number's own. */
  def ofBigInteger(value: BigInteger): Array[Byte] = {
    val bytes = value.toByteArray
    val out = new Array[Byte](16)
    if (value.signum < 0) java.util.Arrays.fill(out, 0xff.toByte)
    System.arraycopy(bytes, 0, out, 16 - bytes.length, bytes.length)
    out(0) = (out(0) ^ 0x80).toByte
    out
  }
}
