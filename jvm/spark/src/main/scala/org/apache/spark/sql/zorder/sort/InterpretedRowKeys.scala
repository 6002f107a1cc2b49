package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import sparkzorder.curve.{HilbertKey, KeyWords}

/** [[RowKeys]] by calls of `eval`. */
final private[sort] class InterpretedRowKeys(key: CurveKey) extends RowKeys {
  private val columns = key.columns.toArray
  private val row = key.words
  private val bits = key.bits
  private val left = new Array[Long](bits.words)
  private val right = new Array[Long](bits.words)
  private val cells = row.scratch()
  private val hilbert = new Array[Byte](row.shape.hilbertBytes)

  override def fill(input: InternalRow, words: Array[Long]): Unit =
    if (key.hilbert) {
      put(input, cells)
      HilbertKey.write(row.shape, cells, hilbert)
      KeyWords.putKey(words, hilbert)
    } else put(input, words)

  private def put(input: InternalRow, words: Array[Long]): Unit = {
    var i = 0
    while (i < columns.length) {
      row.put(words, i, columns(i).eval(input))
      i += 1
    }
  }

  override def compare(a: InternalRow, b: InternalRow): Int = {
    fill(a, left)
    fill(b, right)
    bits.compare(left, right)
  }
}
