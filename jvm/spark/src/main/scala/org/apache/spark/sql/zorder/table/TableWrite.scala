package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * A file that a run wrote and nobody reads yet.
 *
 * @param path
 *   as run records have it: relative to the root where the file lies below it
 * @param number
 *   of the shuffle partition that wrote it, which is its file number over all layouts of the run
 */
final case class WrittenFile(file: DataFile, path: String, number: Int)

/**
 * What a run commits in place of `inputs`.
 *
 * @param inputs
 *   files that were rewritten, as they were listed at the start
 * @param record
 *   written to `_zorder/runs/<n>.json` with the commit
 * @param layouts
 *   bodies of layouts by id, written to `_zorder/layouts/<id>.json` with the commit
 */
final case class CommitRequest(inputs: Seq[DataFile], record: RunRecord, layouts: Map[String, String])

/** One rewrite in progress. Nobody sees what it writes before the commit. */
trait TableWrite {

  /** Where the files will be: the root of the table or of its copy. */
  def root: Path

  /**
   * Writes the rows of `plan`: each shuffle partition into one file, in the order of its rows.
   *
   * @param partitionColumns
   *   those of the plan's columns that become directories; each shuffle partition holds one value of them
   * @param options
   *   of Parquet's writer: row-group bytes, page rows, `compression`, Bloom filters
   * @param partitionOf
   *   the partition (`DataFile.partition`) that the rows of a shuffle partition were read from
   */
  def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile]

  /** The rows written, with the columns that a copy of the input relation has. */
  final def rows(session: ClassicSession, dataSchema: StructType, files: Seq[WrittenFile]): DataFrame = {
    val written = read(session, PinnedPartition.of(files.map(_.file)), dataSchema)
    Shims.ofRows(session, Project(written.copied, written.plan))
  }

  /** The relation of what was written, as `ClusterTable.rows` gives that of a table's files. */
  protected def read(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation

  /** Puts the files in place, or throws and changes nothing. */
  def commit(request: CommitRequest): Unit

  /** Deletes what was written by a run that failed before its commit. It has no effect after a commit. */
  def discard(): Unit
}
