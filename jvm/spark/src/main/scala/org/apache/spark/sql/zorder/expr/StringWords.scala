package org.apache.spark.sql.zorder.expr

import java.nio.ByteOrder
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.KeyWords

/** The first 16 bytes of a string as words, without a copy of the string. */
object StringWords {
  private val littleEndian = ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN

  /** Writes `string` into the three longs from `words(at)` on. */
  def put(words: Array[Long], at: Int, string: UTF8String): Unit = {
    val base = string.getBaseObject
    val offset = string.getBaseOffset
    val n = string.numBytes
    KeyWords.putHighLow(words, at, bigEndian(base, offset, n), bigEndian(base, offset + 8, n - 8))
  }

  /** Up to 8 of `n` bytes (none if negative), most significant first, filled up with zeros. */
  private def bigEndian(base: AnyRef, offset: Long, n: Int): Long =
    if (n >= 8) {
      val word = Platform.getLong(base, offset)
      if (littleEndian) java.lang.Long.reverseBytes(word) else word
    } else {
      var out = 0L
      var i = 0
      while (i < n) {
        out |= (Platform.getByte(base, offset + i) & 0xffL) << (56 - 8 * i)
        i += 1
      }
      out
    }
}
