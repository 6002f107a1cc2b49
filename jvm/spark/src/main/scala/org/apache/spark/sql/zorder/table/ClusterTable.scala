package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.{ZOrderConsentException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.LeafColumn
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition, RowGroupLimit}
import org.apache.spark.sql.zorder.table.storage.ClaimFile
import org.apache.spark.util.ThreadUtils

/** How a statement names its table. */
sealed trait TableRef {

  /** The reference as a statement can write it. */
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
 * A table as a clustering run sees it. To locate a table checks whether tables of its kind can be rewritten; to open
 * it also checks whether this user can.
 */
trait ClusterTable {

  /** The name or path as the user gave it. */
  def name: String

  /** What Spark's readers and writers call the format of its files, or the format that lists them. */
  def format: String

  /** Where the table is now. Run records name files by their paths below it. */
  def root: Path

  /** Where the table is now, and where it was before its last runs if that is known. */
  def roots: Seq[Path] = Seq(root)

  /** Data columns, then partition columns, from the catalog or as Spark infers them. */
  def schema: StructType

  def partitionSchema: StructType

  /** Whether its files lie in partitions, even if these are transforms of columns. */
  def partitioned: Boolean = partitionSchema.nonEmpty

  /** A name or a value as the text of a partition's directories has it, and as it is. */
  def partitionText(escaped: String): String = ExternalCatalogUtils.unescapePathName(escaped)

  /** Columns that have one value in each partition: clustering by them has no effect. */
  def constantColumns: Seq[String] = partitionSchema.fieldNames.toSeq

  /** The data columns that a catalog declares; None if only the files tell. */
  def declared: Option[StructType] = None

  /** Whether columns of its files that differ by case only are different columns. */
  def caseSensitive: Boolean = true

  /**
   * An id that the column keeps when it is renamed, and that no other column of the table ever had; None if columns
   * have only names.
   */
  def columnId(path: Seq[String]): Option[String] = None

  /** The columns according to a format that keeps its own schema; None if the files decide. */
  def managed: Option[ManagedColumns] = None

  /**
   * A refusal if the statistics that the format will keep cannot serve look-ups by these columns. The option `force`
   * overrules it.
   *
   * @param paths
   *   of stored columns
   */
  def unskippable(paths: Seq[Seq[String]]): Option[ZOrderException] = None

  /** The columns that the format itself keeps as those the table is clustered by, as SQL; None if it keeps none. */
  def clusteredBy: Option[Seq[String]] = None

  /**
   * A refusal if the format forbids a run in place by these columns. No option overrules it.
   *
   * @param columns
   *   as SQL
   */
  def notAllowed(columns: Seq[String]): Option[ZOrderException] = None

  /** The statement that gives the table these columns first; None if the format allows a run by them as it is. */
  def reclustered(columns: Seq[String]): Option[String] = None

  /**
   * Another clusterer, by its name, that has laid out a file and that the format keeps it for: only FULL takes such a
   * file. None for all other files.
   */
  def otherClusterer(file: DataFile): Option[String] = None

  /** Whether there are such files now. */
  def hasOthersFiles: Boolean = false

  /**
   * A refusal if the user has not agreed yet to what a run in place does to others. A dry run says it in its reason.
   */
  def notAgreed: Option[ZOrderConsentException] = None

  /** What is appended to the reason of a run in place. */
  def afterword: Option[String] = None

  /** The format's own settings of the table as options of a run. Only defaults come after them. */
  def formatOptions: Map[String, String] = Map.empty

  /** Refuses a column that the format keeps for itself. */
  def ownColumn(name: String): Option[ZOrderException] = None

  /** Settings of the session that its files have to be read and written with, in place of a run's own. */
  def settings: Map[String, String] = Map.empty

  /** Whether the format keeps bounds of columns beside its files, and so of those that have none in a file. */
  def boundsBesideFiles: Boolean = false

  /** Whether its writer can write timestamps as INT96. */
  def writesInt96: Boolean = true

  /** Table properties; empty for a path. */
  def properties: Map[String, String]

  /** The files of the current snapshot, sorted by path. */
  def files(): Seq[DataFile]

  /** The path by which run records know a file of the table. */
  def recorded(file: DataFile): String = DataFile.below(root, file)

  /** How an index of ours reads it; None for plain Parquet, and for what can have no index. */
  def indexing: Option[FormatIndexing] = None

  /** Refuses files that cannot be rewritten. WHERE may leave such files out, so this comes after it. */
  def check(files: Seq[DataFile]): Unit = ()

  /** The table's own state under `_zorder/`. */
  def state: TableState

  /** Whether there is such state. */
  def hasState(session: ClassicSession): Boolean =
    root.getFileSystem(session.sessionState.newHadoopConf()).exists(new Path(root, StateDir.Name))

  /**
   * The files by which runs claim the table.
   *
   * @param at
   *   where the table is, or was before
   */
  private[zorder] def claims(session: ClassicSession, at: Seq[Path]): Seq[ClaimFile] = {
    val fs = at.head.getFileSystem(session.sessionState.newHadoopConf())
    at.distinct.flatMap(ClaimFile.beside(fs, _))
  }

  /** Before a run: records what a dead run has committed, for formats that have a commit of their own. */
  def recover(): Unit = ()

  /** One sentence on an unfinished run, for statements that only read and leave it alone. */
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

  /** Whether a commit leaves the other files of a partition in place, so that it can change a part of a partition. */
  def commitsParts: Boolean = false

  /** Whether its writer keeps the order of the rows that it gets, and ends pages at the number of rows it is told. */
  def writesPagesInOrder: Boolean = true

  /** Whether its writer can end a row group after a number of rows, too. */
  def countsRowGroups: Boolean = RowGroupLimit.supported

  /**
   * Before a run in place: refuses if a reader is active that would miss the change or read rows twice, or if it is not
   * known which files are the table's.
   */
  def checkBeforeRun(): Unit = ()

  /** Begins a rewrite of some of the files. */
  def begin(runId: String): TableWrite

  /** Deletes what runs have left behind if it is older than the retention; a dry run only lists it. */
  def vacuum(retention: Retention, dryRun: Boolean): Seq[VacuumResult]

  /**
   * Undoes the last run and returns its id.
   *
   * @param statement
   *   that asked for it, for the history
   */
  def rollback(statement: String): String

  /** When a format that keeps its own list of files knows of no run that could be undone. */
  final private[table] def refuseNoRun(): Nothing =
    refuse("ZORDER_CANNOT_ROLL_BACK.NO_RUN", "table" -> name)

  /** Removes all our traces. */
  def remove(): Unit

  /** Releases what reading and writing keep on the driver; nothing is read or written afterwards. */
  def close(): Unit = ()
}

/**
 * How long a vacuum keeps old files.
 *
 * @param stated
 *   whether the statement says so; an option never makes it shorter than what the table's format says
 */
final case class Retention(ms: Long, stated: Boolean) {

  /** What counts where the format has a retention of its own. */
  def atLeast(ownMs: Long): Long = if (stated) ms else math.max(ms, ownMs)
}

/**
 * What a vacuum did in one directory.
 *
 * @param reason
 *   why files stay, and what to do about it; empty if there is nothing to say
 */
final case class VacuumResult(
    path: Path,
    files: Long,
    bytes: Long,
    carried: Long,
    status: String,
    reason: String = "")

/**
 * Columns of a format that keeps its own schema, whatever its files hold.
 *
 * @param stored
 *   a leaf of a file -> what tells the column apart over all files; None for a leaf that is none of the
 *   table's columns any more
 */
final case class ManagedColumns(stored: LeafColumn => Option[Seq[String]])

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
 *   the rows that are gone, as they were read: none of them will be in the files of the run; None if there are none
 * @param left
 *   the rows of `present` that the files of the run have to hold; a checksum alone asks for them
 * @param marked
 *   how many rows of files of the run the format has marked as deleted by now, because others removed them, by the
 *   paths of the files; these are not among `removed`
 */
final case class ChangedInputs(
    present: Seq[DataFile],
    removed: Option[InputRelation],
    left: () => InputRelation,
    marked: Map[String, Long] = Map.empty)

object ChangedInputs {
  private val MostThreads = 16

  /** Asks of each file what others have deleted of it: the driver reads small files, at several places at once. */
  private[table] def ofEach[A](files: Seq[DataFile])(change: DataFile => A): Map[DataFile, A] =
    if (files.isEmpty) Map.empty
    else
      ThreadUtils.parmap(files, "zorder-rebase", math.min(MostThreads, files.length))(f =>
        f -> change(f)).toMap
}

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

  /** The rows of some of the files written, with all columns that were written. */
  final def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation = read(session, partitions, dataSchema)

  /** Puts the files in place, or throws and changes nothing. */
  def commit(request: CommitRequest): Unit

  /**
   * After a commit that was refused as a conflict: what others have removed of the inputs since they were read, or since
   * the last answer. From then on, commits are made against the table as it is now, and refused if anybody changes
   * one of the inputs once more. None if a new run has to read the table anew, as always where a format cannot tell.
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
