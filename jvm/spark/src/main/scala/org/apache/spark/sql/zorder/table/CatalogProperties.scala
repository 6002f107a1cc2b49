package org.apache.spark.sql.zorder.table

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.SessionCatalog
import org.apache.spark.sql.zorder.conf.ZOrderOption

/** Properties of a table of Spark's catalog. */
private[table] object CatalogProperties {

  /** Raw, because CHAR and VARCHAR must stay when it is written back. Writes nothing without a change. */
  def change(catalog: SessionCatalog, ident: TableIdentifier)(
      wanted: Map[String, String] => Map[String, String]): Unit = {
    val now = catalog.getTableRawMetadata(ident)
    val properties = wanted(now.properties)
    if (properties != now.properties) catalog.alterTable(now.copy(properties = properties))
  }

  /** Takes away those of this project. */
  def dropOurs(catalog: SessionCatalog, ident: TableIdentifier): Unit =
    change(catalog, ident)(_.filterNot { case (key, _) => ZOrderOption.isOurs(key) })
}
