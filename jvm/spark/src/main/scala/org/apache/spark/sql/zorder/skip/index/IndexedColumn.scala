package org.apache.spark.sql.zorder.skip.index

import org.apache.spark.sql.types.DataType

/**
 * A column that an index holds ranges of.
 *
 * @param sql
 *   how a filter names it: the column's name, or the names down to a struct's field
 * @param dataType
 *   the type that the table gave it when the index was made; a filter on another type is not answered
 */
final case class IndexedColumn(sql: String, path: Seq[String], dataType: DataType)
