package sparkzorder.curve

import java.math.BigInteger
import java.util.Comparator

/**
 * One value of a column in the form that everything here compares: a signed 64-bit number or a byte
 * string (unsigned, bytewise, a prefix below its extensions). The order of normalized values is
 * Spark's own order of the column's type; two of one column are always of the same kind. NULL has none.
 */
sealed trait NormalizedValue extends Ordered[NormalizedValue] with Serializable

final case class NormalizedLong(value: Long) extends NormalizedValue {
  override def compare(that: NormalizedValue): Int = that match {
    case NormalizedLong(other) => java.lang.Long.compare(value, other)
    case _ => throw new IllegalArgumentException("a number is not compared with a byte string")
  }
}

final case class NormalizedBytes(bytes: Array[Byte]) extends NormalizedValue {
  override def compare(that: NormalizedValue): Int = that match {
    case NormalizedBytes(other) => NormalizedBytes.compareBytes(bytes, other)
    case BelowBytes(end) => if (NormalizedBytes.compareBytes(bytes, end) < 0) -1 else 1
    case _: NormalizedLong =>
      throw new IllegalArgumentException("a byte string is not compared with a number")
  }

  override def equals(that: Any): Boolean = that match {
    case NormalizedBytes(other) => java.util.Arrays.equals(bytes, other)
    case _ => false
  }

  override def hashCode(): Int = java.util.Arrays.hashCode(bytes)

  override def toString: String = bytes.map(b => f"${b & 0xff}%02x").mkString("NormalizedBytes(", "", ")")
}

/**
 * Where the byte strings below `bytes` end: above every one of them, and below `bytes`. There is no greatest
 * string below another one, so this is the end of an interval that stops short of it; no value is normalized
 * to it.
 */
final case class BelowBytes(bytes: Array[Byte]) extends NormalizedValue {
  override def compare(that: NormalizedValue): Int = that match {
    case BelowBytes(other) => NormalizedBytes.compareBytes(bytes, other)
    case value => -value.compare(this)
  }

  override def equals(that: Any): Boolean = that match {
    case BelowBytes(other) => java.util.Arrays.equals(bytes, other)
    case _ => false
  }

  override def hashCode(): Int = ~java.util.Arrays.hashCode(bytes)

  override def toString: String = s"below ${NormalizedBytes(bytes)}"
}

object NormalizedBytes {

  /** Unsigned bytewise order, the shorter of two strings with a common prefix first. */
  def compareBytes(a: Array[Byte], b: Array[Byte]): Int = {
    val n = math.min(a.length, b.length)
    var i = 0
    while (i < n) {
      val x = a(i) & 0xff
      val y = b(i) & 0xff
      if (x != y) return if (x < y) -1 else 1
      i += 1
    }
    Integer.compare(a.length, b.length)
  }

  /** [[compareBytes]] as a comparator. */
  val order: Comparator[Array[Byte]] = new Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = compareBytes(a, b)
  }
}

/**
 * Values as numbers in their own order. Integers and times already are; the others become so here.
 * Signed order is used throughout: the raw key flips the top bit where it needs unsigned numbers.
 */
object OrderedBits {

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
