package org.apache.spark.sql.zorder.run.inspect

import java.nio.ByteBuffer

import sparkzorder.curve.{BytesWord, LongWord, Word, Zone}
import sparkzorder.curve.layout.BytesScale

/** Values to look up in a file of which only the min and max are known: some that lie between them. */
private[zorder] object Probes {

  /** Not the ends: for an unsorted column they are extreme values, which few other files contain. */
  private val Positions = Seq(0.125, 0.375, 0.625, 0.875)

  /** Bytes after the common prefix that are interpolated. */
  private val Head = 7

  /** Values inside a range; none if the range is unknown. */
  def of(zone: Zone): Seq[Word] = zone match {
    case Zone.Between(min, max) => Positions.map(between(min, max, _))
    case _ => Nil
  }

  /** @param position 0 for a word near `min`, 1 for one near `max` */
  private[inspect] def between(min: Word, max: Word, position: Double): Word = (min, max) match {
    case _ if min == max => min
    case (LongWord(a), LongWord(b)) => LongWord(number(a, b, position))
    case (BytesWord(a), BytesWord(b)) =>
      val shared = BytesScale.commonPrefix(a, b)
      val middle =
        ByteBuffer.allocate(8).putLong(number(head(a, shared), head(b, shared), position) << 8).array
      BytesWord(b.take(shared) ++ middle.take(Head))
    case _ => min
  }

  /** The bytes after the common prefix as a number; missing bytes count as 0. */
  private def head(bytes: Array[Byte], from: Int): Long =
    (0 until Head).foldLeft(0L)((n, i) =>
      n << 8 | (if (from + i < bytes.length) bytes(from + i) & 0xffL else 0L))

  private def number(a: Long, b: Long, position: Double): Long = {
    val distance = b - a
    // the distance overflows for ranges over more than half of all longs
    val at =
      if (distance >= 0) a + (distance * position).toLong else (a * (1 - position) + b * position).toLong
    math.max(a, math.min(b, at))
  }
}
