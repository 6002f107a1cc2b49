package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.spark.sql.catalyst.catalog.CatalogTable

/**
 * What a journal says of its table, `name@time of creation`: the time tells a table from a dropped one that lay
 * at the same place, and the name, which may change, is for people.
 */
private[zorder] object TableIdentity {

  def of(meta: CatalogTable): String = s"${meta.identifier.unquotedString}@${meta.createTime}"

  def same(a: String, b: String): Boolean = created(a) == created(b)

  /** Two tables for certain: "" is a path, which may be any table's. */
  def differ(a: String, b: String): Boolean = a.nonEmpty && b.nonEmpty && !same(a, b)

  def name(identity: String): String = identity.substring(0, math.max(0, identity.lastIndexOf('@')))

  private def created(identity: String): String = identity.substring(identity.lastIndexOf('@') + 1)
}
