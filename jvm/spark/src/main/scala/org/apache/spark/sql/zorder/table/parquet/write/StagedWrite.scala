package org.apache.spark.sql.zorder.table.parquet.write

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PartNumber, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows

/** Parquet files written into a staging directory. `place` puts them in place, `drop` deletes them. */
final private[zorder] class StagedWrite(
    override val root: Path,
    staging: Path,
    partitionSchema: StructType,
    place: CommitRequest => Unit,
    drop: () => Unit)
    extends TableWrite {

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = {
    // a staging directory may already hold late files, which this run has not written
    val before = files(session).map(_.path).toSet
    val onStore = S3ACommit.options(session, staging)
    S3ACommit.during(session, onStore) {
      Shims.ofRows(session, plan).write.mode(SaveMode.Append).options(options ++ onStore)
        .partitionBy(partitionColumns: _*).parquet(staging.toString)
    }
    files(session).filterNot(f => before(f.path))
      .map(f => WrittenFile(f, DataFile.below(staging, f), StagedWrite.number(f.path)))
  }

  override protected def read(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, staging, partitions, dataSchema, partitionSchema)

  private def files(session: ClassicSession): Seq[DataFile] =
    DirectoryListing.walk(staging.getFileSystem(session.sessionState.newHadoopConf()), staging)
      .dataFiles(DirectoryListing.partitionOf)

  override def commit(request: CommitRequest): Unit = place(request)

  override def discard(): Unit = drop()
}

private object StagedWrite {

  /** The shuffle partition that wrote a file. */
  val number: PartNumber = new PartNumber("Spark", "part-(\\d+)-.*".r)
}
