package org.apache.spark.sql.zorder.skipping.scan

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.execution.datasources.{FileIndex, FileStatusWithMetadata, PartitionDirectory}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.skipping.index.{FileKeys, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.table.storage.DriverReads

/**
 * A table's own file index, whose files are left out of a scan where the statistics index says that no row of
 * theirs can match. Listing stays the wrapped index's work, and files are dropped only here, by the filters
 * that the scan really carries: later rules of the optimizer may join scans that have different filters.
 *
 * Two of them are equal where those that they wrap are, so that exchanges are reused as before.
 *
 * @param root
 *   of the table: the paths of entries are relative to it
 * @param unanswered
 *   top-level columns, by the names that the scan gives them, whose filters the index must not answer
 * @param hadoop
 *   for another look at a file
 */
final class SkippingFileIndex(
    val wrapped: FileIndex,
    override val root: Path,
    val index: StatisticsIndex,
    unanswered: Set[String],
    hadoop: () => Configuration)
    extends PruningFileIndex {

  private val keys = new FileKeys(root)

  private val toRead = new FilesToRead(index, isUnanswered)

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] = {
    val listed = wrapped.listFiles(partitionFilters, dataFilters)
    if (dataFilters.isEmpty) listed
    else {
      val started = System.nanoTime()
      val entries = listed.map(_.files.map(entryOf))
      lazy val statuses = listed.flatMap(_.files).zip(entries.flatten).collect { case (f, Right(entry)) =>
        entry -> f
      }.toMap
      val isRead = toRead(dataFilters, entries.flatten, of => areAsListed(of.flatMap(statuses.get(_))))
      val kept = listed.zip(entries).map { case (d, of) =>
        d.copy(files = d.files.zip(of).collect { case (file, entry) if isRead(entry) => file })
      }
      val considered = entries.map(_.length.toLong).sum
      SkippingUsage.scanned(
        root,
        columns(dataFilters),
        SkippedCounts(
          considered,
          pruned = considered - kept.map(_.files.length.toLong).sum,
          unknown = entries.map(_.count(_.isLeft).toLong).sum,
          nanos = System.nanoTime() - started))
      kept.filter(_.files.nonEmpty)
    }
  }

  /** The columns of the index that the expressions name. */
  private[skipping] def columns(expressions: Seq[Expression]): Seq[String] = toRead.columns(expressions)

  override def mayAnswer(column: Attribute): Boolean = toRead.mayAnswer(column)

  override def leavesOut(filter: Expression): Boolean = toRead.leavesOut(filter)

  /** The index knows no partitions that a query leaves out, and the listing no other filter. */
  override def leastBytes(filters: Seq[Expression]): Long = {
    val partitions = partitionSchema.fieldNames.toSet
    val (onPartitions, others) = filters.partition(f => f.references.forall(a => partitions(a.name)))
    if (others.exists(_.references.exists(a => partitions(a.name)))) 0L
    else {
      // the listing is in memory where a filter has left out partitions
      val listed =
        if (onPartitions.isEmpty) sizeInBytes
        else wrapped.listFiles(onPartitions, Nil).flatMap(_.files).map(_.getLen).sum
      math.min(listed, toRead.bytes(others))
    }
  }

  /** The number of the entry of that very file. */
  private[skipping] def entryOf(f: FileStatusWithMetadata): Either[NoEntry, Int] =
    index.files.find(keys.of(f.getPath), f.getLen, f.getModificationTime)

  /** Whether nobody has written over one of these files since the session listed them, perhaps long ago. */
  private def areAsListed(files: Seq[FileStatusWithMetadata]): Boolean =
    files.length <= SkippingFileIndex.MostLooks &&
      (try {
        val conf = hadoop()
        DriverReads.each(files, DriverReads.MostRequests) { f =>
          val now = f.getPath.getFileSystem(conf).getFileStatus(f.getPath)
          // a look at one file may tell the time without what is below a second
          now.getLen == f.getLen && now.getModificationTime / 1000 == f.getModificationTime / 1000
        }.forall(identity)
      } catch { case NonFatal(_) => false })

  /** A column that is not what the index has under its name. */
  private[zorder] def isUnanswered(e: Expression): Boolean = FilesToRead.isUnanswered(e)(unanswered)

  override def rootPaths: Seq[Path] = wrapped.rootPaths
  override def inputFiles: Array[String] = wrapped.inputFiles
  override def refresh(): Unit = wrapped.refresh()
  override def sizeInBytes: Long = wrapped.sizeInBytes
  override def partitionSchema: StructType = wrapped.partitionSchema
  override def metadataOpsTimeNs: Option[Long] = wrapped.metadataOpsTimeNs

  override def equals(that: Any): Boolean = that match {
    case s: SkippingFileIndex => wrapped == s.wrapped
    case _ => false
  }
  override def hashCode(): Int = wrapped.hashCode()
  override def toString: String = s"$wrapped, files skipped by the statistics index of $root"
}

private object SkippingFileIndex {

  /** For more files than these, looking would take longer than what is left out. */
  private val MostLooks = 1000
}
