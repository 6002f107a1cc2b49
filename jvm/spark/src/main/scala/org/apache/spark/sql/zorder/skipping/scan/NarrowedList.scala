package org.apache.spark.sql.zorder.skipping.scan

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skipping.index.{FileKeys, LoadedIndexes, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.predicate.{JoinKeys, MonotoneFunction, TopRows}
import org.apache.spark.sql.zorder.table.storage.Cancellation

/**
 * The files that a format has planned for one scan, narrowed by what its own planning does not use: the first
 * rows that a query wants, the keys of a join, lists of values, functions of columns; and by an index of
 * ours, where the table has one.
 *
 * @param isUnanswered
 *   columns of the scan that the bounds say nothing of
 * @param bounds
 *   of the scan's snapshot, of at least the columns that some expressions name; see
 *   [[SnapshotStatistics.index]]
 * @param indexed
 *   looked for when a filter first may need it
 */
final class NarrowedList(
    val root: Path,
    asked: AskedOfFormat,
    val isUnanswered: Expression => Boolean,
    bounds: Seq[Expression] => Option[StatisticsIndex],
    indexed: => Option[FormatIndex]) extends Logging {
  private lazy val ours = ifReadable(indexed)

  @volatile private var isUnreadable = false

  /**
   * A query must not fail for what was meant to make it faster: adaptive execution asks when the metadata
   * that the scan was planned from may be gone.
   */
  private def ifReadable[A](read: => Option[A]): Option[A] =
    if (isUnreadable) None
    else
      try read
      catch {
        case NonFatal(e) if !Cancellation.ofJob(e) =>
          isUnreadable = true
          logWarning(s"No more files of $root are left out: its statistics cannot be read", e)
          None
      }

  def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && toRead(Seq(column)).exists(_.mayAnswer(column))

  def leavesOut(filter: Expression): Boolean = toRead(Seq(filter)).exists(_.leavesOut(filter))

  /** The bytes of the snapshot's files that the filters leave. */
  def bytes(filters: Seq[Expression]): Long = toRead(filters).fold(Long.MaxValue)(_.bytes(filters))

  private def toRead(expressions: Seq[Expression]): Option[FilesToRead] =
    ifReadable(bounds(expressions)).map(new FilesToRead(_, isUnanswered))

  /** The filters that the format does not use, and the bounds that answer them; None if there are none. */
  def index(filters: Seq[Expression]): Option[(Seq[Expression], StatisticsIndex)] = {
    val worth = filters.filter(asked.isWorth)
    if (worth.isEmpty) None else ifReadable(bounds(worth)).map(worth -> _)
  }

  /** The filters on what an index of ours tells of, and the index; None if there are none. */
  def own(filters: Seq[Expression]): Option[(Seq[Expression], FormatIndex)] =
    if (filters.isEmpty) None
    else ours.flatMap { index =>
      val answered = filters.filter(index.tells)
      if (answered.isEmpty) None else Some(answered -> index)
    }

  /** The filters that may leave out files beyond those that the format leaves out. */
  def asks(filters: Seq[Expression]): Seq[Expression] = {
    val ofIndex = own(filters).fold(Seq.empty[Expression])(_._1)
    filters.filter(f => asked.isWorth(f) || ofIndex.contains(f))
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
   *   how a file is found again
   */
  def narrow[F](filters: Seq[Expression], planned: Seq[F])(of: F => FileIdentity): Seq[F] = {
    val byBounds = index(filters)
    val byIndex = own(filters)
    if (byBounds.isEmpty && byIndex.isEmpty) planned
    else {
      val started = System.nanoTime()
      val files = planned.map(of).toIndexedSeq
      val ofBounds = byBounds.toSeq.map { case (worth, bounds) =>
        val entries = files.map(f => bounds.files.find(f.path, f.length, f.modified))
        new StatisticsOfList(bounds, isUnanswered, worth, entries)
      }
      // its numbers of rows are those of whole files, and the first rows are none of its filters
      val ofIndex = byIndex.toSeq.map { case (answered, i) =>
        new StatisticsOfList(i.index, i.isUnanswered, answered, files.map(i.find))
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
 * How a file that a format has planned is found in statistics.
 *
 * @param modified
 *   in bounds of the format, as in [[FileBounds]]
 * @param generation
 *   in an index of ours, as [[org.apache.spark.sql.zorder.table.FormatIndexing]] has it
 */
final case class FileIdentity(path: String, length: Long, modified: Long, generation: Long = 0L)

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
  private val isRead = toRead(filters, entries)

  def keeps(file: Int): Boolean = isRead(entries(file))

  def isUnknown(file: Int): Boolean = entries(file).isLeft

  /** The columns of the statistics that the filters name. */
  def columns: Seq[String] = toRead.columns(filters)
}

/**
 * Whether a filter is worth a look at statistics. It is not if it is what the format prunes itself: a plain
 * comparison of a column. Nor is it if bounds tell nothing of it.
 *
 * @param mostListed
 *   the longest list of values that the format looks up value by value
 */
final class AskedOfFormat(mostListed: Int) {

  def isWorth(filter: Expression): Boolean = filter match {
    case t: TopRows => t.holds
    case k: JoinKeys => k.holds
    case other => other.exists(isAnswered) || hidesComparisons(other)
  }

  private def isAnswered(e: Expression): Boolean = e match {
    case In(value, values) => isListed(value, values.length)
    case InSet(value, values) => isListed(value, values.size)
    case BinaryComparison(left, right) =>
      left.foldable && isOrdered(right) || right.foldable && isOrdered(left)
    case _ => false
  }

  private def isListed(value: Expression, values: Int): Boolean =
    if (isColumn(value)) values > mostListed else isOrdered(value)

  /** Bounds of a column tell what a function of it has only if the function keeps the order. */
  private def isOrdered(operand: Expression): Boolean =
    !isColumn(operand) && MonotoneFunction.of(operand).isDefined

  private def isColumn(operand: Expression): Boolean = ColumnPath.of(operand).isDefined

  /** Iceberg prunes by no part of an OR if it does not know one: `a = 5 AND lower(s) = 'x' OR a = 7 AND ...`. */
  private def hidesComparisons(filter: Expression): Boolean = filter.exists(_.isInstanceOf[Or]) && {
    val comparisons = filter.collect { case c: BinaryComparison => c }
    val (plain, others) = comparisons.partition(_.children.forall(x => x.foldable || isColumn(x)))
    plain.nonEmpty && others.nonEmpty
  }
}

/**
 * An index of ours (`ZORDER INDEX`) of a table whose format plans its files, as one scan may ask it. Entries
 * are of files that never change. They tell of all rows of a file, also of those that deletes have taken
 * away.
 *
 * @param key
 *   how the index names a file, from how the format does
 * @param identities
 *   what files have under the names of the scan's columns
 */
final class FormatIndex(
    val index: StatisticsIndex,
    val key: String => String,
    identities: Map[String, String]) {
  private val toRead = new FilesToRead(index, isUnanswered)

  /** The number of the file's entry. */
  def find(file: FileIdentity): Either[NoEntry, Int] =
    index.files.find(key(file.path), file.length, file.generation)

  /**
   * Whether the filter names what the index tells of. Of the first rows it tells nothing: deletes are not
   * counted.
   */
  def tells(filter: Expression): Boolean = columns(filter).nonEmpty

  def asksBlooms(filter: Expression): Boolean =
    columns(filter).flatMap(c => index.numberOf(c)).exists(index.blooms.columns.contains)

  private def columns(filter: Expression): Seq[String] = filter match {
    case _: TopRows => Nil
    case other => toRead.columns(Seq(FilesToRead.meant(other)))
  }

  /** Whether files have something else under the column's name than they had when the index was made. */
  def isUnanswered(e: Expression): Boolean = FilesToRead.isUnanswered(e) { name =>
    !index.identities.get(name).exists(identities.get(name).contains(_))
  }
}

object FormatIndex {

  /**
   * The index of the table at `root`; None without one that the session can use.
   *
   * @param located
   *   the full path of a file, as the index was told it
   */
  def of(root: Path, session: SQLConf, conf: => Configuration, identities: => Map[String, String])(
      located: String => Path): Option[FormatIndex] =
    // a format may read from a storage that Hadoop does not know
    Try(root.getFileSystem(conf).makeQualified(root)).toOption.flatMap { qualified =>
      LoadedIndexes.of(qualified, session, conf)
        .filter(i => i.identities.nonEmpty && i.caseSensitive == session.caseSensitiveAnalysis)
        .map { index =>
          val keys = new FileKeys(qualified)
          new FormatIndex(index, path => keys.of(located(path)), identities)
        }
    }
}
