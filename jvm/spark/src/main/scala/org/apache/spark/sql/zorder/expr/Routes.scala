package org.apache.spark.sql.zorder.expr

import sparkzorder.curve.layout.CompiledLayout

/**
 * The layouts that an expression may use: one, or one per table partition.
 *
 * @param firstFile
 *   number of the first file of each layout when the files of all partitions are counted through
 */
final class Routes(val refs: IndexedSeq[LayoutRef], val firstFile: Array[Int]) extends Serializable {

  /** The layout of a route; a task compiles those that its rows take. */
  def compiled(route: Int): CompiledLayout = refs(route).compiled

  def files: Int = firstFile.last + refs.last.layout.files

  override def toString: String = refs.map(_.id).mkString("[", ", ", "]")

  override def equals(other: Any): Boolean = other match {
    case that: Routes => that.refs == refs
    case _ => false
  }

  override def hashCode(): Int = refs.hashCode
}

object Routes {
  def apply(refs: IndexedSeq[LayoutRef]): Routes =
    new Routes(refs, refs.map(_.layout.files).scanLeft(0)(_ + _).init.toArray)
}
