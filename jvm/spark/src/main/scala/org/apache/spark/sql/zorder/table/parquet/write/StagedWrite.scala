package org.apache.spark.sql.zorder.table.parquet.write

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, StateDir, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PartNumber, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * Parquet files written into a staging directory.
 *
 * @param place
 *   puts them in place; it gets what lay in the staging directory when they were written
 * @param drop
 *   deletes them; it gets how many jobs have written them
 */
final private[zorder] class StagedWrite(
    override val root: Path,
    staging: Path,
    partitionSchema: StructType,
    place: (DirectoryListing, CommitRequest) => Unit,
    drop: Int => Unit)
    extends TableWrite {
  private var listed: Option[DirectoryListing] = None
  private var writes = 0

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = {
    val onStore = S3ACommit.options(session, staging)
    S3ACommit.during(session, onStore) {
      Shims.ofRows(session, plan).write.mode(SaveMode.Append).options(options ++ onStore)
        .partitionBy(partitionColumns: _*).parquet(staging.toString)
    }
    writes += 1
    CrashPoint.hit("parquet-written")
    // all of them: nobody else writes into a staging directory
    val tree = DirectoryListing.walk(staging.getFileSystem(session.sessionState.newHadoopConf()), staging)
    if (staging == root && StagedWrite.jobs(tree).size > writes)
      refuse("ZORDER_TARGET_REFUSED.WRITTEN_MEANWHILE", "path" -> root)
    listed = Some(tree)
    tree.dataFiles(_.parent)
      .map(f => WrittenFile(f, DataFile.below(staging, f), StagedWrite.number(f.path)))
  }

  override def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, staging, partitions, dataSchema, partitionSchema)

  override def commit(request: CommitRequest): Unit =
    place(listed.getOrElse(throw new IllegalStateException("A commit before anything was written")), request)

  override def discard(): Unit = drop(writes)
}

private[table] object StagedWrite {
  private val OfJob = "part-\\d+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\\b.*".r

  /** The jobs of Spark that have written files there. A file of another name counts as a job of its own. */
  def jobs(tree: DirectoryListing): Set[String] =
    tree.files.filterNot(f => f.rel.startsWith(s"${StateDir.Name}/") || f.rel == "_SUCCESS")
      .map(f =>
        f.name match {
          case OfJob(job) => job
          case _ => f.rel
        }).toSet

  /** The shuffle partition that wrote a file. */
  val number: PartNumber = new PartNumber("Spark", "part-(\\d+)-.*".r)
}
