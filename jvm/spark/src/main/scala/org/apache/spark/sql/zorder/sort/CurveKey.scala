package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.zorder.expr.{HilbertOrder, RowWords, ZOrder}
import sparkzorder.curve.prefix.KeyBits

/**
 * A curve key as a sort takes it: the columns whose values become words, and the bits of the words in the
 * order of the curve.
 *
 * @param hilbert
 *   whether the words are those of the finished Hilbert key; else they are the columns' own
 */
final case class CurveKey(columns: Seq[Expression], hilbert: Boolean) {
  @transient lazy val words: RowWords = RowWords(columns.map(_.dataType))

  @transient lazy val bits: KeyBits =
    if (hilbert) KeyBits.sequence(words.columns * words.shape.levels) else KeyBits.interleaved(words.shape)

  def bound(input: Seq[Attribute]): CurveKey = copy(columns = BindReferences.bindReferences(columns, input))
}

object CurveKey {

  /** Of `zorder`, `hilbert`, or any other expression with an order: the curve of one column is that order. */
  def of(curve: Expression): CurveKey = curve match {
    case ZOrder(columns) => CurveKey(columns, hilbert = false)
    case HilbertOrder(columns) => CurveKey(columns, hilbert = columns.length > 1)
    case one => CurveKey(Seq(one), hilbert = false)
  }
}
