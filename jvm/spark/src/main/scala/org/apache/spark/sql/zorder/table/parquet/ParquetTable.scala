package org.apache.spark.sql.zorder.table.parquet

import java.util.Locale

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{NumericType, StructType}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.{
  ZOrderConflictException,
  ZOrderConsentException,
  ZOrderException
}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.StoredAs
import org.apache.spark.sql.zorder.table.{
  ActiveStreams,
  ClusterTable,
  CommitRequest,
  Operation,
  Retention,
  RunRecord,
  StateDir,
  TableRef,
  TableWrite,
  VacuumResult
}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PathText, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CatalogCommit,
  CatalogEntry,
  CatalogRecovery,
  ExchangeMark,
  PathCommit,
  PathCompletion,
  PathRecovery,
  SwapPlan,
  CarriedOverFiles
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FilePermissions}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit,
  TableIdentity,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.parquet.read.{ParquetRows, PathContent}
import org.apache.spark.sql.zorder.table.parquet.write.StagedWrite
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint, ObjectStores, StorageFailure}

/** A plain Parquet table, given by its path or by its name. */
private[zorder] trait ParquetTable extends ClusterTable {

  def session: ClassicSession

  override def format: String = "parquet"

  /** Spark looks for the columns of a catalog in the files as the session compares names. */
  override def caseSensitive: Boolean = declared.isEmpty || session.sessionState.conf.caseSensitiveAnalysis
  override def settings: Map[String, String] = Map(SQLConf.CASE_SENSITIVE.key -> caseSensitive.toString)

  def store: JournalStore

  /** How journals identify this table (`Journal.table`). */
  def identity: String

  /** Whether a journal is of this table, not of a dropped one that lay at the same place. */
  def owns(journal: Journal): Boolean =
    if (journal.table.isEmpty) journal.kind == JournalKind.Path
    else TableIdentity.same(journal.table, identity)

  /** Finished commits of this table whose old files may still exist, oldest first. */
  def doneJournals(): Seq[Journal] =
    done(store.all())

  private def done(journals: Seq[Journal]): Seq[Journal] =
    journals.filter(j => j.state == JournalState.Done && owns(j))

  /** All journals as the opening of the table has read them, if none was unfinished. */
  private[parquet] def openedJournals: Option[Seq[Journal]] = None

  override def state: StateDir

  override def unfinished: Option[String] = UnfinishedCommits.notice(name, store, owns)

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path]

  /** The directories of partitions by their spelling in a staging directory. */
  private[parquet] def dirByName: Map[String, String]

  /** The catalog's name of the table, if it was opened by that. */
  private[parquet] def catalogName: Option[TableIdentifier]

  /** The table as a statement can write it. */
  def sql: String = catalogName.fold(TableRef.Location(name).sql)(CatalogEntry.sql(name, _))

  /** How its commits put new data in place. */
  def kind: JournalKind

  /** Whether the old directory of a commit stays when it is empty, because its owner may write there. */
  private[parquet] def keepsDirectory(unit: SwapUnit): Boolean = false

  /** The journal of a commit that has not begun, with the place of its staging directory. */
  private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal

  /** Here rather than in the commit, to find out before the work what cannot be set. */
  protected def copyPermissions(staging: Path): Unit

  /** The commit gives new files and directories the owners of these. */
  private def tryOwners(staging: Path, inputs: Seq[DataFile]): Unit =
    if (!ObjectStores.isOne(store.fs.getUri.getScheme)) {
      val dirs = liveDirs()
      val models = inputs.groupBy(_.partition).toSeq.flatMap { case (partition, files) =>
        new Path(files.head.path) +: dirs.get(partition).toSeq
      }
      FilePermissions.tryOwners(store.fs, staging, models)
    }

  /** Begins a commit: writes its journal and makes its staging directory, which nobody lists. */
  def prepare(runId: String): Journal = {
    LateFiles.carry(this)
    stage(runId, Operation.Optimize)
  }

  private[parquet] def stage(runId: String, operation: Operation): Journal = {
    val txn = Journal.newTxn(runId)
    val journal = draft(txn, operation, runId)
    Journal.begin(txn)
    orDiscarded(journal) {
      store.write(journal)
      store.fs.mkdirs(journal.staging)
      copyPermissions(journal.staging)
      journal
    }
  }

  /** Withdraws a commit that cannot begin. */
  private def orDiscarded[A](journal: Journal)(body: => A): A =
    try body
    catch {
      case crash: CrashPoint.Crash => throw crash
      case Cancellation.OrNonFatal(e) =>
        Cancellation.deferred(e)(discard(journal))
        e match {
          case StorageFailure(said) => refuseStaging(said)
          case _ => throw e
        }
    }

  private def refuseStaging(said: String): Nothing =
    refuse(
      if (StorageFailure.isFull(said)) "ZORDER_NO_SPACE.STAGING" else "ZORDER_NO_PERMISSION.STAGING",
      "path" -> root,
      "cause" -> said)

  /**
   * Puts the staged files in place of `request.inputs`, or throws and changes nothing; the staging directory
   * is gone then. Files of the snapshot that are not inputs stay part of the table.
   *
   * @param journal
   *   from `prepare`. Below its staging directory, partitions are spelt as Spark writes them, see
   *   `dirByName`.
   * @param staged
   *   what lies in that directory
   */
  private[parquet] def commit(journal: Journal, staged: DirectoryListing, request: CommitRequest): Unit

  /** Puts all files that lie in the staging directory now in the place of the inputs. */
  def commit(journal: Journal, request: CommitRequest): Unit =
    commit(journal, DirectoryListing.walk(store.fs, journal.staging), request)

  /** The staging directory of a run that seems dead may be taken away by anybody's vacuum. */
  protected def checkStaged(journal: Journal): Unit = {
    val fs = store.fs
    val staged = store.get(journal.txn).exists(_.state == JournalState.Staging) &&
      (ObjectStores.isOne(fs.getUri.getScheme) || fs.exists(journal.staging))
    if (!staged) throw CarriedOverFiles.outputsGone(journal.staging)
  }

  /** Takes away what was staged by a run that failed before its commit; harmless after one. */
  def discard(journal: Journal): Unit

  /** The exchange that takes this one back, in a commit of its own. */
  private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit

  /** Commits a rollback, whose journal names what takes the place of what. */
  private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit

  /** Finishes or withdraws the commits that died, where nothing was staged for `stagingMs`. */
  private[parquet] def recoverCommits(stagingMs: Long): Unit

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, root, partitions, dataSchema, partitionSchema)

  override def checkBeforeRun(): Unit = {
    ActiveStreams.refuseReaders(session, root)
    // before the work; `prepare` looks again, since what may be copied then is not what may be copied now
    LateFiles.ask(this, LateFiles.find(this, openedJournals.fold(doneJournals())(done)))
  }

  override def begin(runId: String, inputs: Seq[DataFile]): TableWrite = {
    val journal = prepare(runId)
    orDiscarded(journal)(tryOwners(journal.staging, inputs))
    new StagedWrite(root, journal.staging, partitionSchema, commit(journal, _, _), _ => discard(journal))
  }

  /** Carries out what the user has said of late files; for each of their directories, what was done. */
  def settleLate(choice: LateChoice, statement: String): Seq[VacuumResult] =
    LateFiles.settle(this, choice, statement).toSeq.sortBy(_._1.toString).map { case (dir, found) =>
      VacuumResult(dir, 0, 0, if (choice == LateChoice.Ignore) 0 else found.size.toLong, choice.status)
    }

  override def vacuum(retention: Retention, dryRun: Boolean): Seq[VacuumResult] =
    try new ParquetVacuum(this, retention.ms, dryRun).run()
    catch {
      case StorageFailure(said) => refuse("ZORDER_STORAGE_FAILED.VACUUM", "table" -> name, "cause" -> said)
    }

  override def rollback(statement: String): String =
    try ParquetRollback.run(this, statement)
    catch {
      case StorageFailure(said) =>
        refuse("ZORDER_STORAGE_FAILED.ROLLBACK", "table" -> name, "cause" -> said)
    }

  override def remove(): Unit = remove(None, s"ZORDER REMOVE $sql")

  def remove(home: Option[HomeChoice], statement: String): Unit =
    ParquetRemove.run(session, this, home, statement)
}

private[zorder] object ParquetTable {

  /** How run records know a file of a partition of the catalog: by Spark's spelling of the partition. */
  def recorded(file: DataFile): String = {
    val name = new Path(file.path).getName
    if (file.partition.isEmpty) name else s"${file.partition}/$name"
  }

  /** For commits that exchange directories instead of leaving the old ones in place. */
  def exchanged(root: Path): String =
    s"The files are in $root as before; directories were exchanged there, so a query or DataFrame from before may not " +
      "find its files; start it again."

  /** For commits that leave the old files in place. */
  def moved(root: Path): String =
    s"The table's files are not in $root any more: programs that read or write that path miss them, and see old " +
      "files until ZORDER VACUUM; ZORDER REMOVE brings them home."
}

/**
 * Parquet files under a directory of a local disk or of HDFS, where runs exchange directories in place.
 *
 * @param opened
 *   what lay there when the table was opened
 * @param registered
 *   the table of the catalog that lies there, if one is known; its location does not change
 * @param named
 *   whether it was opened by that table's name
 */
private[zorder] class PathParquetTable(
    override val session: ClassicSession,
    override val name: String,
    fs: FileSystem,
    override val root: Path,
    opened: => DirectoryListing,
    override val properties: Map[String, String] = Map.empty,
    registered: Option[CatalogTable],
    named: Boolean = false)
    extends ParquetTable {

  val store: JournalStore = JournalStore.beside(fs, root)
  private val managedBy = registered.filter(_.tableType == CatalogTableType.MANAGED)
  private val mark = ExchangeMark.of(session, registered)
  override def kind: JournalKind = JournalKind.Path
  override private[parquet] def catalogName: Option[TableIdentifier] =
    registered.filter(_ => named).map(_.identifier)

  /** DROP deletes the data of a managed table: what lay there before was another table's. */
  override def identity: String = managedBy.map(TableIdentity.of).getOrElse("")
  override def owns(journal: Journal): Boolean =
    journal.kind == JournalKind.Path && !TableIdentity.isOfEarlier(journal, identity)
  private lazy val firstListing = opened
  private var isListed = false
  private lazy val content = PathContent.read(session, root, firstListing)
  private var runs = state.nextNumber()

  override def schema: StructType =
    StoredAs.byName(StructType(declared.getOrElse(content.dataSchema) ++ content.partitionSchema))

  /** As Spark reads the table: what directories say is no column of the files, even if the catalog has it as one. */
  override def declared: Option[StructType] = registered.filter(_ => named).map { t =>
    val same = session.sessionState.conf.resolver
    val inDirectories = content.partitionSchema.fieldNames
    StoredAs.byName(StructType(t.dataSchema.filterNot(f => inDirectories.exists(same(_, f.name)))))
  }
  override def partitionSchema: StructType = content.partitionSchema

  /** Files that lack a column have NULL there if they are read by their path, and the default if by the name. */
  override def refusalOfColumns(columns: Seq[String]): Option[ZOrderException] =
    registered.filter(t => !named && t.schema.exists(_.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY)))
      .map { t =>
        new ZOrderException(
          "ZORDER_TABLE_REFUSED.DEFAULTS_BY_PATH",
          "path" -> root,
          "table" -> t.identifier.unquotedString)
      }

  override def afterword: Option[String] = Some(ParquetTable.exchanged(root))

  /** Not when the table is opened: what an earlier version has rewritten by the path can still be rolled back. */
  override def checkBeforeRun(): Unit = {
    registered.filter(_.bucketSpec.isDefined).foreach { t =>
      refuse("ZORDER_TABLE_REFUSED.BUCKETED", "table" -> t.identifier.unquotedString)
    }
    super.checkBeforeRun()
  }

  /** The first time those of the opened table; later calls list them again. */
  override def files(): Seq[DataFile] = {
    val tree = if (isListed) DirectoryListing.walk(fs, root) else firstListing
    isListed = true
    tree.dataFiles(_.parent)
  }

  override def state: StateDir = new StateDir(fs, root)

  override private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal = {
    mark.announce(txn)
    Journal.draft(txn, kind, operation, identity, runId, root, store.staging(txn))
  }

  override protected def copyPermissions(staging: Path): Unit = FilePermissions.copy(fs, root, staging)

  override def discard(journal: Journal): Unit = {
    Journal.end(journal.txn)
    store.get(journal.txn)
      .filter(j => j.state == JournalState.Staging || j.state == JournalState.Prepared)
      .foreach(new PathCompletion(store, mark).abandon)
    // a commit that got stuck is finished later, from these files
    if (store.isGone(journal.txn)) fs.delete(journal.staging, true)
    ()
  }

  override private[parquet] def commit(
      journal: Journal,
      staged: DirectoryListing,
      request: CommitRequest): Unit = {
    val dirByName = this.dirByName
    val units =
      try {
        checkBase()
        checkStaged(journal)
        SwapPlan.forPath(store, journal, staged, request.inputs, dirByName, liveDirs())
      } catch { case e: Throwable => Cancellation.deferred(e)(discard(journal)); throw e }
    val record = SwapPlan.inPlace(request.record, dirByName)
    pathCommit.commit(journal.copy(units = units), record, request.layouts)
    runs = state.nextNumber()
  }

  private def pathCommit = new PathCommit(store, mark, SessionKeys.commitWaitMs(session.sessionState.conf))

  override private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit =
    unit.copy(staged = unit.old, old = SwapPlan.below(store.retired(txn), unit.partition))

  override private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit = {
    pathCommit.commit(store.write(journal), record, Map.empty)
    ()
  }

  override private[parquet] def recoverCommits(stagingMs: Long): Unit =
    PathRecovery.recover(store, store.all(), mark, stagingMs, identity)

  /** Stops the run if another run has committed since it began, or the catalog has the table no more, or elsewhere. */
  private def checkBase(): Unit = {
    val catalog = session.sessionState.catalog
    def isThere(was: CatalogTable): Boolean = catalog.tableExists(was.identifier) && {
      val now = catalog.getTableRawMetadata(was.identifier)
      now.createTime == was.createTime && now.location == was.location
    }
    if (named && state.nextNumber() != runs || !registered.forall(isThere))
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_COMMIT", "table" -> name)
  }

  override private[parquet] def dirByName: Map[String, String] = content.dirByName

  /** Where the data of each partition is now. */
  override def liveDirs(): Map[String, Path] =
    Map("" -> root) ++ content.dirByName.values.map(p => p -> (if (p.isEmpty) root else new Path(root, p)))
}

/**
 * A table whose directories are exchanged and whose partitions are in the catalog. A partition that the
 * catalog does not name is no part of the table.
 *
 * @param entry
 *   the table in the catalog
 * @param listed
 *   its files, at each time that they are asked for
 */
final private[zorder] class PartitionedParquetTable(entry: CatalogEntry, listed: => Seq[DataFile])
    extends PathParquetTable(
      entry.session,
      entry.name,
      entry.fs,
      entry.root,
      DirectoryListing.walk(entry.fs, entry.root),
      entry.meta.properties,
      Some(entry.meta),
      named = true) {

  override def schema: StructType = StoredAs.byName(entry.meta.schema)
  override def declared: Option[StructType] = Some(StoredAs.byName(entry.meta.dataSchema))
  override def partitionSchema: StructType = entry.meta.partitionSchema
  override private[parquet] def dirByName: Map[String, String] = entry.dirByName()
  override def liveDirs(): Map[String, Path] = entry.liveDirs()
  override def files(): Seq[DataFile] = listed

  override def checkBeforeRun(): Unit = {
    entry.checkSpelling()
    super.checkBeforeRun()
  }

  /** A partition with a place of its own cannot be exchanged beside the table's directory. */
  override def check(files: Seq[DataFile]): Unit = {
    val dirs = liveDirs()
    files.map(_.partition).distinct.sorted.find(p => !isHome(p, dirs(p))).foreach { p =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.PARTITION_ELSEWHERE",
        "partition" -> p,
        "table" -> name,
        "dir" -> dirs(p),
        "path" -> root,
        "sql" -> sql)
    }
  }

  /**
   * Hive spells names of columns in lower case and numbers without zeros, and directories may have them
   * otherwise.
   */
  private def isHome(partition: String, dir: Path): Boolean = {
    val numbers = partitionSchema.fields.map(_.dataType.isInstanceOf[NumericType])
    def plain(path: String): Seq[String] = path.split('/').toSeq.zipWithIndex.map { case (part, i) =>
      val value = if (numbers.lift(i).contains(true)) part.replaceFirst("=(-?)0+(?=[0-9])", "=$1") else part
      value.toLowerCase(Locale.ROOT)
    }
    val (here, below) = (PathText.of(dir), s"${PathText.of(root)}/")
    here.startsWith(below) && plain(here.stripPrefix(below)) == plain(partition)
  }

  /** A file keeps its name in the records however the directory is spelled. */
  override def recorded(file: DataFile): String = ParquetTable.recorded(file)
}

/**
 * A Parquet table of Spark's catalog whose files move: runs write into new directories, which the catalog
 * then names. If it is partitioned, its partitions are in the catalog too.
 *
 * @param agreed
 *   whether the user has said that the files may move
 * @param opened
 *   what lay in the directory of a table without partitions when it was opened
 * @param openedJournals
 *   see [[ParquetTable]]
 * @param listed
 *   its files, at each time that they are asked for
 */
private[zorder] final class CatalogParquetTable(
    private[zorder] val entry: CatalogEntry,
    agreed: Boolean,
    opened: Option[DirectoryListing],
    override private[parquet] val openedJournals: Option[Seq[Journal]],
    listed: => Seq[DataFile])
    extends ParquetTable {

  override def session: ClassicSession = entry.session
  override def name: String = entry.name
  private def fs: FileSystem = entry.fs
  private var first = opened

  /** Elsewhere than on a store they never move unasked. */
  override def refusalWithoutConsent: Option[ZOrderConsentException] =
    if (agreed) None
    else
      Some(new ZOrderConsentException(
        if (isManaged) "ZORDER_CHOICE_NEEDED.MOVES_WITHIN" else "ZORDER_CHOICE_NEEDED.MOVES_BESIDE",
        "scheme" -> fs.getUri.getScheme,
        "table" -> name,
        "path" -> root))

  override def root: Path = entry.root
  override def roots: Seq[Path] =
    (root +: new Path(root.getParent, entry.base) +: store.all().flatMap(_.units.flatMap(u =>
      Seq(u.old, u.target))))
      .filter(_.getParent == root.getParent)
  override def store: JournalStore = entry.store
  override def kind: JournalKind = JournalKind.Catalog
  override private[parquet] def catalogName: Option[TableIdentifier] = Some(entry.ident)
  override def identity: String = entry.identity
  override def schema: StructType = StoredAs.byName(entry.meta.schema)
  override def declared: Option[StructType] = Some(StoredAs.byName(entry.meta.dataSchema))
  override def partitionSchema: StructType = entry.meta.partitionSchema
  override def properties: Map[String, String] = entry.meta.properties
  override def state: StateDir = entry.state
  override def partitioned: Boolean = entry.partitioned
  private[table] def isManaged: Boolean = entry.isManaged

  override def afterword: Option[String] = Some(ParquetTable.moved(home))

  /** Where the table was before its first run. */
  private def home: Path = if (isManaged) root else new Path(root.getParent, entry.base)

  /** A file keeps its name in the records wherever its partition moves. */
  override def recorded(file: DataFile): String = ParquetTable.recorded(file)

  /** The first time those of the opened table; later calls list them again. */
  override def files(): Seq[DataFile] = {
    val tree = first.filter(_.root == root)
    first = None
    tree.fold(listed)(_.dataFiles(_ => ""))
  }

  override def liveDirs(): Map[String, Path] = entry.liveDirs()
  override private[parquet] def dirByName: Map[String, String] = entry.dirByName()

  override def checkBeforeRun(): Unit = {
    entry.checkSpelling()
    checkDiscovery()
    super.checkBeforeRun()
  }

  /** Hive 4 drops partitions that lie in the table's directory under other names than it makes them. */
  private def checkDiscovery(): Unit =
    if (isManaged && partitioned && properties.get("discover.partitions").exists(_.equalsIgnoreCase("true")))
      refuse("ZORDER_TABLE_REFUSED.PARTITION_DISCOVERY", "table" -> name, "sql" -> sql)

  /** The first directory of an external table is its owner's, who may write there by path. */
  override private[parquet] def keepsDirectory(unit: SwapUnit): Boolean =
    entry.external && unit.old.getName == entry.base

  override private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal = {
    entry.announce(txn)
    Journal.draft(txn, kind, operation, identity, runId, root, entry.newDirectory(txn))
  }

  override protected def copyPermissions(staging: Path): Unit =
    if (!ObjectStores.isOne(fs.getUri.getScheme) && fs.exists(root)) FilePermissions.copy(fs, root, staging)

  override def discard(journal: Journal): Unit = {
    Journal.end(journal.txn)
    CatalogRecovery.settle(entry, journal.txn)
  }

  override private[parquet] def commit(
      journal: Journal,
      staged: DirectoryListing,
      request: CommitRequest): Unit = {
    checkStaged(journal)
    catalogCommit.commit(journal, staged, request)
  }

  private def catalogCommit = new CatalogCommit(entry, SessionKeys.commitWaitMs(session.sessionState.conf))

  override private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit =
    unit.copy(target = unit.old, staged = unit.old, old = unit.target)

  override private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit =
    catalogCommit.switch(journal, record)

  override private[parquet] def recoverCommits(stagingMs: Long): Unit =
    CatalogRecovery.recover(entry, store.all(), stagingMs)
}
