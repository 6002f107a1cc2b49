package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.DeltaColumnMapping
import org.apache.spark.sql.delta.schema.SchemaMergingUtils
import org.apache.spark.sql.types.{MetadataBuilder, StructField, StructType}
import org.apache.spark.sql.zorder.stats.StoredAs

/** Columns by their paths in a schema. */
private[delta] object DeltaColumns {

  /** Whether there is such a column, in any spelling. */
  def holds(schema: StructType, path: Seq[String]): Boolean = fields(schema, path).isDefined

  /** The fields from the top-level column down to the named one. */
  def fields(schema: StructType, path: Seq[String]): Option[Seq[StructField]] =
    schema.find(_.name.equalsIgnoreCase(path.head)).flatMap { field =>
      (field.dataType, path.tail) match {
        case (_, Seq()) => Some(Seq(field))
        case (s: StructType, deeper) => fields(s, deeper).map(field +: _)
        case _ => None
      }
    }

  /** The columns, and fields of structs, as those that files identify by Delta's ids. */
  def numbered(schema: StructType): StructType = StructType(schema.map { f =>
    val dataType = f.dataType match {
      case s: StructType => numbered(s)
      case other => other
    }
    val metadata = new MetadataBuilder().withMetadata(f.metadata)
      .putLong(StoredAs.FieldId, DeltaColumnMapping.getColumnId(f).toLong).build()
    f.copy(dataType = dataType, metadata = metadata)
  })

  /** The ids of all columns, at any depth. */
  def ids(schema: StructType): Set[Int] = {
    var found = Set.empty[Int]
    SchemaMergingUtils.transformColumns(schema) { (_, field, _) =>
      found += DeltaColumnMapping.getColumnId(field)
      field
    }
    found
  }
}
