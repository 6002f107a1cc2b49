package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}

/** One function as Spark's registry wants it. */
final case class FunctionEntry(name: String, info: ExpressionInfo, builder: Seq[Expression] => Expression)

object Functions {
  val all: Seq[FunctionEntry] = Nil
}
