package org.apache.spark.sql.zorder.skipping.scan.delta

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta.OptimisticTransaction
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.files.{TahoeFileIndexWithSnapshotDescriptor, TahoeLogFileIndex}
import org.apache.spark.sql.delta.stats.{PrepareDeltaScan, PreparedDeltaFileIndex}
import org.apache.spark.sql.execution.datasources.{FileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.predicate.AlwaysTrue
import org.apache.spark.sql.zorder.skipping.scan._
import org.apache.spark.sql.zorder.table.FormatDescriptor
import org.apache.spark.sql.zorder.table.delta.DeltaIndexing
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * Scans of Delta tables, whose index Delta's own optimizer rule has prepared. A query inside a transaction
 * stays as it is: what it reads is what the transaction compares with others.
 */
final class DeltaPlannedFormat extends PlannedFormat {

  /** Spark finds our rules before those of `spark.sql.extensions`, where nobody lists them behind Delta's. */
  override def planned(session: SparkSession, plan: LogicalPlan, index: FileIndex): LogicalPlan =
    if (index.isInstanceOf[TahoeLogFileIndex]) new PrepareDeltaScan(session)(plan) else plan

  override def fileIndex(
      session: SparkSession,
      scan: LogicalRelation,
      r: HadoopFsRelation): Option[PruningFileIndex] = r.location match {
    case prepared: PreparedDeltaFileIndex if OptimisticTransaction.getActive().isEmpty =>
      Some(new NarrowedDeltaIndex(session, prepared))
    case _ => None
  }

  override def files(index: FileIndex): Option[Long] = index match {
    case prepared: PreparedDeltaFileIndex => Some(prepared.preparedScan.scannedSnapshot.numOfFiles)
    case unprepared: TahoeLogFileIndex => Some(unprepared.getSnapshot.numOfFiles)
    case _ => None
  }
}

/**
 * The files that Delta has planned for a scan, and fewer of them. Which filters Delta has used, and what it
 * makes of files, stays its own: it never sees our predicates, so that it selects no files a second time.
 *
 * Delta's later rules know a scan of theirs by the class that this one extends.
 */
final private[zorder] class NarrowedDeltaIndex(session: SparkSession, prepared: PreparedDeltaFileIndex)
    extends TahoeFileIndexWithSnapshotDescriptor(
      session,
      prepared.deltaLog,
      prepared.path,
      prepared.preparedScan.scannedSnapshot)
    with NarrowedFileIndex {

  override val root: Path = prepared.path

  override def format: String = FormatDescriptor.Delta.name

  override def files: Long = prepared.preparedScan.scannedSnapshot.numOfFiles

  override lazy val list: NarrowedList = {
    val state = Shims.classic(session).sessionState
    val conf = state.conf
    val snapshot = prepared.preparedScan.scannedSnapshot
    lazy val logged = LoggedBounds.of(prepared.preparedScan, LoggedBounds.Small)
    // where a copy of the directory was put back, a version comes twice; of some snapshots a file tells the time.
    // The text of a filter may mean other files in another time zone: files without bounds are read
    lazy val key = SnapshotStatistics.Key(
      s"$root ${snapshot.metadata.id}",
      s"${snapshot.version} ${snapshot.timestamp} ${logged.name}",
      conf.caseSensitiveAnalysis)
    new NarrowedList(
      root,
      NarrowedDeltaIndex.Asked,
      isUnanswered,
      expressions => SnapshotStatistics.of(key, logged.columns, conf).index(expressions, logged),
      FormatIndex.of(root, conf, state.newHadoopConf(), DeltaIndexing.identities(snapshot))(
        DeltaIndexing.located(root, _)))
  }

  private def isUnanswered(e: Expression): Boolean =
    FilesToRead.isUnanswered(e)(partitionSchema.fieldNames.contains(_))

  override def mayAnswer(column: Attribute): Boolean = list.mayAnswer(column)

  override def leavesOut(filter: Expression): Boolean = list.leavesOut(filter)

  override def leastBytes(filters: Seq[Expression]): Long =
    // Delta has counted the files that its own planning leaves, or says that it has not
    if (sizeInBytes == Long.MaxValue) 0L else math.min(sizeInBytes, list.bytes(filters))

  override def matchingFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[AddFile] =
    list.narrow(dataFilters, plannedByDelta(partitionFilters, dataFilters)) { f =>
      FileIdentity(f.path, f.size, f.modificationTime)
    }

  override def planned(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[DataFile] =
    plannedByDelta(partitionFilters, dataFilters).map(f => DataFile(f.path, f.size, f.modificationTime, ""))

  private def plannedByDelta(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[AddFile] =
    prepared.matchingFiles(partitionFilters, dataFilters.filterNot(_.isInstanceOf[AlwaysTrue]))

  override def inputFiles: Array[String] = prepared.inputFiles
  override def refresh(): Unit = prepared.refresh()
  override def sizeInBytes: Long = prepared.sizeInBytes

  override def equals(that: Any): Boolean = that match {
    case n: NarrowedDeltaIndex => prepared == n.preparedIndex
    case _ => false
  }
  override def hashCode(): Int = prepared.hashCode()

  private def preparedIndex: PreparedDeltaFileIndex = prepared
}

private object NarrowedDeltaIndex {

  /** Delta takes a list of values for the range from the least to the greatest. */
  val Asked = new AskedOfFormat(mostListed = 1)
}
