package org.apache.spark.sql.zorder.skip.bloom

import java.io.{DataInputStream, DataOutputStream}

import org.apache.spark.sql.zorder.conf.BloomBudget
import org.apache.spark.sql.zorder.stats.bloom.BloomKey

/**
 * The Bloom filters of an index.
 *
 * @param budget
 *   that the user has set for them
 * @param columns
 *   by the number of the column in the index
 */
final class IndexBlooms(val budget: BloomBudget, val columns: Map[Int, ColumnBlooms]) {

  def bytes: Long = columns.values.map(_.stored.bytes).sum

  /** Names of the files that hold filters. */
  def files: Set[String] = columns.values.flatMap(_.stored.segments.map(_.file)).toSet
}

object IndexBlooms {
  val None: IndexBlooms = new IndexBlooms(BloomBudget.Default, Map.empty)

  /** What the index file says of the filters: where they are, not they themselves. */
  private[skip] def write(blooms: IndexBlooms, out: DataOutputStream): Unit = {
    out.writeUTF(blooms.budget.text)
    out.writeInt(blooms.columns.size)
    blooms.columns.toSeq.sortBy(_._1).foreach { case (column, b) =>
      out.writeInt(column)
      ints(b.stored.without, out)
      out.writeInt(b.stored.segments.length)
      b.stored.segments.foreach { s =>
        out.writeUTF(s.file)
        out.writeLong(s.offset)
        out.writeInt(s.blocks)
        out.writeInt(s.key.code)
        ints(s.files, out)
      }
    }
  }

  /** @param column makes the filters of the column with this number */
  private[skip] def read(in: DataInputStream)(column: (Int, ColumnSegments) => ColumnBlooms): IndexBlooms = {
    val budget = BloomBudget.of("bloomBudget", in.readUTF())
    val columns = Seq.fill(in.readInt()) {
      val number = in.readInt()
      val without = readInts(in)
      val segments = Seq.fill(in.readInt()) {
        BloomSegment(in.readUTF(), in.readLong(), in.readInt(), BloomKey.of(in.readInt()), readInts(in))
      }
      number -> column(number, ColumnSegments(segments, without))
    }
    new IndexBlooms(budget, columns.toMap)
  }

  private def ints(values: Array[Int], out: DataOutputStream): Unit = {
    out.writeInt(values.length)
    values.foreach(out.writeInt)
  }

  private def readInts(in: DataInputStream): Array[Int] = Array.fill(in.readInt())(in.readInt())
}
