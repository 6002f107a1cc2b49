package org.apache.spark.sql.zorder.table.parquet

import java.net.URI
import java.util.Locale

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SaveMode
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.plans.logical.{DropTable, LogicalPlan}
import org.apache.spark.sql.connector.catalog.CatalogManager
import org.apache.spark.sql.execution.command.{
  AlterTableDropPartitionCommand,
  AlterTableRenameCommand,
  AlterTableRenamePartitionCommand,
  AlterTableSetLocationCommand,
  CreateDataSourceTableAsSelectCommand,
  CreateDataSourceTableCommand,
  CreateTableCommand,
  CreateTableLikeCommand,
  DropTableCommand,
  LoadDataCommand,
  RepairTableCommand,
  TruncateTableCommand
}
import org.apache.spark.sql.execution.datasources.InsertIntoHadoopFsRelationCommand
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.commit.{CatalogRecovery, ExchangeMark, PathRecovery}
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalKind, JournalStore, UnfinishedCommits}

/**
 * What a command waits for, or finishes, before it changes the files of a plain Parquet table: afterwards nobody could tell
 * what it has done from what a run that died has left.
 */
final private[parquet] class CommandGuard(exchanges: Exchanges) {
  import exchanges._

  /** @param command any plan; what is no such command is passed over */
  def before(command: LogicalPlan): Unit = {
    appended(command).flatMap(known).foreach(table =>
      CommitMarks.of(table).exchanging.foreach(isUnderWay(table, _)))
    changed(command).flatMap(known).foreach { table =>
      awaitExchange(table)
      settleMoves(table)
    }
    // the files of an external table stay, and its exchange ends without the table
    dropped(command).flatMap(known).filter(_.tableType == CatalogTableType.MANAGED).foreach { table =>
      // a dead exchange that cannot be finished must not keep a table from being dropped
      try awaitExchange(table)
      catch { case e: ZOrderException if e.condition == "ZORDER_NO_PERMISSION.FINISH_EXCHANGE" => () }
    }
    placed(command).foreach(finishBeside)
  }

  private def awaitExchange(table: CatalogTable): Unit =
    if (CommitMarks.of(table).exchanging.isDefined) {
      quiet(table)
      ()
    }

  /** The table that a command is about to append to: what it writes during an exchange is kept. */
  private def appended(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case insert: InsertIntoHadoopFsRelationCommand if insert.mode != SaveMode.Overwrite =>
      insert.catalogTable.map(_.identifier)
    case load: LoadDataCommand if !load.isOverwrite => Some(load.table)
    case other => ofHive(other, HiveInsert).filterNot(_ => overwrites(other)).map(_.identifier)
  }

  /**
   * The table whose directories a command is about to delete, to rename or to look for: one that is away would be missed.
   * An overwrite would delete only what is there, and rows that are away would come back beside the new ones.
   */
  private def changed(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case insert: InsertIntoHadoopFsRelationCommand if insert.mode == SaveMode.Overwrite =>
      insert.catalogTable.map(_.identifier)
    case load: LoadDataCommand if load.isOverwrite => Some(load.table)
    case truncate: TruncateTableCommand => Some(truncate.tableName)
    case drop: AlterTableDropPartitionCommand => Some(drop.tableName)
    case rename: AlterTableRenamePartitionCommand => Some(rename.tableName)
    case repair: RepairTableCommand => Some(repair.tableName)
    case rename: AlterTableRenameCommand if !rename.isView => Some(rename.oldName)
    // what is away is beside the old place
    case set: AlterTableSetLocationCommand => Some(set.tableName)
    case other => ofHive(other, HiveInsert).filter(_ => overwrites(other)).map(_.identifier)
  }

  /** The table that a command is about to drop. Where a format has replaced Spark's own catalog, it is another command. */
  private def dropped(plan: LogicalPlan): Option[TableIdentifier] = plan match {
    case drop: DropTableCommand if !drop.isView => Some(drop.tableName)
    case drop: DropTable => drop.child match {
        case r: ResolvedIdentifier if r.catalog.name.equalsIgnoreCase(CatalogManager.SESSION_CATALOG_NAME) =>
          Some(TableIdentifier(r.identifier.name, r.identifier.namespace.lastOption))
        case _ => None
      }
    case _ => None
  }

  /** The place of a table that a command is about to make. */
  private def placed(plan: LogicalPlan): Option[URI] = plan match {
    case create: CreateDataSourceTableCommand => placeOf(create.table)
    case create: CreateDataSourceTableAsSelectCommand => placeOf(create.table)
    case create: CreateTableCommand => placeOf(create.table)
    case create: CreateTableLikeCommand => create.fileFormat.locationUri
    case other => ofHive(other, "CreateHiveTableAsSelectCommand").flatMap(placeOf)
  }

  private def placeOf(table: CatalogTable): Option[URI] = table.storage.locationUri.filter { _ =>
    table.provider.exists(_.equalsIgnoreCase("parquet")) ||
    table.storage.serde.exists(_.toLowerCase(Locale.ROOT).contains("parquet"))
  }

  /** The table of a command of spark-hive, whose classes may not be there. */
  private def ofHive(plan: LogicalPlan, command: String): Option[CatalogTable] =
    if (plan.getClass.getName != s"org.apache.spark.sql.hive.execution.$command") None
    else plan.productIterator.collectFirst { case table: CatalogTable => table }

  private val HiveInsert = "InsertIntoHiveTable"

  /** Of a command of spark-hive that inserts: the first of its two flags. */
  private def overwrites(plan: LogicalPlan): Boolean =
    plan.productIterator.collectFirst { case overwrite: Boolean => overwrite }.contains(true)

  /** Of a table that was dropped, a dead exchange would be finished over what is written there now. */
  private def finishBeside(place: URI): Unit = if (renames(place)) {
    val fs = fileSystem(new Path(place))
    val root = fs.makeQualified(new Path(place))
    if (root.getParent != null) {
      val store = JournalStore.beside(fs, root)
      UnfinishedCommits.journals(store).filter(j => j.kind == JournalKind.Path && j.isExchanging).foreach {
        j =>
          orRefuse(root.toString, TableRef.Location(root.toString).sql, j.runId)(
            PathRecovery.takeOver(store, ExchangeMark.Unmarked, j.txn))
      }
    }
  }

  /** Where a run died before it had taken the old files away, they would be rows of a partition that is made again. */
  private def settleMoves(table: CatalogTable): Unit =
    CommitMarks.of(table).txn.filter(_ => emptiesPlaces(table)).foreach { txn =>
      val entry = entryOf(table)
      orRefuse(table, txn)(CatalogRecovery.recover(entry, UnfinishedCommits.journals(entry.store)))
    }
}
