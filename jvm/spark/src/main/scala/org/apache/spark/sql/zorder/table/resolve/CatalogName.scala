package org.apache.spark.sql.zorder.table.resolve

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** The parts of a name, resolved to a table of Spark's own catalog. */
private[table] object CatalogName {
  private val SessionCatalog = "spark_catalog"

  def identifier(session: ClassicSession, parts: Seq[String]): TableIdentifier = {
    val manager = session.sessionState.catalogManager
    def other(catalog: String): Nothing =
      refuse(s"${parts.mkString(".")} is in the catalog $catalog, not in Spark's own, and is no table of a " +
        "format that is rewritten there; check the name, and that the format's jar is on the class path.")
    val current = manager.currentCatalog.name
    val local =
      if (parts.head.equalsIgnoreCase(SessionCatalog) && parts.size > 1) parts.tail
      else if (parts.size > 1 && !session.sessionState.catalog.databaseExists(parts.head) &&
        session.sessionState.conf.contains(s"spark.sql.catalog.${parts.head}")) other(parts.head)
      else if (!current.equalsIgnoreCase(SessionCatalog)) other(current)
      else parts
    local match {
      case Seq(table) => TableIdentifier(table, Some(session.sessionState.catalog.getCurrentDatabase))
      case Seq(db, table) => TableIdentifier(table, Some(db))
      case catalog +: _ if parts.length > 2 && !manager.isCatalogRegistered(catalog) =>
        refuse(s"The catalog $catalog of ${parts.mkString(".")} is not configured in this session; set " +
          s"spark.sql.catalog.$catalog to its class, and its options beside it, or give database.table.")
      case _ => refuse(s"${parts.mkString(".")} is not the name of a table; give database.table.")
    }
  }
}
