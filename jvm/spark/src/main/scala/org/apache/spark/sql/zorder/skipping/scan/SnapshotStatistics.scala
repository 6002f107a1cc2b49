package org.apache.spark.sql.zorder.skipping.scan

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skipping.index._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A file of a snapshot with the bounds that its format keeps.
 *
 * @param path
 *   as the format names the file; with `length` and `modified` it tells the file from all others of the
 *   table. A format whose paths are never used twice gives 0 for both.
 * @param rows
 *   so many rows are surely read from the file: those that deletes take away, or may take away, do not count
 * @param columns
 *   in the order in which they were asked for; NULLs are those of the file, deleted rows included
 */
final case class FileBounds(
    path: String,
    length: Long,
    modified: Long,
    rows: Long,
    columns: IndexedSeq[FileColumn])

/** Where the bounds of a snapshot's files come from. */
trait BoundsSource {

  /** Columns whose bounds can be had and trusted. */
  def columns: IndexedSeq[IndexedColumn]

  /** How many files [[read]] gives the bounds of; None if only reading tells. */
  def files: Option[Long]

  /** The bounds of all these files of the snapshot, in any order. */
  def read(columns: IndexedSeq[IndexedColumn]): IndexedSeq[FileBounds]
}

object BoundsSource {

  /**
   * Whether files are so small a part of all that the bounds of these alone are read: a query of one partition
   * must not wait for those of a whole large table, and the driver need not hold them.
   */
  def areFew(files: Long, all: Long): Boolean = files < all / 8

  /** Formats write it for bytes that are no UTF-8, whose order is another. */
  private val Replacement = UTF8String.fromString("\uFFFD")

  /** Ends of a maximum that was cut: what Delta adds, and what Iceberg makes of bytes that are no UTF-8. */
  private val Raised = Seq("\uDBFF\uDFFF", "\uFFFE").map(UTF8String.fromString)

  /**
   * Whether a bound may be another text than that of a row: it is as long as its format keeps any, or not all
   * text, or it was cut. Its length alone does not tell, since Delta counts UTF-16 units.
   */
  def mayBeCut(bound: UTF8String, longest: Int): Boolean =
    bound.numChars >= longest || bound.contains(Replacement) || Raised.exists(bound.endsWith)
}

/**
 * The bounds of a snapshot's files, in memory, column by column as they are first asked for. A snapshot never
 * changes, so that the bounds stay true.
 *
 * @param columns
 *   all that may be asked for
 * @param fits
 *   whether so many more bytes might be held: what surely does not fit need not be read
 * @param admit
 *   takes so many more bytes, or says that they may not be held; a column that does not fit tells nothing, and
 *   no column does where the list of files does not fit
 */
final class SnapshotStatistics(
    columns: IndexedSeq[IndexedColumn],
    caseSensitive: Boolean,
    fits: Long => Boolean,
    admit: Long => Boolean) {
  private val loaded = mutable.HashMap.empty[Int, Option[ColumnRanges]]
  private var files: Option[IndexedFiles] = None

  /** Only for the names of columns. */
  private val names = new StatisticsIndex(IndexedFiles.of(Nil), columns, caseSensitive, _ => None)

  /**
   * The bounds as an index of files. The columns that the expressions name are read together.
   *
   * @return
   *   None where the expressions name no column that bounds are known of
   */
  def index(expressions: Seq[Expression], source: BoundsSource): Option[StatisticsIndex] = synchronized {
    val asked = names.numbersIn(expressions)
    if (asked.isEmpty) None
    else {
      load(asked, source)
      files.map(new StatisticsIndex(_, columns, caseSensitive, ranges(_, source)))
    }
  }

  private def ranges(column: Int, source: BoundsSource): Option[ColumnRanges] = synchronized {
    load(Seq(column), source)
    loaded(column)
  }

  private def load(asked: Seq[Int], source: BoundsSource): Unit = {
    val missing = asked.distinct.filterNot(loaded.contains).toIndexedSeq
    if (missing.nonEmpty && files.isEmpty && !source.files.map(IndexedFiles.bytes).forall(fits))
      missing.foreach(loaded(_) = None)
    else if (missing.nonEmpty) {
      val read = source.read(missing.map(columns))
      files = files.orElse(
        admitted(IndexedFiles.of(read.map(f => (f.path, f.length, f.modified, f.rows))))(_.bytes))
      files.fold(missing.foreach(loaded(_) = None)) { known =>
        val entries = new Array[IndexedSeq[FileColumn]](known.count)
        read.foreach(f => known.find(f.path, f.length, f.modified).foreach(entries(_) = f.columns))
        missing.indices.foreach { at =>
          val ofFiles = entries.toIndexedSeq.map(c => if (c == null) FileColumn.Unknown else c(at))
          loaded(missing(at)) = admitted(FileColumn.ranges(columns(missing(at)).dataType, ofFiles))(_.bytes)
        }
      }
    }
  }

  private def admitted[A](made: A)(bytes: A => Long): Option[A] = if (admit(bytes(made))) Some(made) else None
}

/**
 * The statistics of snapshots that queries of this JVM have asked for, under
 * `spark.zorder.skipping.maxMemory` for all of them together, beside as much for indexes. Those that were
 * asked for longest ago go first.
 */
object SnapshotStatistics {

  /**
   * @param table
   *   tells the table from one that had its place before
   * @param caseSensitive
   *   of the session that asks
   */
  final case class Key(table: String, snapshot: String, caseSensitive: Boolean)

  private val memory = new IndexMemory[Key](key => { val _ = held.remove(key) })
  private lazy val held = new ConcurrentHashMap[Key, SnapshotStatistics]()

  /** The statistics of a snapshot, which are filled as they are asked for. */
  def of(key: Key, columns: => IndexedSeq[IndexedColumn], session: SQLConf): SnapshotStatistics = {
    memory.asked(key, SessionKeys.SkippingMaxMemory.orDefault(session))
    Option(held.get(key)).getOrElse {
      val account = memory.open(key)
      val statistics = new SnapshotStatistics(columns, key.caseSensitive, account.fits, account.admit)
      // two threads may ask at once: the later one replaces the statistics and their account together
      memory.hold(key, account)(held.put(key, statistics))
      statistics
    }
  }
}
