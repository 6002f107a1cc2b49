package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.types.{AtomicType, DataType}

/** Stands for an atomic type of a later Spark: nothing but its name is known. */
private[zorder] final class NamedType(name: String) extends AtomicType {
  override def defaultSize: Int = 16
  override def typeName: String = name
  override def asNullable: DataType = this
}
