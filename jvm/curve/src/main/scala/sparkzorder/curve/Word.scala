package sparkzorder.curve

import java.math.BigInteger

/**
 * One value of a column in the form that everything here compares: a signed 64-bit number or a byte
 * string (unsigned, bytewise, a prefix below its extensions). The order of words is Spark's own order of
 * the column's type; two words of one column are always of the same kind. NULL is not a word.
 */
sealed trait Word extends Ordered[Word] with Serializable

final case class LongWord(value: Long) extends Word {
  override def compare(that: Word): Int = that match {
    case LongWord(other) => java.lang.Long.compare(value, other)
    case _ => throw new IllegalArgumentException("a number is not compared with a byte string")
  }
}

final case class BytesWord(bytes: Array[Byte]) extends Word {
  override def compare(that: Word): Int = that match {
    case BytesWord(other) => BytesWord.compareBytes(bytes, other)
    case BelowBytes(end) => if (BytesWord.compareBytes(bytes, end) < 0) -1 else 1
    case _: LongWord => throw new IllegalArgumentException("a byte string is not compared with a number")
  }

  override def equals(that: Any): Boolean = that match {
    case BytesWord(other) => java.util.Arrays.equals(bytes, other)
    case _ => false
  }

  override def hashCode(): Int = java.util.Arrays.hashCode(bytes)

  override def toString: String = bytes.map(b => f"${b & 0xff}%02x").mkString("BytesWord(", "", ")")
}

/**
 * Where the byte strings below `bytes` end: above every one of them, and below `bytes`. There is no greatest string
 * below another one, so this is the end of an interval that stops short of it; no value has this word.
 */
final case class BelowBytes(bytes: Array[Byte]) extends Word {
  override def compare(that: Word): Int = that match {
    case BelowBytes(other) => BytesWord.compareBytes(bytes, other)
    case value => -value.compare(this)
  }

  override def equals(that: Any): Boolean = that match {
    case BelowBytes(other) => java.util.Arrays.equals(bytes, other)
    case _ => false
  }

  override def hashCode(): Int = ~java.util.Arrays.hashCode(bytes)

  override def toString: String = s"below ${BytesWord(bytes)}"
}

object BytesWord {

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
}

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
