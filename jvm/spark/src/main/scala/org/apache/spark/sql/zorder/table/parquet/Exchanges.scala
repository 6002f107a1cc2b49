package org.apache.spark.sql.zorder.table.parquet

import java.net.URI

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchDatabaseException,
  NoSuchNamespaceException,
  NoSuchTableException
}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
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

/** What the catalog has of the commits of a table. */
private[parquet] case class CommitMarks(
    txn: Option[String],
    exchanging: Option[String],
    location: Option[URI]) {
  def known: Boolean = txn.isDefined || exchanging.isDefined

  /** The state after the exchange. The catalog may say so only later. */
  def over: CommitMarks = CommitMarks(exchanging.orElse(txn), None, location)
}

private[parquet] object CommitMarks {
  def of(table: CatalogTable): CommitMarks =
    CommitMarks(
      table.properties.get(CatalogCommit.TxnProperty),
      table.properties.get(ExchangeMark.Property),
      table.storage.locationUri)
}

/** Exchanges of directories, and partitions that move, as a session sees them that does not make them. */
final private[parquet] class Exchanges(session: ClassicSession) {
  import Exchanges._

  /** What the catalog says of the table when no exchange is under way. */
  def quiet(table: CatalogTable): CommitMarks = {
    val waitMs = SessionKeys.commitWaitMs(session.sessionState.conf)
    val end = System.nanoTime + waitMs * 1000000L
    var now = current(table)
    var late = false
    while (now.exchanging.exists(isUnderWay(table, _))) {
      if (late) UnfinishedCommits.refuseNotDone(table.identifier.unquotedString, waitMs)
      // when the time is over, the last look counts: this one may have finished a dead run, however long that took
      late = System.nanoTime > end
      if (!late) Thread.sleep(PollMs)
      now = current(table)
    }
    now.over
  }

  /** Asked of the catalog below the session's, which would ask three times: every query of the table does this. */
  private def current(table: CatalogTable): CommitMarks =
    try {
      val catalog = session.sessionState.catalog
      val database = table.identifier.database.getOrElse(catalog.getCurrentDatabase)
      CommitMarks.of(catalog.externalCatalog.getTable(database, table.identifier.table))
    } catch {
      // dropped meanwhile: Spark will say so
      case _: NoSuchTableException | _: NoSuchDatabaseException | _: NoSuchNamespaceException =>
        CommitMarks.of(table).copy(exchanging = None)
    }

  /**
   * Whether the exchange is not over. One whose owner is dead is finished or undone, and looked at again then: another
   * session may have begun that. One whose journal this session may not read may be under way.
   */
  def isUnderWay(table: CatalogTable, txn: String): Boolean = {
    val entry = entryOf(table)
    def isThere = Try(JournalStore.baseOf(entry.fs, entry.root.getParent, txn).isDefined).getOrElse(true)
    entry.store.get(txn).orElse(ofEarlierName(table, entry, txn)).fold(isThere) { journal =>
      if (Heartbeat.isAlive(entry.store, journal)) journal.state != JournalState.Done
      else {
        if (journal.isExchanging) finish(table, entry, journal)
        // its owner has died before it took the mark away
        else if (journal.state == JournalState.Done) Try(ExchangeMark.of(session, Some(table)).end(txn, Nil))
        journal.isExchanging
      }
    }
  }

  /** Somebody has renamed the table, in a session that does not know of exchanges. */
  private def ofEarlierName(table: CatalogTable, entry: CatalogEntry, txn: String): Option[Journal] =
    if (!entry.isManaged) None
    else {
      orRefuse(table, txn)(RenamedTable.adopt(entry.fs, entry.root, entry.identity, Some(txn), query = true))
      entry.store.get(txn)
    }

  private def finish(table: CatalogTable, entry: CatalogEntry, journal: Journal): Unit =
    orRefuse(table, journal.runId)(journal.kind match {
      case JournalKind.Path =>
        PathRecovery.takeOver(entry.store, ExchangeMark.of(session, Some(table)), journal.txn)
      case JournalKind.Catalog => CatalogRecovery.settle(entry, journal.txn)
    })

  def orRefuse(table: CatalogTable, run: String)(body: => Unit): Unit = {
    val name = table.identifier.unquotedString
    orRefuse(name, CatalogEntry.sql(name, table.identifier), run)(body)
  }

  def orRefuse(name: String, sql: String, run: String)(body: => Unit): Unit =
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

  def known(ident: TableIdentifier): Option[CatalogTable] =
    try Some(session.sessionState.catalog.getTableRawMetadata(ident))
    catch { case NonFatal(_) => None } // there is no such table: Spark will say so

  def entryOf(table: CatalogTable): CatalogEntry =
    new CatalogEntry(session, table.identifier.unquotedString, table.identifier, fileSystem(table))

  def fileSystem(table: CatalogTable): FileSystem = fileSystem(new Path(table.location))

  def fileSystem(path: Path): FileSystem = path.getFileSystem(session.sessionState.newHadoopConf())

  /** Whether directories are renamed there in one step. */
  def renames(place: URI): Boolean = Option(place.getScheme).fold(
    AtomicRenames.on(session, fileSystem(new Path(place))))(AtomicRenames.onScheme(session, _))

  /** Whether files that a listing looks for may be away for a moment, or for good. */
  def mayMove(table: CatalogTable): Boolean =
    table.storage.locationUri.exists(renames) || emptiesPlaces(table)

  /** Whether a run takes the old files of partitions away from the places where Spark makes them. */
  def emptiesPlaces(table: CatalogTable): Boolean =
    table.tableType == CatalogTableType.MANAGED && table.partitionColumnNames.nonEmpty
}

private object Exchanges {
  private val PollMs = 50L
}
