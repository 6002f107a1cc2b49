package org.apache.spark.sql.zorder.table.parquet

import java.net.URI

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.connector.catalog.CatalogManager
import org.apache.spark.sql.execution.datasources.{
  CatalogFileIndex,
  HadoopFsRelation,
  InMemoryFileIndex,
  LogicalRelation,
  PruneFileSourcePartitions
}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims

/**
 * Keeps a query from listing a plain Parquet table of the catalog while a run exchanges its directories, when those that
 * are away would be missing without a word. The listing is made here, and holds if no exchange is under way after it and
 * the last commit is the one that was known before it. Else it waits and lists again. A dead run is finished or undone.
 * Commands that change such a table pass by here, too ([[CommandGuard]]).
 *
 * A table without any property of ours is only looked up in the catalog: a run that comes gives it one before it begins.
 */
final case class ExchangeGuard(session: SparkSession) extends Rule[LogicalPlan] {
  private val classic = Shims.classic(session)
  private val exchanges = new Exchanges(classic)
  private val commands = new CommandGuard(exchanges)

  override def apply(plan: LogicalPlan): LogicalPlan = {
    plan.foreach(commands.before)
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
    val now = tables.map { case (_, table) => exchanges.quiet(table) }
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
    if (!places.forall(exchanges.fileSystem(table).exists))
      refuse("ZORDER_RETRY_QUERY.FILES_MOVED", "table" -> table.identifier.unquotedString)
  }

  private def watched(plan: LogicalPlan): Option[(HadoopFsRelation, CatalogTable)] = plan match {
    case l: LogicalRelation => (l.relation, l.catalogTable) match {
        case (r: HadoopFsRelation, Some(table)) if isListed(r) && isOurs(table) && exchanges.mayMove(table) =>
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

  /** Lists partitions now which Spark would list when it reads. */
  private def atOnce(relation: HadoopFsRelation): HadoopFsRelation = relation.location match {
    case lazily: CatalogFileIndex =>
      relation.copy(location = lazily.filterPartitions(Nil))(relation.sparkSession)
    case _ => relation
  }
}
