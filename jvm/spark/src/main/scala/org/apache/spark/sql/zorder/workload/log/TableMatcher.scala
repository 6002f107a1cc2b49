package org.apache.spark.sql.zorder.workload.log

import java.net.URI

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}

/** Tells whether a table name in a log means the given table, by its full name or by its location. */
final private[workload] class TableMatcher(session: ClassicSession, table: ClusterTable) {
  private val same = session.sessionState.conf.resolver
  private val fullName = if (TableRef.isPath(table.name)) None else full(table.name)
  private val root = place(table.root.toString)
  private val answers = scala.collection.mutable.HashMap.empty[String, Boolean]

  def means(logged: String): Boolean = answers.getOrElseUpdate(
    logged,
    if (TableRef.isPath(logged)) place(logged) == root
    else full(logged).exists(parts =>
      fullName.exists(alike(_, parts)) || fullName.isEmpty && location(parts).contains(root)))

  /** Without the scheme: the same directory is written with and without it. */
  private def place(path: String): String = {
    val uri: URI = new Path(path).toUri
    Option(uri.getAuthority).getOrElse("") + uri.getPath.stripSuffix("/")
  }

  /** With catalog and database; None for what is no name. */
  private def full(text: String): Option[Seq[String]] =
    Try(session.sessionState.sqlParser.parseMultipartIdentifier(text)).toOption.map { parts =>
      val catalogs = session.sessionState.catalogManager
      val catalog = catalogs.currentCatalog.name
      if (parts.size == 1) (catalog +: catalogs.currentNamespace.toSeq) ++ parts
      else if (parts.size == 2) catalog +: parts
      else parts
    }

  private def alike(a: Seq[String], b: Seq[String]): Boolean =
    a.size == b.size && a.zip(b).forall { case (x, y) => same(x, y) }

  private def location(parts: Seq[String]): Option[String] = parts match {
    case Seq(_, database, name) =>
      val found = Try(session.sessionState.catalog.getTableMetadata(TableIdentifier(name, Some(database))))
      found.toOption.flatMap(t => Try(place(new Path(t.location).toString)).toOption)
    case _ => None
  }
}
