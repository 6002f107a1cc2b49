package org.apache.spark.sql.zorder.skipping.scan

import java.util.BitSet

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.zorder.skipping.index.{NoEntry, StatisticsIndex}

/**
 * The files that a format has planned for one scan, narrowed by what its own planning does not use: the first rows that
 * a query wants, the keys of a join, lists of values, functions of columns; and by an index of ours, where the table has
 * one.
 *
 * @param isUnanswered
 *   columns of the scan that the bounds say nothing of
 * @param bounds
 *   of the scan's snapshot, of at least the columns that some expressions name; see [[SnapshotStatistics.index]]
 * @param indexed
 *   looked for when a filter first may need it
 */
final class NarrowedList(
    val root: Path,
    asked: AskedOfFormat,
    val isUnanswered: Expression => Boolean,
    bounds: Seq[Expression] => Option[StatisticsIndex],
    indexed: => Option[FormatIndex]) {
  private lazy val ours = indexed

  def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && bounds(Seq(column)).exists(new FilesToRead(_, isUnanswered).mayAnswer(column))

  def leavesOut(filter: Expression): Boolean =
    bounds(Seq(filter)).exists(new FilesToRead(_, isUnanswered).leavesOut(filter))

  /** The bytes of the snapshot's files that the filters leave. */
  def bytes(filters: Seq[Expression]): Long =
    bounds(filters).fold(Long.MaxValue)(new FilesToRead(_, isUnanswered).bytes(filters))

  /** The filters that the format does not use, and the bounds that answer them; None if there are none. */
  def index(filters: Seq[Expression]): Option[(Seq[Expression], StatisticsIndex)] = {
    val worth = filters.filter(asked.isWorth)
    if (worth.isEmpty) None else bounds(worth).map(worth -> _)
  }

  /** The filters on what an index of ours tells of, and the index; None if there are none. */
  def own(filters: Seq[Expression]): Option[(Seq[Expression], FormatIndex)] =
    if (filters.isEmpty) None
    else ours.flatMap { index =>
      val told = filters.filter(index.tells)
      if (told.isEmpty) None else Some(told -> index)
    }

  /** The filters that may leave out files beyond those that the format leaves out. */
  def asks(filters: Seq[Expression]): Seq[Expression] = {
    val told = own(filters).fold(Seq.empty[Expression])(_._1)
    filters.filter(f => asked.isWorth(f) || told.contains(f))
  }

  /** Whether Bloom filters are asked of a filter. */
  def asksBlooms(filter: Expression): Boolean =
    own(Seq(filter)).exists { case (_, index) => index.asksBlooms(filter) }

  /**
   * What is left of a list of files. A file that the snapshot does not have stays.
   *
   * @param filters
   *   of the scan, those of the format included
   * @param of
   *   path, length and modification time of a file, as in [[FileBounds]]
   */
  def narrow[F](filters: Seq[Expression], planned: Seq[F])(of: F => (String, Long, Long)): Seq[F] = {
    val byBounds = index(filters)
    val byIndex = own(filters)
    if (byBounds.isEmpty && byIndex.isEmpty) planned
    else {
      val started = System.nanoTime()
      val files = planned.map(of).toIndexedSeq
      val ofBounds = byBounds.toSeq.map { case (worth, bounds) =>
        val entries = files.map { case (p, l, m) => bounds.files.find(p, l, m) }
        new StatisticsOfList(bounds, isUnanswered, worth, entries)
      }
      // its numbers of rows are those of whole files, and the first rows are none of its filters
      val ofIndex = byIndex.toSeq.map { case (told, i) =>
        new StatisticsOfList(i.index, i.isUnanswered, told, files.map { case (p, l, _) => i.find(p, l) })
      }
      val both = ofBounds ++ ofIndex
      val kept = planned.zipWithIndex.collect { case (f, n) if both.forall(_.keeps(n)) => f }
      SkippingUsage.scanned(
        root,
        both.flatMap(_.columns).distinct,
        SkippedCounts(
          files.length.toLong,
          pruned = (files.length - kept.length).toLong,
          unknown = files.indices.count(n => both.exists(_.isUnknown(n))).toLong,
          nanos = System.nanoTime() - started))
      kept
    }
  }
}

/**
 * What one set of statistics leaves of the planned files.
 *
 * @param entries
 *   of these files, in their order
 */
final private class StatisticsOfList(
    index: StatisticsIndex,
    isUnanswered: Expression => Boolean,
    filters: Seq[Expression],
    entries: IndexedSeq[Either[NoEntry, Int]]) {
  private val toRead = new FilesToRead(index, isUnanswered)
  private val needed: BitSet = toRead(filters, listed)

  private def listed: BitSet = {
    val set = new BitSet(index.files.count)
    entries.foreach(_.foreach(n => set.set(n)))
    set
  }

  /** Whether the file must be read; so must one without an entry. */
  def keeps(file: Int): Boolean = entries(file).forall(needed.get(_))

  def isUnknown(file: Int): Boolean = entries(file).isLeft

  /** The columns of the statistics that the filters name. */
  def columns: Seq[String] = toRead.columns(filters)
}
