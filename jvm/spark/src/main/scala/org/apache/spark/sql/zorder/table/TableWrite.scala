package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.storage.DriverReads

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
    val written = relation(session, PinnedPartition.of(files.map(_.file)), dataSchema)
    Shims.ofRows(session, Project(written.copied, written.plan))
  }

  /** The relation of some of the files written, as `ClusterTable.rows` gives that of a table's files. */
  def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation

  /** Puts the files in place, or throws and changes nothing. */
  def commit(request: CommitRequest): Unit

  /**
   * Whether `rebase` may take rows out of the files written. These are known by their values alone, so equal
   * rows have to be in one file then.
   */
  def mayRebase: Boolean = false

  /**
   * After a commit that was refused as a conflict: what others have removed of the inputs since they were
   * read, or since the last answer. From then on, commits are made against the table as it is now, and
   * refused if anybody changes one of the inputs once more. None if a new run has to read the table anew, as
   * always where a format cannot tell.
   *
   * @param partitions
   *   the inputs as they were committed last, in the order in which relations number them
   */
  def rebase(session: ClassicSession, partitions: IndexedSeq[PinnedPartition]): Option[ChangedInputs] = None

  /** Deletes some of the files written, which no commit shall have. */
  def withdraw(files: Seq[WrittenFile]): Unit = ()

  /** Deletes what was written by a run that failed before its commit. It has no effect after a commit. */
  def discard(): Unit
}

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
 * What a run commits.
 *
 * @param record
 *   written to `_zorder/runs/<n>.json` with the commit
 * @param layouts
 *   bodies of layouts by id, written to `_zorder/layouts/<id>.json` with the commit
 */
final case class CommitRequest(record: RunRecord, layouts: Map[String, String]) {

  /** The files that the new ones replace, as they were listed at the start. */
  def inputs: Seq[DataFile] = record.rewritten
}

/**
 * What others have made of the inputs of a run.
 *
 * @param present
 *   those that are still the table's, as they are now
 * @param removed
 *   the rows that are gone, as they were read: none of them will be in the files of the run; None if there
 *   are none
 * @param left
 *   the rows of `present` that the files of the run have to hold; a checksum alone asks for them
 * @param marked
 *   how many rows of files of the run the format has marked as deleted by now, because others removed them,
 *   by the paths of the files; these are not among `removed`
 */
final case class ChangedInputs(
    present: Seq[DataFile],
    removed: Option[InputRelation],
    left: () => InputRelation,
    marked: Map[String, Long] = Map.empty)

object ChangedInputs {
  private val MostThreads = 16

  /**
   * Asks of each file what others have deleted of it: the driver reads small files, at several places at
   * once.
   */
  private[table] def ofEach[A](files: Seq[DataFile])(change: DataFile => A): Map[DataFile, A] =
    DriverReads.each(files, MostThreads)(f => f -> change(f)).toMap
}
