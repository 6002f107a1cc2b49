package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.{AnalysisException, Column, DataFrame}
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.expr.ColumnPath

/** The names of columns that are given as `Column`, since a layout lists its columns by name. */
private[zorder] object ColumnNames {

  /** As it stands in `BY (...)`: a column of the DataFrame, or a field below one. */
  def of(df: DataFrame, column: Column): String = {
    val analyzed =
      try df.select(column).queryExecution.analyzed
      catch {
        case e: AnalysisException => refuse(s"The DataFrame has no column $column: ${firstLine(e)}.")
      }
    val expression = analyzed match {
      case Project(Seq(Alias(child, _)), _) => Some(child)
      case Project(Seq(only), _) => Some(only)
      case _ => None
    }
    expression.flatMap(ColumnPath.of).map(_.map(p => "`" + p.replace("`", "``") + "`").mkString("."))
      .getOrElse(refuse(
        s"$column is no column but an expression: add it by withColumn, and cluster by the name that it has there."))
  }
}
