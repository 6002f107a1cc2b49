package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.zorder.expr.{HilbertOrder, RowWords, ZOrder}
import sparkzorder.curve.prefix.KeyBits

/**
 * A curve key as the sort uses it: the columns whose values become words, and the order of the bits of the words
 * on the curve.
 *
 * @param hilbert
 *   whether the words are those of the finished Hilbert key, and not of the columns
 */
final case class CurveKey(columns: Seq[Expression], hilbert: Boolean) {
  @transient lazy val words: RowWords = RowWords(columns.map(_.dataType))

  @transient lazy val bits: KeyBits =
    if (hilbert) KeyBits.sequence(words.columns * words.shape.levels) else KeyBits.interleaved(words.shape)

  def bound(input: Seq[Attribute]): CurveKey = copy(columns = BindReferences.bindReferences(columns, input))
}

object CurveKey {

  /** The key of `zorder`, `hilbert`, or any other ordered expression, which is a curve of one column. */
  def of(curve: Expression): CurveKey = curve match {
    case ZOrder(columns) => CurveKey(columns, hilbert = false)
    case HilbertOrder(columns) => CurveKey(columns, hilbert = columns.length > 1)
    case one => CurveKey(Seq(one), hilbert = false)
  }
}
