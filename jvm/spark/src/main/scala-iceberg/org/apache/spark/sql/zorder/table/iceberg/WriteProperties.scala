package org.apache.spark.sql.zorder.table.iceberg

import java.util.{HashMap => JHashMap, Map => JMap}

import org.apache.iceberg.{BaseTable, HasTableOperations, Table}
import org.apache.iceberg.TableProperties._

/** Iceberg takes what its Parquet writer shall do from table properties: here they are those of one run. */
private[iceberg] object WriteProperties {

  /** Options of Parquet's writer by Spark's names, and the properties that say the same. */
  private val names = Map(
    "parquet.block.size" -> PARQUET_ROW_GROUP_SIZE_BYTES,
    "parquet.page.row.count.limit" -> PARQUET_PAGE_ROW_LIMIT,
    "parquet.bloom.filter.max.bytes" -> PARQUET_BLOOM_FILTER_MAX_BYTES)

  private val prefixes = Seq(
    "parquet.bloom.filter.enabled#" -> PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX,
    "parquet.bloom.filter.expected.ndv#" -> "write.parquet.bloom-filter-ndv.column.")

  def of(options: Map[String, String]): Map[String, String] = options.flatMap {
    case ("compression", value) => Some(PARQUET_COMPRESSION -> codec(value))
    case (key, value) =>
      names.get(key).orElse(prefixes.collectFirst {
        case (mine, theirs) if key.startsWith(mine) => theirs + key.stripPrefix(mine)
      }).map(_ -> value)
  }

  /** Spark 3.5 spells one of them in its own way. */
  def codec(spark: String): String = if (spark == "lz4raw") "lz4_raw" else spark

  /** The table with these properties over its own, for one write. */
  def on(table: Table, options: Map[String, String]): Table = {
    val own = table.asInstanceOf[HasTableOperations].operations
    val ours = of(options)
    new BaseTable(own, table.name) {
      override def properties: JMap[String, String] = {
        val all = new JHashMap[String, String](super.properties)
        ours.foreach { case (key, value) => all.put(key, value) }
        all
      }
    }
  }
}
