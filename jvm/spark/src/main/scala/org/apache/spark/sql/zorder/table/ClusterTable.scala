package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.{ZOrderConsentException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.LeafColumn
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition, RowGroupLimit}
import org.apache.spark.sql.zorder.table.storage.ClaimFile

/**
 * A table as a clustering run sees it. To locate a table checks whether tables of its kind can be rewritten; to open
 * it also checks whether this user can.
 *
 * `refusal...` gives an exception, so that a dry run can say it; `force` overrules `refusalOfBounds` alone. `check...`
 * throws one.
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
  def refusalOfBounds(paths: Seq[Seq[String]]): Option[ZOrderException] = None

  /** The columns that the format itself keeps as those the table is clustered by, as SQL; None if it keeps none. */
  def clusteredBy: Option[Seq[String]] = None

  /**
   * A refusal if the format forbids a run in place by these columns. No option overrules it.
   *
   * @param columns
   *   as SQL
   */
  def refusalOfColumns(columns: Seq[String]): Option[ZOrderException] = None

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
  def refusalWithoutConsent: Option[ZOrderConsentException] = None

  /** What is appended to the reason of a run in place. */
  def afterword: Option[String] = None

  /** Properties of the format, each with the option of a run that it stands for. Only defaults come after them. */
  def formatOptions: Map[String, String] = Map.empty

  /** A refusal if the format keeps a column of this name for itself. */
  def refusalOfName(name: String): Option[ZOrderException] = None

  /** Settings of the session that its files have to be read and written with, in place of a run's own. */
  def settings: Map[String, String] = Map.empty

  /** Whether the format keeps bounds of columns beside its files, and so of those that have none in a file. */
  def boundsBesideFiles: Boolean = false

  /** Whether its writer can write timestamps as INT96. */
  def writesInt96: Boolean = true

  /** Table properties; empty for a path. */
  def properties: Map[String, String]

  /**
   * Columns, by their names, that the format's readers give one value in all rows of a file, whatever the file has, and
   * these values. Not those of `partitionSchema`.
   */
  def constants(file: DataFile): Map[String, Literal] = Map.empty

  /** The files of the current snapshot, sorted by path. */
  def files(): Seq[DataFile]

  /** The files that WHERE of a run in place selects from, also such as `check` refuses. */
  def selectable(): Seq[DataFile] = files()

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

  /** One sentence for a dry run on what would refuse the commit now. */
  def obstacle: Option[String] = None

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
   * Before a run in place: refuses if a reader is active that would miss the change or read rows twice, if it is not
   * known which files are the table's, or if the format would refuse the commit.
   */
  def checkBeforeRun(): Unit = ()

  /** Begins a rewrite of these files. */
  def begin(runId: String, inputs: Seq[DataFile]): TableWrite

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
    if (state.lastCommits().exists(_.version.isEmpty))
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.NO_RUN_LEFT",
        "table" -> name,
        "why" -> ("the version of its last run is not known, since the driver died after the commit; " +
          "use the format's own statement, such as Delta's RESTORE"))
    else refuse("ZORDER_CANNOT_ROLL_BACK.NO_RUN", "table" -> name)

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
 * Columns of a format that keeps its own schema, whatever its files hold.
 *
 * @param stored
 *   a leaf of a file -> what tells the column apart over all files; None for a leaf that is none of the
 *   table's columns any more
 */
final case class ManagedColumns(stored: LeafColumn => Option[Seq[String]])
