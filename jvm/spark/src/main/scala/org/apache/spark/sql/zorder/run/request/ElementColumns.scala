package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types.{ArrayType, MapType}
import org.apache.spark.sql.zorder.expr.ColumnPath

/** Clustering expressions over arrays and maps, such as `l[0]`: they have an order, but no look-up skips by it. */
private[run] object ElementColumns {
  val NoBounds = "files keep no min and max of the elements of arrays and maps that a look-up could skip by"

  /** A sentence about the first such column. */
  def problem(columns: Seq[ClusterColumn]): Option[String] =
    columns.flatMap(c => collection(c.expression).map(c -> _)).headOption.map { case (c, whole) =>
      val name = ColumnPath.of(whole).fold(whole.sql)(ColumnPath.sql)
      s"Clustering column ${c.sql} is computed from $name, which is of type ${whole.dataType.sql}, and $NoBounds: " +
        "leave it out, or write the value to a column of its own and cluster by that."
    }

  private def collection(e: Expression): Option[Expression] = e.collectFirst {
    case c
        if ColumnPath.of(
          c).isDefined && (c.dataType.isInstanceOf[ArrayType] || c.dataType.isInstanceOf[MapType]) => c
  }
}
