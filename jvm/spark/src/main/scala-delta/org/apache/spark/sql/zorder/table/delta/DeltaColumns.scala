package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.types.{StructField, StructType}

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
}
