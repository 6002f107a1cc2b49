package org.apache.spark.sql.zorder.expr.layout

import java.lang.ref.SoftReference
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{LinkedHashMap, Map => JMap, UUID}

import org.apache.spark.util.Utils
import sparkzorder.curve.layout.CompiledLayout

/**
 * The layouts that an expression uses: one, or one for each table partition.
 *
 * @param atHand
 *   the layouts on the driver; a task unpacks only those that its rows need
 * @param firstFile
 *   number of the first file of each layout, with the files of all partitions numbered consecutively
 * @param key
 *   unique to these layouts
 */
final class PartitionLayouts private (
    @transient private[this] val atHand: IndexedSeq[LayoutRef],
    val firstFile: Array[Int],
    private val name: String,
    key: String,
    packed: MaybeBroadcast[Array[Array[Byte]]])
    extends Serializable {
  @transient lazy val refs: IndexedSeq[LayoutRef] =
    if (atHand != null) atHand else firstFile.indices.map(unpack)

  @transient private[this] lazy val unpacked = new Array[CompiledLayout](firstFile.length)

  /** The layout of a partition, compiled at its first use. */
  def compiled(route: Int): CompiledLayout = {
    val known = unpacked(route)
    if (known != null) known
    else {
      val large = packed.value(route).length > PartitionLayouts.SmallBytes
      val made =
        if (large) CompiledLayoutCache(s"$key/$route", unpack(route).compiled) else unpack(route).compiled
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
    case that: PartitionLayouts => that.name == name
    case _ => false
  }

  override def hashCode(): Int = name.hashCode
}

object PartitionLayouts {

  /** Up to this number of layouts are sent within the task. */
  private val Few = 16

  /** Layouts below this number of bytes are compiled by each task. */
  private val SmallBytes = 64 << 10

  def apply(refs: IndexedSeq[LayoutRef]): PartitionLayouts = {
    val packed = refs.map(r => Utils.serialize(r)).toArray
    new PartitionLayouts(
      refs,
      refs.map(_.layout.files).scanLeft(0)(_ + _).init.toArray,
      name(refs.map(_.id)),
      UUID.randomUUID().toString,
      MaybeBroadcast(packed, large = refs.length > Few))
  }

  /** Those of a table without partitions. */
  def one(ref: LayoutRef): PartitionLayouts = apply(IndexedSeq(ref))

  /** The ids of the layouts, or a hash of them if there are many. */
  private def name(ids: Seq[String]): String =
    if (ids.length <= Few) ids.mkString("[", ", ", "]")
    else s"[${ids.length} layouts, ${UUID.nameUUIDFromBytes(ids.mkString(",").getBytes(UTF_8))}]"
}

/**
 * Compiled large layouts, shared by the tasks of one JVM: a layout of ten thousand files has ten thousand
 * tasks, and each would compile it for the rows of one file. Compiled layouts have no state, so tasks can
 * share them.
 */
private[expr] object CompiledLayoutCache {
  private val Kept = 64

  private val known =
    new LinkedHashMap[String, SoftReference[CompiledLayout]](Kept, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, SoftReference[CompiledLayout]]): Boolean =
        size > Kept
    }

  /** The layout of this key, compiled by the first caller. */
  def apply(key: String, make: => CompiledLayout): CompiledLayout = synchronized {
    Option(known.get(key)).flatMap(found => Option(found.get)).getOrElse {
      val made = make
      known.put(key, new SoftReference(made))
      made
    }
  }
}
