package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** TIME columns, which newer Sparks read in any case, but write only where a setting says so. */
private[run] object DisabledTypes {
  private val Setting = "spark.sql.timeType.enabled"

  /** A sentence about the first such column. */
  def problem(session: ClassicSession, schema: StructType): Option[String] =
    if (!session.conf.getOption(Setting).contains("false")) None
    else
      schema.find(_.dataType.existsRecursively(_.typeName.startsWith("time("))).map { f =>
        s"Column ${f.name} is of type ${f.dataType.catalogString}, which this session cannot write: SET $Setting = true."
      }
}
