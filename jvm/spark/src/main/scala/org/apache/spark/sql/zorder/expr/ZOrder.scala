package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.Expression
import sparkzorder.curve.{Interleave, KeyShape}

/** `zorder(c1, ..., cn)`: the bits of the arguments, interleaved (docs/spec.md, section 1). */
case class ZOrder(children: Seq[Expression]) extends RawKey {
  override def prettyName: String = "zorder"

  override protected def curveClass: String = "sparkzorder.curve.Interleave"

  override protected def key(shape: KeyShape, words: Array[Long]): Array[Byte] = Interleave.key(shape, words)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): ZOrder =
    copy(children = newChildren)
}
