package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.spark.sql.catalyst.catalog.CatalogTable

/**
 * How a journal identifies its table: `name@time of creation`. The time distinguishes the table from a dropped one
 * that lay at the same place. The name may change and is only for people.
 */
private[zorder] object TableIdentity {

  def of(meta: CatalogTable): String = s"${meta.identifier.unquotedString}@${meta.createTime}"

  def same(a: String, b: String): Boolean = created(a) == created(b)

  /** Certainly two tables. "" is a path, which may be that of any table. */
  def differ(a: String, b: String): Boolean = a.nonEmpty && b.nonEmpty && !same(a, b)

  def name(identity: String): String = identity.substring(0, math.max(0, identity.lastIndexOf('@')))

  private def created(identity: String): String = identity.substring(identity.lastIndexOf('@') + 1)
}
