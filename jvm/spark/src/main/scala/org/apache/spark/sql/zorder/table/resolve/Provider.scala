package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableRef}

/** Which format a table is of, without any class of that format. */
object Provider {
  private val Delta = FormatDescriptor.Delta

  /** Does the table belong to Delta? A table that cannot be looked up does not. */
  def isDelta(session: SparkSession, table: TableRef): Boolean =
    try table match {
        case TableRef.Location(path) => deltaAt(session, path)
        case TableRef.Name(Seq(format, path)) if path.contains("/") =>
          Delta.isProvider(format)
        case TableRef.Name(parts) => of(session, parts).exists(Delta.isProvider)
      }
    catch {
      case NonFatal(_) => false
    }

  /** What the catalog says that the table is stored as, in lower case; None for one that it cannot load. */
  def of(session: SparkSession, parts: Seq[String]): Option[String] =
    try load(session, parts).flatMap(t => Option(t.properties.get(TableCatalog.PROP_PROVIDER)))
        .map(_.toLowerCase(Locale.ROOT))
    catch {
      case NonFatal(_) => None
    }

  /** The table as its catalog gives it; None if the catalog is none of tables. */
  def load(session: SparkSession, parts: Seq[String]): Option[Table] = {
    val catalogs = Shims.classic(session).sessionState.catalogManager
    val named = parts.size > 1 && catalogs.isCatalogRegistered(parts.head)
    val catalog = if (named) catalogs.catalog(parts.head) else catalogs.currentCatalog
    val path = if (named) parts.tail else parts
    val namespace = if (path.size > 1) path.init.toArray else catalogs.currentNamespace
    catalog match {
      case tables: TableCatalog => Some(tables.loadTable(Identifier.of(namespace, path.last)))
      case _ => None
    }
  }

  private def deltaAt(session: SparkSession, path: String): Boolean = {
    val root = new Path(path)
    Delta.isTable(root.getFileSystem(Shims.classic(session).sessionState.newHadoopConf()), root)
  }
}
