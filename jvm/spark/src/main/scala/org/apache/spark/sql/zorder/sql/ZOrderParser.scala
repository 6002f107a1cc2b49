package org.apache.spark.sql.zorder.sql

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.shims.LineParser

/**
 * Parses `OPTIMIZE` and `ZORDER` statements and passes everything else on, unchanged, to the parser below.
 * The delegate is an ordinary field: other extensions search such fields for their own parser.
 */
final class ZOrderParser(session: SparkSession, override val delegate: ParserInterface)
    extends LineParser {

  override protected def ours(sqlText: String): Option[LogicalPlan] =
    new StatementPlanner(session, delegate).plan(sqlText)
}

object ZOrderParser {

  /** Puts our parser on top, unless it is there already (the extension may be applied twice). */
  def over(session: SparkSession, delegate: ParserInterface): ParserInterface = delegate match {
    case already: ZOrderParser => already
    case other => new ZOrderParser(session, other)
  }
}
