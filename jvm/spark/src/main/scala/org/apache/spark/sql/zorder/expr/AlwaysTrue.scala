package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Expression, Predicate}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, TrueLiteral}
import org.apache.spark.sql.types.MetadataBuilder

/**
 * A predicate that is true for every row and costs none of them anything. It tells the scan below it of rows that the
 * query around it does not need, so that the scan may leave out files of such rows; a scan that does not know it
 * reads them all.
 *
 * It holds for the columns of one scan only. Spark infers filters from filters: from `p(a)` and `a = b` it makes `p(b)`,
 * where `b` may be a column of another table. So the columns inside carry a sign in their metadata. A rule that
 * replaces a column removes the sign with it, and the scan then ignores the predicate.
 */
trait AlwaysTrue extends Predicate {

  /** Whether all columns are still those that the predicate was made for. */
  final def holds: Boolean = !exists {
    case a: AttributeReference => !a.metadata.contains(AlwaysTrue.Sign)
    case _ => false
  }

  override def nullable: Boolean = false
  override def foldable: Boolean = false
  override def eval(input: InternalRow): Any = true
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    ExprCode.forNonNullValue(TrueLiteral)
}

object AlwaysTrue {
  private val Sign = "spark.zorder.marked"

  /** The expression with the sign on its columns. */
  def signed(e: Expression): Expression = e.transform { case a: AttributeReference =>
    a.withMetadata(new MetadataBuilder().withMetadata(a.metadata).putBoolean(Sign, value = true).build())
  }
}
