package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.Expression
import sparkzorder.curve.{HilbertKey, KeyShape}

/** `hilbert(c1, ..., cn)`: the place of the arguments on the Hilbert curve (docs/spec.md, section 1). */
case class HilbertOrder(children: Seq[Expression]) extends RawKey {
  override def prettyName: String = "hilbert"

  override protected def curveClass: String = "sparkzorder.curve.HilbertKey"

  override protected def key(shape: KeyShape, words: Array[Long]): Array[Byte] = HilbertKey.key(shape, words)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): HilbertOrder =
    copy(children = newChildren)
}
