package org.apache.spark.sql.zorder.skipping.scan

import org.apache.spark.sql.catalyst.expressions.{BinaryComparison, Expression, In, InSet}
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skipping.predicate.{JoinKeys, TopRows}

/**
 * Whether a filter is worth a look at statistics. It is not if it is what the format prunes itself: a plain comparison of
 * a column.
 *
 * @param mostListed
 *   the longest list of values that the format looks up value by value
 */
final class AskedOfFormat(mostListed: Int) {

  def isWorth(filter: Expression): Boolean = filter match {
    case t: TopRows => t.holds
    case k: JoinKeys => k.holds
    case other => other.exists {
        case In(_, values) => values.length > mostListed
        case InSet(_, values) => values.size > mostListed
        case BinaryComparison(left, right) => !isPlain(left) || !isPlain(right)
        case _ => false
      }
  }

  private def isPlain(operand: Expression): Boolean = operand.foldable || ColumnPath.of(operand).isDefined
}
