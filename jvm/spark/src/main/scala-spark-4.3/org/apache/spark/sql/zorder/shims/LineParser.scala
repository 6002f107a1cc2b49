package org.apache.spark.sql.zorder.shims

import org.apache.spark.sql.catalyst.parser.{ParameterContext, SqlStatementSplitResult, TemporalIdentifier}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** What the parser interface of this Spark line has beyond the one that all lines share. */
trait LineParser extends DelegatingParser4 {

  // the default of the trait drops the parameters, and `SparkSession.sql` comes in here
  override def parsePlanWithParameters(sqlText: String, parameters: ParameterContext): LogicalPlan =
    ours(sqlText).getOrElse(delegate.parsePlanWithParameters(sqlText, parameters))

  override def splitStatements(sqlText: String): SqlStatementSplitResult = delegate.splitStatements(sqlText)

  override def parseTemporalTableIdentifier(sqlText: String): TemporalIdentifier =
    delegate.parseTemporalTableIdentifier(sqlText)
}
