package org.apache.spark.sql.zorder.table.parquet

import java.net.URI

import scala.annotation.tailrec
import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchDatabaseException,
  NoSuchNamespaceException,
  NoSuchTableException
}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.CatalogManager
import org.apache.spark.sql.execution.command.{
  AlterTableDropPartitionCommand,
  AlterTableRenameCommand,
  AlterTableRenamePartitionCommand,
  CreateDataSourceTableAsSelectCommand,
  CreateDataSourceTableCommand,
  RepairTableCommand,
  TruncateTableCommand
}
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  HadoopFsRelation,
  InMemoryFileIndex,
  InsertIntoHadoopFsRelationCommand,
  LogicalRelation,
  PruneFileSourcePartitions
}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CatalogCommit,
  CatalogEntry,
  CatalogRecovery,
  ExchangeMark,
  PathRecovery,
  RenamedTable
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.storage.AtomicRenames

/**
 * Keeps a query from listing a plain Parquet table of the catalog while a run exchanges its directories, when those that
 * are away would be missing without a word. The listing is made here, and holds if no exchange is under way after it and
 * the last commit is the one that was known before it. Else it waits and lists again. A dead run is finished or undone,
 * also before a statement writes or deletes there: afterwards nobody could tell what it has done from what the run left.
 *
 * A table without any property of ours is only looked up in the catalog: a run that comes gives it one before it begins.
 */
final case class ExchangeGuard(session: SparkSession) extends Rule[LogicalPlan] {
  import ExchangeGuard._

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach { l =>
      inserted(l).flatMap(known).foreach(table =>
        CommitMarks.of(table).exchanging.foreach(underWay(table, _)))
      changed(l).flatMap(known).foreach { table =>
        if (CommitMarks.of(table).exchanging.isDefined) quiet(table)
        settleMoves(table)
      }
      placed(l).foreach(finishBeside)
    }
    val tables = plan.collect { case l => watched(l) }.flatten
    if (tables.isEmpty) plan else listed(plan, tables, tables.map(t => CommitMarks.of(t._2)))
  }

  /** The plan with its tables listed, when nothing has happened to them since the catalog said `before`. */
  @tailrec
  private def listed(
      plan: LogicalPlan,
      tables: Seq[(HadoopFsRelation, CatalogTable)],
      before: Seq[CommitMarks]): LogicalPlan = {
    val known = tables.map(_._2.identifier).zip(before).collect { case (t, seen) if seen.known => t }.toSet
    // as in the rule that skips files: Spark prunes partitions only of relations that are not listed yet
    val pruned = PruneFileSourcePartitions(plan).transformUp { case l: LogicalRelation =>
      watched(l).filter(t => known(t._2.identifier)).fold(l) { case (r, _) => l.copy(relation = atOnce(r)) }
    }
    val now = tables.map { case (_, table) => quiet(table) }
    if (now == before) pruned
    else {
      tables.zip(before.zip(now)).foreach { case ((relation, table), (was, seen)) =>
        if (was != seen) relist(relation, table, seen)
      }
      listed(plan, tables, now)
    }
  }

  /** The session has the table as it was before some commit, or from the middle of one. */
  private def relist(relation: HadoopFsRelation, table: CatalogTable, seen: CommitMarks): Unit = {
    classic.sessionState.catalog.invalidateCachedTable(table.identifier)
    val places = relation.location match {
      // it keeps what it has listed by directory, so that a partition that was away stays away; it asks the catalog
      // anew where its partitions are
      case partitioned: CatalogFileIndex =>
        partitioned.refresh()
        Nil
      case found if seen.location.forall(table.storage.locationUri.contains) =>
        found.refresh()
        found.rootPaths
      // its old files are still there until the vacuum, and are read
      case found => found.inputFiles.headOption.fold(found.rootPaths)(file => Seq(new Path(new URI(file))))
    }
    if (!places.forall(fileSystem(table).exists))
      refuse("ZORDER_RETRY_QUERY.FILES_MOVED", "table" -> table.identifier.unquotedString)
  }

  /** The table that a command is about to write to: what it writes during an exchange is kept. */
  private def inserted(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case insert: InsertIntoHadoopFsRelationCommand => insert.catalogTable.map(_.identifier)
    case _ => None
  }

  /** The table whose directories a command is about to delete, to rename or to look for: one that is away would be missed. */
  private def changed(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case truncate: TruncateTableCommand => Some(truncate.tableName)
    case drop: AlterTableDropPartitionCommand => Some(drop.tableName)
    case rename: AlterTableRenamePartitionCommand => Some(rename.tableName)
    case repair: RepairTableCommand => Some(repair.tableName)
    case rename: AlterTableRenameCommand if !rename.isView => Some(rename.oldName)
    case _ => None
  }

  /** The place of a table that a command is about to make. */
  private def placed(plan: LogicalPlan): Option[URI] = plan match {
    case create: CreateDataSourceTableCommand => placeOf(create.table)
    case create: CreateDataSourceTableAsSelectCommand => placeOf(create.table)
    case _ => None
  }

  private def placeOf(table: CatalogTable): Option[URI] =
    table.storage.locationUri.filter(_ => table.provider.exists(_.equalsIgnoreCase("parquet")))

  /** Of a table that was dropped, a dead exchange would be finished over what is written there now. */
  private def finishBeside(place: URI): Unit = if (renames(place)) {
    val fs = new Path(place).getFileSystem(classic.sessionState.newHadoopConf())
    val root = fs.makeQualified(new Path(place))
    if (root.getParent != null) {
      val store = JournalStore.beside(fs, root)
      UnfinishedCommits.journals(store).filter(j => j.kind == JournalKind.Path && j.isExchanging).foreach {
        j =>
          orRefuse(root.toString, TableRef.Location(root.toString).sql, j.runId)(
            PathRecovery.takeOver(store, ExchangeMark.None, j.txn))
      }
    }
  }

  /** Where a run died before it had taken the old files away, they would be rows of a partition that is made again. */
  private def settleMoves(table: CatalogTable): Unit =
    CommitMarks.of(table).txn.filter(_ => emptiesPlaces(table)).foreach { txn =>
      val entry = entryOf(table)
      orRefuse(table, txn)(CatalogRecovery.recover(entry, UnfinishedCommits.journals(entry.store)))
    }

  private def known(ident: TableIdentifier): Option[CatalogTable] =
    try Some(classic.sessionState.catalog.getTableRawMetadata(ident))
    catch { case NonFatal(_) => None } // there is no such table: Spark will say so

  private def entryOf(table: CatalogTable): CatalogEntry =
    new CatalogEntry(classic, table.identifier.unquotedString, table.identifier, fileSystem(table))

  private def classic = Shims.classic(session)

  private def watched(plan: LogicalPlan): Option[(HadoopFsRelation, CatalogTable)] = plan match {
    case l: LogicalRelation => (l.relation, l.catalogTable) match {
        case (r: HadoopFsRelation, Some(table))
            if isListed(r) && isOurs(table) && (renames(table) || emptiesPlaces(table)) =>
          Some(r -> table)
        case _ => None
      }
    case _ => None
  }

  /** Other catalogs may have tables that look like those of Spark's own. */
  private def isOurs(table: CatalogTable): Boolean =
    table.identifier.catalog.forall(_.equalsIgnoreCase(CatalogManager.SESSION_CATALOG_NAME))

  private def isListed(r: HadoopFsRelation): Boolean =
    r.fileFormat.getClass == classOf[ParquetFileFormat] &&
      (r.location.isInstanceOf[CatalogFileIndex] || r.location.isInstanceOf[InMemoryFileIndex])

  private def renames(table: CatalogTable): Boolean = table.storage.locationUri.exists(renames)

  private def renames(place: URI): Boolean = Option(place.getScheme).fold(
    AtomicRenames.on(classic, new Path(place).getFileSystem(classic.sessionState.newHadoopConf())))(
    AtomicRenames.onScheme(classic, _))

  /** A run takes the old files of partitions away from the places where Spark makes them. */
  private def emptiesPlaces(table: CatalogTable): Boolean =
    table.tableType == CatalogTableType.MANAGED && table.partitionColumnNames.nonEmpty

  private def fileSystem(table: CatalogTable) =
    new Path(table.location).getFileSystem(classic.sessionState.newHadoopConf())

  /** Lists partitions now which Spark would list when it reads. */
  private def atOnce(relation: HadoopFsRelation): HadoopFsRelation = relation.location match {
    case lazily: CatalogFileIndex =>
      relation.copy(location = lazily.filterPartitions(Nil))(relation.sparkSession)
    case _ => relation
  }

  /** What the catalog says of the table when no exchange is under way. */
  private def quiet(table: CatalogTable): CommitMarks = {
    val waitMs = SessionKeys.commitWaitMs(classic.sessionState.conf)
    val end = System.nanoTime + waitMs * 1000000L
    var now = current(table)
    var late = false
    while (now.exchanging.exists(underWay(table, _))) {
      if (late)
        refuse(
          "ZORDER_RETRY_QUERY.EXCHANGE_NOT_DONE",
          "table" -> table.identifier.unquotedString,
          "seconds" -> waitMs / 1000,
          "setting" -> SessionKeys.CommitWait.key)
      // when the time is over, the last look counts: this one may have finished a dead run, however long that took
      late = System.nanoTime > end
      if (!late) Thread.sleep(PollMs)
      now = current(table)
    }
    now.over
  }

  private def current(table: CatalogTable): CommitMarks =
    try CommitMarks.of(classic.sessionState.catalog.getTableRawMetadata(table.identifier))
    catch {
      // dropped meanwhile: Spark will say so
      case _: NoSuchTableException | _: NoSuchDatabaseException | _: NoSuchNamespaceException =>
        CommitMarks.of(table).copy(exchanging = None)
    }

  /**
   * Whether the exchange is not over. One whose owner is dead is finished or undone, and looked at again then: another
   * session may have begun that. One whose journal this session may not read may be under way.
   */
  private def underWay(table: CatalogTable, txn: String): Boolean = {
    val entry = entryOf(table)
    def isThere = Try(JournalStore.baseOf(entry.fs, entry.root.getParent, txn).isDefined).getOrElse(true)
    entry.store.get(txn).orElse(ofEarlierName(table, entry, txn)).fold(isThere) { journal =>
      if (Heartbeat.isAlive(entry.store, journal)) journal.state != JournalState.Done
      else {
        if (journal.isExchanging) finish(table, entry, journal)
        // its owner has died before it took the mark away
        else if (journal.state == JournalState.Done) Try(ExchangeMark.of(classic, Some(table)).end(txn, Nil))
        journal.isExchanging
      }
    }
  }

  /** Somebody has renamed the table, in a session that does not know of exchanges. */
  private def ofEarlierName(table: CatalogTable, entry: CatalogEntry, txn: String): Option[Journal] =
    if (!entry.isManaged) None
    else {
      orRefuse(table, txn)(RenamedTable.adopt(entry.fs, entry.root, entry.identity, Some(txn)))
      entry.store.get(txn)
    }

  private def finish(table: CatalogTable, entry: CatalogEntry, journal: Journal): Unit =
    orRefuse(table, journal.runId)(journal.kind match {
      case JournalKind.Path =>
        PathRecovery.takeOver(entry.store, ExchangeMark.of(classic, Some(table)), journal.txn)
      case JournalKind.Catalog => CatalogRecovery.settle(entry, journal.txn)
    })

  private def orRefuse(table: CatalogTable, run: String)(body: => Unit): Unit = {
    val name = table.identifier.unquotedString
    orRefuse(name, CatalogEntry.sql(name, table.identifier), run)(body)
  }

  private def orRefuse(name: String, sql: String, run: String)(body: => Unit): Unit =
    try body
    catch {
      case NonFatal(e) =>
        refuse(
          "ZORDER_NO_PERMISSION.FINISH_EXCHANGE",
          "run" -> run,
          "table" -> name,
          "cause" -> ZOrderException.firstLine(e),
          "sql" -> sql)
    }
}

object ExchangeGuard {
  private val PollMs = 50L

  /** What the catalog has of the commits of a table. */
  private case class CommitMarks(txn: Option[String], exchanging: Option[String], location: Option[URI]) {
    def known: Boolean = txn.isDefined || exchanging.isDefined

    /** The state after the exchange. The catalog may say so only later. */
    def over: CommitMarks = CommitMarks(exchanging.orElse(txn), None, location)
  }

  private object CommitMarks {
    def of(table: CatalogTable): CommitMarks =
      CommitMarks(
        table.properties.get(CatalogCommit.TxnProperty),
        table.properties.get(ExchangeMark.Property),
        table.storage.locationUri)
  }
}
