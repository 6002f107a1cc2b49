package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, Table, TableCatalog}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableRef}

/** The format of a table, found without any class of that format. */
object Provider {
  private val Delta = FormatDescriptor.Delta

  /** Whether the table is a Delta table. One that cannot be looked up is not. */
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

  /** The provider of the table according to its catalog, in lower case; None if the catalog cannot load it. */
  def of(session: SparkSession, parts: Seq[String]): Option[String] =
    try load(session, parts).flatMap(t => Option(t.properties.get(TableCatalog.PROP_PROVIDER)))
        .map(_.toLowerCase(Locale.ROOT))
    catch {
      case NonFatal(_) => None
    }

  /** The table from its catalog; None if the catalog has no tables. */
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
