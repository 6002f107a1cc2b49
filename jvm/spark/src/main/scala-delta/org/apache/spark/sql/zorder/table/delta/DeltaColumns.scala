package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.types.{StructField, StructType}

/** Columns by their paths in a schema. */
private[delta] object DeltaColumns {

  /** Is there such a column, however its name is written? */
  def holds(schema: StructType, path: Seq[String]): Boolean = fields(schema, path).isDefined

  /** From the top-level column down to the field that is meant. */
  def fields(schema: StructType, path: Seq[String]): Option[Seq[StructField]] =
    schema.find(_.name.equalsIgnoreCase(path.head)).flatMap { field =>
      (field.dataType, path.tail) match {
        case (_, Seq()) => Some(Seq(field))
        case (s: StructType, deeper) => fields(s, deeper).map(field +: _)
        case _ => None
      }
    }
}
