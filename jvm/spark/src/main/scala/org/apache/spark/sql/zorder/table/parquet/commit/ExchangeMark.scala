package org.apache.spark.sql.zorder.table.parquet.commit

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogStatistics,
  CatalogTable,
  CatalogTablePartition,
  SessionCatalog
}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.parquet.journal.SwapUnit

/**
 * What the catalog says of an exchange of directories. While the property `zorder.exchanging` names a commit, some of
 * the table's directories may be away for a moment, and whoever lists the table then misses their rows. The property
 * `zorder.txn` names the last commit, so a reader can tell whether one took place while it was listing.
 */
private[zorder] trait ExchangeMark {

  /** When a run begins to write: from now on, queries look for what comes. */
  def announce(txn: String): Unit

  /** Before the first rename. */
  def begin(txn: String): Unit

  /** The commit that it is of, if there is one. */
  def marked: Option[String]

  /** After the last rename, forward or back; `units` are those that hold new data. Without effect if nothing began. */
  def end(txn: String, units: Seq[SwapUnit]): Unit
}

private[zorder] object ExchangeMark {
  val Property = "zorder.exchanging"

  /** For a path that no table of the catalog is known to lie at. */
  object None extends ExchangeMark {
    override def announce(txn: String): Unit = ()
    override def begin(txn: String): Unit = ()
    override def marked: Option[String] = scala.None
    override def end(txn: String, units: Seq[SwapUnit]): Unit = ()
  }

  def of(session: ClassicSession, table: Option[CatalogTable]): ExchangeMark =
    table.fold[ExchangeMark](None)(t => new OfTable(session, t.identifier))

  final private class OfTable(session: ClassicSession, ident: TableIdentifier)
      extends ExchangeMark with Logging {
    private val catalog: SessionCatalog = session.sessionState.catalog

    override def announce(txn: String): Unit =
      change(p => if (p.contains(CatalogCommit.TxnProperty)) p else p + (CatalogCommit.TxnProperty -> txn))

    override def begin(txn: String): Unit = change(_ + (Property -> txn))

    override def end(txn: String, units: Seq[SwapUnit]): Unit = if (marked.contains(txn)) {
      // sizes are hints to the optimizer: that they are old must not fail a commit that took place
      try renewSizes(units)
      catch { case NonFatal(e) => logWarning(s"The sizes of ${ident.unquotedString} were not renewed", e) }
      change(_ - Property + (CatalogCommit.TxnProperty -> txn))
    }

    override def marked: Option[String] =
      if (catalog.tableExists(ident)) catalog.getTableRawMetadata(ident).properties.get(Property)
      else scala.None

    /** Raw, because CHAR and VARCHAR must stay when it is written back. A dropped table needs no mark. */
    private def change(properties: Map[String, String] => Map[String, String]): Unit =
      if (catalog.tableExists(ident)) {
        val now = catalog.getTableRawMetadata(ident)
        val wanted = properties(now.properties)
        if (wanted != now.properties) catalog.alterTable(now.copy(properties = wanted))
      }

    /** The sizes that the catalog has of the table and of its partitions; what it has not got is not counted. */
    private def renewSizes(units: Seq[SwapUnit]): Unit = if (catalog.tableExists(ident) && units.nonEmpty) {
      val table = catalog.getTableRawMetadata(ident)
      val before = units.flatMap(_.inputs).map(_.length).sum
      val after = units.flatMap(_.outputs).map(_.length).sum
      table.stats.foreach { s =>
        catalog.alterTableStats(ident, Some(resized(s, s.sizeInBytes - before + after)))
      }
      if (table.partitionColumnNames.nonEmpty) {
        val changed = for {
          p <- catalog.listPartitions(ident)
          unit <- units.find(u => new Path(p.location).toUri.getPath == u.target.toUri.getPath)
          renewed = sized(p, unit) if renewed != p
        } yield renewed
        if (changed.nonEmpty) catalog.alterPartitions(ident, changed)
      }
    }

    private def sized(p: CatalogTablePartition, unit: SwapUnit): CatalogTablePartition = {
      val files = (unit.outputs ++ unit.kept).filter(_.isData)
      val values = Map("totalSize" -> files.map(_.length).sum, "numFiles" -> files.size.toLong)
      p.copy(
        parameters = p.parameters.map { case (k, v) => k -> values.get(k).fold(v)(_.toString) },
        stats = p.stats.map(resized(_, values("totalSize"))))
    }

    private def resized(s: CatalogStatistics, bytes: BigInt): CatalogStatistics =
      s.copy(sizeInBytes = bytes.max(0))
  }
}
