package org.apache.spark.sql.zorder.sql

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.TableRef

/** Tells Delta tables from others, without any class of Delta. */
object DeltaTables {

  /** Does the table belong to Delta? A table that cannot be looked up does not. */
  def owns(session: SparkSession, table: TableRef): Boolean = try table match {
    case TableRef.Location(path) => hasLog(session, path)
    case TableRef.Name(parts) => provider(session, parts).exists(_.equalsIgnoreCase("delta"))
  } catch {
    case NonFatal(_) => false
  }

  private def hasLog(session: SparkSession, path: String): Boolean = {
    val log = new Path(path, "_delta_log")
    log.getFileSystem(Shims.classic(session).sessionState.newHadoopConf()).exists(log)
  }

  private def provider(session: SparkSession, parts: Seq[String]): Option[String] = {
    val catalogs = Shims.classic(session).sessionState.catalogManager
    val named = parts.size > 1 && catalogs.isCatalogRegistered(parts.head)
    val catalog = if (named) catalogs.catalog(parts.head) else catalogs.currentCatalog
    val path = if (named) parts.tail else parts
    val namespace = if (path.size > 1) path.init.toArray else catalogs.currentNamespace
    catalog match {
      case tables: TableCatalog =>
        Option(tables.loadTable(Identifier.of(namespace, path.last)).properties.get(TableCatalog.PROP_PROVIDER))
      case _ => None
    }
  }
}
