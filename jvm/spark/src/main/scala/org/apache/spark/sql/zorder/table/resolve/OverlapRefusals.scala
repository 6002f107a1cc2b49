package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.PathText

/**
 * Tables whose directories overlap: a rewrite of one would take the files of the other along. To know that, the catalog
 * is asked for all tables of the database and of the current one, in two calls for each: so only by statements that
 * change directories.
 */
private[table] object OverlapRefusals {

  /**
   * No other table of the database may lie inside, around, or (for a table) at the same place.
   *
   * @return
   *   the table that lies at a path, as far as the catalog tells
   */
  def refuse(
      session: ClassicSession,
      root: Path,
      self: Option[TableIdentifier]): Option[CatalogTable] = {
    val mine = PathText.of(root)
    val found = places(session, self)
    found.foreach { case (t, at) =>
      val name = t.identifier.unquotedString
      if (at.startsWith(s"$mine/"))
        ZOrderException.refuse(
          s"The table $name lies inside $root; a rewrite would take its files along: name $name itself.")
      if (mine.startsWith(s"$at/"))
        ZOrderException.refuse(s"$root lies inside the table $name; name $name, and pick its part by WHERE.")
      if (at == mine && self.isDefined)
        ZOrderException.refuse(
          s"The tables ${self.get.unquotedString} and $name share the directory $root; " +
            "drop one of them.")
    }
    found.collectFirst { case (t, at) if at == mine => t }
  }

  /** The table that lies there, as far as the catalog tells, for a statement that changes nothing. */
  def at(session: ClassicSession, root: Path): Option[CatalogTable] =
    places(session, None).collectFirst { case (t, at) if at == PathText.of(root) => t }

  /** The tables that the catalog knows, with their directories. */
  private def places(session: ClassicSession, self: Option[TableIdentifier]): Seq[(CatalogTable, String)] = {
    val catalog = session.sessionState.catalog
    val databases = (self.flatMap(_.database).toSeq :+ catalog.getCurrentDatabase).distinct
    val others =
      try {
        databases.flatMap { db =>
          catalog.getTablesByName(catalog.listTables(db).filter(_.database.isDefined))
        }
      } catch { case NonFatal(_) => Nil } // a catalog that cannot tell forbids nothing
    for {
      t <- others
      if t.tableType != CatalogTableType.VIEW && !self.exists(same(_, t.identifier))
      at <- t.storage.locationUri.map(uri => PathText.of(new Path(uri)))
    } yield t -> at
  }

  private def same(a: TableIdentifier, b: TableIdentifier): Boolean =
    a.table.equalsIgnoreCase(
      b.table) && a.database.map(_.toLowerCase(Locale.ROOT)) == b.database.map(_.toLowerCase(Locale.ROOT))
}
