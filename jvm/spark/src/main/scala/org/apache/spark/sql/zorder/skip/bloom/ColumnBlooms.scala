package org.apache.spark.sql.zorder.skip.bloom

import java.util.BitSet

import scala.util.control.NonFatal

import org.apache.spark.sql.types.DataType
import sparkzorder.curve.Word
import sparkzorder.curve.cost.Condition

/**
 * The Bloom filters of one column of an index. A file without a filter, or whose filter cannot be read, may hold
 * anything.
 *
 * @param failed
 *   is told of what cannot be read
 */
final class ColumnBlooms(
    val stored: ColumnSegments,
    dataType: DataType,
    files: BloomFiles,
    failed: Throwable => Unit) {
  private val readers = stored.segments.map(new SegmentReader(files, _))
  @volatile private var broken = Set.empty[BloomSegment]

  /**
   * Those of the files that may hold a value that meets the condition, or a NULL where that is asked.
   *
   * @param found
   *   the files that the ranges leave; not changed
   * @param nulls
   *   per file the number of NULLs, -1 where it is not known
   */
  def narrow(found: BitSet, condition: Condition, nulls: Array[Long]): BitSet =
    ColumnBlooms.points(condition).fold(found) { words =>
      val asked = found.clone().asInstanceOf[BitSet]
      if (condition.orNull)
        nulls.indices.foreach(f => if (nulls(f) != 0) asked.clear(f))
      val kept = found.clone().asInstanceOf[BitSet]
      if (!asked.isEmpty)
        readers.filterNot(r => broken(r.segment)).foreach { r =>
          try r.drop(words, dataType, asked, kept)
          catch {
            case NonFatal(e) =>
              broken += r.segment
              failed(e)
          }
        }
      kept
    }
}

object ColumnBlooms {

  /** Longer lists are not asked: they would find something in most files. */
  val MostPoints = 1000

  /** The values of a condition that is met by single values only. */
  private def points(condition: Condition): Option[IndexedSeq[Word]] = {
    val intervals = condition.intervals
    val words = if (intervals.length > MostPoints) None else Some(intervals.map(_.min))
    words.filter(w => w.nonEmpty && w.indices.forall(i => w(i).isDefined && w(i) == intervals(i).max))
      .map(_.flatten)
  }
}
