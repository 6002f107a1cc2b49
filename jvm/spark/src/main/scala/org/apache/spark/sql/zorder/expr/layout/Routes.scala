package org.apache.spark.sql.zorder.expr.layout

import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import org.apache.spark.util.Utils
import sparkzorder.curve.layout.CompiledLayout

/**
 * The layouts that an expression may use: one, or one per table partition.
 *
 * @param atHand
 *   the layouts, where nothing has been sent yet; a task unpacks those that its rows take
 * @param firstFile
 *   number of the first file of each layout when the files of all partitions are counted through
 * @param key
 *   of these layouts, unlike that of any others
 */
final class Routes private (
    @transient private[this] val atHand: IndexedSeq[LayoutRef],
    val firstFile: Array[Int],
    private val name: String,
    key: String,
    packed: SentToTasks[Array[Array[Byte]]])
    extends Serializable {
  @transient lazy val refs: IndexedSeq[LayoutRef] =
    if (atHand != null) atHand else firstFile.indices.map(unpack)

  @transient private[this] lazy val unpacked = new Array[CompiledLayout](firstFile.length)

  /** The layout of a route, made when it is asked for first. */
  def compiled(route: Int): CompiledLayout = {
    val known = unpacked(route)
    if (known != null) known
    else {
      val large = packed.value(route).length > Routes.SmallBytes
      val made = if (large) LargeLayouts(s"$key/$route", unpack(route).compiled) else unpack(route).compiled
      unpacked(route) = made
      made
    }
  }

  private def unpack(route: Int): LayoutRef =
    Utils.deserialize[LayoutRef](packed.value(route), getClass.getClassLoader)

  def files: Int = firstFile.last + refs.last.layout.files

  override def toString: String = name

  // tasks compare expressions, too
  override def equals(other: Any): Boolean = other match {
    case that: Routes => that.name == name
    case _ => false
  }

  override def hashCode(): Int = name.hashCode
}

object Routes {

  /** So many layouts travel in every task. */
  private val Few = 16

  /** Layouts of fewer bytes are compiled by each task for itself. */
  private val SmallBytes = 64 << 10

  def apply(refs: IndexedSeq[LayoutRef]): Routes = {
    val packed = refs.map(r => Utils.serialize(r)).toArray
    new Routes(
      refs,
      refs.map(_.layout.files).scanLeft(0)(_ + _).init.toArray,
      name(refs.map(_.id)),
      UUID.randomUUID().toString,
      SentToTasks(packed, large = refs.length > Few))
  }

  /** The ids of the layouts, or where they are many one that stands for them. */
  private def name(ids: Seq[String]): String =
    if (ids.length <= Few) ids.mkString("[", ", ", "]")
    else s"[${ids.length} layouts, ${UUID.nameUUIDFromBytes(ids.mkString(",").getBytes(UTF_8))}]"
}
