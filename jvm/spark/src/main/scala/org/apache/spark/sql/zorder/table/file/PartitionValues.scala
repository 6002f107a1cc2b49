package org.apache.spark.sql.zorder.table.file

import java.util.Locale

import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.{unescapePathName, DEFAULT_PARTITION_NAME}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** The values that a partition directory's name stands for. */
private[zorder] object PartitionValues {

  /**
   * @param directory
   *   such as `day=2026-01-01/h=3`; empty when unpartitioned
   * @return
   *   one literal per field of `schema`, in the table's types
   */
  def of(directory: String, schema: StructType, timeZone: String): Seq[Literal] = {
    val named = directory.split('/').filter(_.nonEmpty).map { part =>
      val at = part.indexOf('=')
      unescapePathName(part.take(at)).toLowerCase(Locale.ROOT) -> unescapePathName(part.drop(at + 1))
    }.toMap
    schema.map { field =>
      val raw = named(field.name.toLowerCase(Locale.ROOT))
      if (raw == DEFAULT_PARTITION_NAME) Literal.create(null, field.dataType)
      else {
        val text = Literal.create(UTF8String.fromString(raw), StringType)
        Literal(Cast(text, field.dataType, Some(timeZone)).eval(), field.dataType)
      }
    }
  }
}
