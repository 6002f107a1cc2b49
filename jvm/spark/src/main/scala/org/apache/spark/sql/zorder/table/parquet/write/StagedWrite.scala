package org.apache.spark.sql.zorder.table.parquet.write

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{DataFrame, SaveMode}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}
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
    val before = StagedFiles.list(session, staging).map(_.path).toSet
    val onStore = S3ACommit.options(session, staging)
    S3ACommit.during(session, onStore) {
      Shims.ofRows(session, plan).write.mode(SaveMode.Append).options(options ++ onStore)
        .partitionBy(partitionColumns: _*).parquet(staging.toString)
    }
    StagedFiles.list(session, staging).filterNot(f => before(f.path))
      .map(f => WrittenFile(f, DataFile.below(staging, f), StagedFiles.number(f)))
  }

  override def rows(session: ClassicSession, dataSchema: StructType, files: Seq[WrittenFile]): DataFrame = {
    val partitions = PinnedPartition.of(files.map(_.file))
    val written = ParquetRows(session, staging, partitions, dataSchema, partitionSchema)
    Shims.ofRows(session, Project(written.copied, written.plan))
  }

  override def commit(request: CommitRequest): Unit = place(request)

  override def discard(): Unit = drop()
}
