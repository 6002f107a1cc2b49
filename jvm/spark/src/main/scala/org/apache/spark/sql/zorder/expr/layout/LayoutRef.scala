package org.apache.spark.sql.zorder.expr.layout

import sparkzorder.curve.layout.{CompiledLayout, Layout}

/**
 * A layout inside an expression. Plans, EXPLAIN and event logs show its id only: boundaries are data.
 *
 * @param id
 *   eight hex digits of the layout's hash
 */
final class LayoutRef(val id: String, val layout: Layout) extends Serializable {

  /** Compiled where it is used: a task gets only the layout and compiles it once. */
  @transient lazy val compiled: CompiledLayout = layout.compiled

  override def toString: String = id

  override def equals(other: Any): Boolean = other match {
    case that: LayoutRef => that.id == id
    case _ => false
  }

  override def hashCode(): Int = id.hashCode
}
