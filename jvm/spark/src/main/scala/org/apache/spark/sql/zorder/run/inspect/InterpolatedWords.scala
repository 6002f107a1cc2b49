package org.apache.spark.sql.zorder.run.inspect

import java.nio.ByteBuffer

import sparkzorder.curve.{BytesWord, LongWord, Word}
import sparkzorder.curve.layout.BytesScale

/** Words that lie between two others, as if there were one at every place. */
private[run] object InterpolatedWords {

  /** @param part 0 for a word near `min`, 1 for one near `max` */
  def word(min: Word, max: Word, part: Double): Word = (min, max) match {
    case _ if min == max => min
    case (LongWord(a), LongWord(b)) => LongWord(number(a, b, part))
    case (BytesWord(a), BytesWord(b)) =>
      val shared = BytesScale.commonPrefix(a, b)
      val middle = ByteBuffer.allocate(8).putLong(number(head(a, shared), head(b, shared), part) << 8).array
      BytesWord(b.take(shared) ++ middle.take(Head))
    case _ => min
  }

  private val Head = 7

  /** The bytes after the shared ones as a number; what is left out of `max` is after it. */
  private def head(bytes: Array[Byte], from: Int): Long =
    (0 until Head).foldLeft(0L)((n, i) =>
      n << 8 | (if (from + i < bytes.length) bytes(from + i) & 0xffL else 0L))

  private def number(a: Long, b: Long, part: Double): Long = {
    val distance = b - a
    val at = if (distance >= 0) a + (distance * part).toLong else (a * (1 - part) + b * part).toLong
    math.max(a, math.min(b, at))
  }
}
