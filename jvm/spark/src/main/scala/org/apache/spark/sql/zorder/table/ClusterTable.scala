package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.LeafColumn
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/** How a statement names its table. */
sealed trait TableRef {

  /** As it stands in a statement that can be said again. */
  def sql: String
}

object TableRef {

  /** `db.t`, in parts. */
  final case class Name(parts: Seq[String]) extends TableRef {
    override def sql: String = ColumnPath.sql(parts)
  }

  /** `'/data/t'` or ``parquet.`/data/t` ``. */
  final case class Location(path: String) extends TableRef {
    override def sql: String = "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"
  }

  /**
   * Whether a text that stands for a table, outside of a statement, is a path: it has a slash, and no backquote
   * as quoted names have. Python's `_sql.is_path` is the same; `tests/shared/table-names.tsv` tests both.
   */
  def isPath(text: String): Boolean = text.exists(c => c == '/' || c == '\\') && !text.contains('`')
}

/**
 * A table as a clustering run sees it. Finding one checks what forbids to rewrite tables of its kind; opening one,
 * also what keeps this user from it.
 */
trait ClusterTable {

  /** The name or path as the user gave it. */
  def name: String

  /** Where the table is now; run records tell files by their paths below it. */
  def root: Path

  /** Where it is, and where it was before its last runs, as far as that is known. */
  def roots: Seq[Path] = Seq(root)

  /** Data columns, then partition columns, as the catalog has them or as Spark infers them. */
  def schema: StructType

  def partitionSchema: StructType

  /** Whether its files lie in partitions, whatever these are made from. */
  def partitioned: Boolean = partitionSchema.nonEmpty

  /** Columns of one value in each partition, by which there is nothing to cluster. */
  def constantColumns: Seq[String] = partitionSchema.fieldNames.toSeq

  /** The data columns that a catalog declares; None where only the files know. */
  def declared: Option[StructType] = None

  /**
   * What tells a column from all others that the table has or had, whatever it is called now; None where
   * nothing but the name does.
   */
  def columnId(path: Seq[String]): Option[String] = None

  /** What a format that keeps its own schema says of the columns; None where the files have the last word. */
  def managed: Option[ManagedColumns] = None

  /**
   * What keeps look-ups by these columns from using the statistics that the format will keep: a sentence,
   * which `force` overrules.
   *
   * @param paths
   *   of stored columns
   */
  def unskippable(paths: Seq[Seq[String]]): Option[String] = None

  /** What the reason of a run in place says at its end. */
  def afterword: Option[String] = None

  /** What the format's own settings of the table say, as options of a run: they win over defaults alone. */
  def formatOptions: Map[String, String] = Map.empty

  /** Columns that the format keeps for itself among the table's, with what to say of them. */
  def ownColumn(name: String): Option[String] = None

  /** Table properties; empty for a path. */
  def properties: Map[String, String]

  /** The files of the present snapshot, sorted by path. */
  def files(): Seq[DataFile]

  /** The path by which run records know a file of the table. */
  def recorded(file: DataFile): String = DataFile.below(root, file)

  /** Refuses files of the snapshot that cannot be rewritten, which WHERE may have left out. */
  def check(files: Seq[DataFile]): Unit = ()

  /** The table's own state under `_zorder/`. */
  def state: TableState

  /** Before a run: records what a run that died has committed, where another's commit counts. */
  def recover(): Unit = ()

  /** One sentence on a run that has not come to its end, for statements that leave it alone. */
  def unfinished: Option[String] = None

  /**
   * The rows of these files.
   *
   * @param session
   *   the pinned one
   * @param dataSchema
   *   the columns of all files together, without partition columns
   */
  def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation

  /** Whether a commit leaves files of a partition where they are, and so can change a part of one alone. */
  def commitsParts: Boolean = false

  /** Before a run in place: refuses where somebody reads the table who would not see what happens to it. */
  def checkReaders(): Unit = ()

  /** Begins a rewrite of some of the files. */
  def begin(runId: String): TableWrite

  /** Deletes what runs have left behind and what is older than `keepMs`; what a dry run would delete. */
  def vacuum(keepMs: Long, dryRun: Boolean): Seq[Vacuumed]

  /**
   * Undoes the last run and says its id.
   *
   * @param statement
   *   that asked for it, for the history
   */
  def rollback(statement: String): String

  /** Takes all traces of ours away. */
  def remove(): Unit

  /** Lets go of what reading and writing has kept on the driver; nothing is read or written afterwards. */
  def close(): Unit = ()
}

/** What a vacuum did in one directory. */
final case class Vacuumed(path: Path, files: Long, bytes: Long, carried: Long, status: String)

/**
 * Columns of a format that keeps its own schema, whatever its files hold.
 *
 * @param stored
 *   a leaf of a file -> what tells the column apart over all files; None for a leaf that is none of the
 *   table's columns any more
 */
final case class ManagedColumns(stored: LeafColumn => Option[Seq[String]])
