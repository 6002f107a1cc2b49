package org.apache.spark.sql.zorder.expr

import org.apache.spark.util.Utils
import sparkzorder.curve.layout.CompiledLayout

/**
 * The layouts that an expression may use: one, or one per table partition.
 *
 * @param refs
 *   on the driver only; a task unpacks those that its rows take
 * @param firstFile
 *   number of the first file of each layout when the files of all partitions are counted through
 */
final class Routes private (
    @transient val refs: IndexedSeq[LayoutRef],
    val firstFile: Array[Int],
    packed: SentToTasks[Array[Array[Byte]]])
    extends Serializable {
  @transient private[this] lazy val unpacked = new Array[CompiledLayout](firstFile.length)

  /** The layout of a route, made when it is asked for first. */
  def compiled(route: Int): CompiledLayout = {
    val known = unpacked(route)
    if (known != null) known
    else {
      val made = Utils.deserialize[LayoutRef](packed.value(route), getClass.getClassLoader).compiled
      unpacked(route) = made
      made
    }
  }

  def files: Int = firstFile.last + refs.last.layout.files

  override def toString: String =
    if (refs.length > Routes.Few) s"[${refs.length} layouts]" else refs.map(_.id).mkString("[", ", ", "]")

  override def equals(other: Any): Boolean = other match {
    case that: Routes => that.refs == refs
    case _ => false
  }

  override def hashCode(): Int = refs.hashCode
}

object Routes {

  /** So many layouts travel in every task. */
  private val Few = 16

  def apply(refs: IndexedSeq[LayoutRef]): Routes = new Routes(
    refs,
    refs.map(_.layout.files).scanLeft(0)(_ + _).init.toArray,
    SentToTasks(refs.map(r => Utils.serialize(r)).toArray, large = refs.length > Few))
}
