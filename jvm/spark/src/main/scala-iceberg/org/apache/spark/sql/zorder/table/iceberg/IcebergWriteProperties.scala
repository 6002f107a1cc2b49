package org.apache.spark.sql.zorder.table.iceberg

import java.util.{HashMap => JHashMap, Map => JMap}

import org.apache.iceberg.{BaseTable, HasTableOperations, Table}
import org.apache.iceberg.TableProperties._

/** Iceberg's Parquet writer takes its options from table properties. These are the properties for one run. */
private[iceberg] object IcebergWriteProperties {

  /** Options of the Parquet writer under Spark's names, and the corresponding properties. */
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

  /** Spark 3.5 has a spelling of its own for one of them. */
  def codec(spark: String): String = if (spark == "lz4raw") "lz4_raw" else spark

  /** The table with these properties in addition to its own, for one write. */
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
