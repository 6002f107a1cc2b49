package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.types.StructType

/** Columns by their paths in a schema. */
private[delta] object DeltaColumns {

  /** Is there such a column, however its name is written? */
  def holds(schema: StructType, path: Seq[String]): Boolean =
    schema.find(_.name.equalsIgnoreCase(path.head)).exists { field =>
      (field.dataType, path.tail) match {
        case (_, Seq()) => true
        case (s: StructType, deeper) => holds(s, deeper)
        case _ => false
      }
    }
}
