package org.apache.spark.sql.zorder.shims

import org.apache.spark.sql.types.StructType

/** What every parser interface of Spark 4 has beyond that of 3.5. */
trait DelegatingParser4 extends DelegatingParser {
  override def parseRoutineParam(sqlText: String): StructType = delegate.parseRoutineParam(sqlText)
}
