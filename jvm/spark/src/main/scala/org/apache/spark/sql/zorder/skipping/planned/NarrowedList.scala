package org.apache.spark.sql.zorder.skipping.planned

import java.util.BitSet

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.zorder.skipping.filter.FilesToRead
import org.apache.spark.sql.zorder.skipping.index.StatisticsIndex
import org.apache.spark.sql.zorder.skipping.scan.{PrunedFiles, SkippedCounts, SkippingUsage}

/**
 * The files that a format has planned for one scan, narrowed by what its own planning does not use: the first rows that
 * a query wants, the keys of a join, lists of values, functions of columns.
 *
 * @param isUnanswered
 *   columns of the scan that the bounds say nothing of
 * @param bounds
 *   of the scan's snapshot, of at least the columns that some expressions name; see [[SnapshotStatistics.index]]
 */
final class NarrowedList(
    override val root: Path,
    asked: AskedOfFormat,
    val isUnanswered: Expression => Boolean,
    bounds: Seq[Expression] => Option[StatisticsIndex])
    extends PrunedFiles {

  override def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && bounds(Seq(column)).exists(new FilesToRead(_, isUnanswered).mayAnswer(column))

  override def leavesOut(filter: Expression): Boolean =
    bounds(Seq(filter)).exists(new FilesToRead(_, isUnanswered).leavesOut(filter))

  /** The filters that the format does not use, and the bounds that answer them; None if there are none. */
  def index(filters: Seq[Expression]): Option[(Seq[Expression], StatisticsIndex)] = {
    val worth = filters.filter(asked.isWorth)
    if (worth.isEmpty) None else bounds(worth).map(worth -> _)
  }

  /**
   * What is left of a list of files. A file that the snapshot does not have stays.
   *
   * @param filters
   *   of the scan, those of the format included
   * @param of
   *   path, length and modification time of a file, as in [[FileBounds]]
   */
  def narrow[F](filters: Seq[Expression], planned: Seq[F])(of: F => (String, Long, Long)): Seq[F] =
    index(filters).fold(planned) { case (worth, index) =>
      val started = System.nanoTime()
      val toRead = new FilesToRead(index, isUnanswered)
      val entries = planned.map { f =>
        val (path, length, modified) = of(f)
        index.files.find(path, length, modified)
      }
      def listed: BitSet = {
        val set = new BitSet(index.files.count)
        entries.foreach(_.foreach(n => set.set(n)))
        set
      }
      val needed = toRead(worth, listed)
      val kept = planned.zip(entries).collect { case (f, entry) if entry.forall(needed.get(_)) => f }
      SkippingUsage.scanned(
        root,
        toRead.columns(worth),
        SkippedCounts(
          planned.length.toLong,
          pruned = (planned.length - kept.length).toLong,
          unknown = entries.count(_.isLeft).toLong,
          nanos = System.nanoTime() - started))
      kept
    }
}
