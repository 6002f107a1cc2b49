package org.apache.spark.sql.zorder.skipping.scan

import scala.util.Try

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, FileSourceMetadataAttribute}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.skipping.index.{FileKeys, LoadedIndexes, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.predicate.TopRows

/**
 * An index of ours (`ZORDER INDEX`) of a table whose format plans its files, as one scan may ask it. Entries are of files
 * that never change: path and length tell a file. They tell of all rows of it, also of those that deletes have taken away.
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
  def find(path: String, length: Long): Either[NoEntry, Int] = index.files.find(key(path), length, 0L)

  /** Whether the filter names what the index tells of. Of the first rows it tells nothing: deletes are not counted. */
  def tells(filter: Expression): Boolean = columns(filter).nonEmpty

  def asksBlooms(filter: Expression): Boolean =
    columns(filter).flatMap(c => index.numberOf(c)).exists(index.blooms.columns.contains)

  private def columns(filter: Expression): Seq[String] = filter match {
    case _: TopRows => Nil
    case other => toRead.columns(Seq(FilesToRead.meant(other)))
  }

  /** Whether files have something else under the column's name than they had when the index was made. */
  def isUnanswered(e: Expression): Boolean = e match {
    case FileSourceMetadataAttribute(_) => true
    case a: Attribute => !index.identities.get(a.name).exists(identities.get(a.name).contains(_))
    case _ => false
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
