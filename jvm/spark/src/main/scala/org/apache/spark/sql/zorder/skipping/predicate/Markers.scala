package org.apache.spark.sql.zorder.skipping.predicate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, TrueLiteral}
import org.apache.spark.sql.types.MetadataBuilder

/**
 * A predicate that is true for every row and costs none of them anything. It tells the scan below it of rows
 * that the query around it does not need, so that the scan may leave out files of such rows; a scan that does
 * not know it reads them all.
 *
 * It holds for the columns of one scan only. Spark infers filters from filters: from `p(a)` and `a = b` it
 * makes `p(b)`, where `b` may be a column of another table. So the columns inside carry a sign in their
 * metadata. A rule that replaces a column removes the sign with it, and the scan then ignores the predicate.
 */
trait AlwaysTrue extends Predicate with ConditionalExpression {

  /** Whether all columns are still those that the predicate was made for. */
  def holds: Boolean = !exists {
    case a: AttributeReference => !a.metadata.contains(AlwaysTrue.Sign)
    case _ => false
  }

  override def nullable: Boolean = false

  // No child is ever evaluated. Spark would take a condition that stands here and in the query's own filter
  // for a common subexpression, and evaluate it before the conditions that guard it.
  override def alwaysEvaluatedInputs: Seq[Expression] = Nil
  override def branchGroups: Seq[Seq[Expression]] = Nil
  // since Spark 4.0
  def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): ConditionalExpression = this

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

/** The values that the other side of a join has for a key. */
sealed trait KeySet {

  /** What a row of this side meets that finds a partner. */
  def test(column: Expression): Expression
}

final case class KeyValues(values: Set[Any]) extends KeySet {
  override def test(column: Expression): Expression = InSet(column, values)
  override def toString: String = s"${values.size} keys"
}

/** The bounds of a set of keys that is too large to be listed. */
final case class KeyRange(min: Literal, max: Literal) extends KeySet {
  override def test(column: Expression): Expression =
    And(GreaterThanOrEqual(column, min), LessThanOrEqual(column, max))
  override def toString: String = s"keys from $min to $max"
}

/** Above a scan: the join around it needs no other rows than those whose `column` is one of the keys. */
final case class JoinKeys(column: Expression, @transient keys: KeySet) extends AlwaysTrue {

  /** The filter that a scan may leave out files by. */
  def implied: Expression = keys.test(column)

  override def children: Seq[Expression] = Seq(column)

  override protected def withNewChildrenInternal(changed: IndexedSeq[Expression]): JoinKeys =
    copy(column = changed.head)

  override def prettyName: String = "zorder_join_keys"
  override def toString: String = s"$prettyName($column, $keys)"
  override def sql: String = toString
}

/**
 * Above a scan: the query needs no more than its first `rows` rows in the order of `column`.
 *
 * It names no threshold. The files that cannot hold such a row are found in `listFiles`, from the very
 * listing that is read; a threshold that was found before might count on a file that is gone by then.
 *
 * @param conditions
 *   every filter between the sort and the scan, but those on partition columns alone, which the listing
 *   applies
 * @param columns
 *   how many columns `column` and `conditions` named when this was made
 */
final case class TopRows(
    column: Expression,
    ascending: Boolean,
    nullsFirst: Boolean,
    rows: Long,
    conditions: Seq[Expression],
    columns: Int) extends AlwaysTrue {

  /**
   * Spark may put a constant for a column that a filter says is equal to it: true of the rows that pass, and
   * not of files. It does so where the plan of a subquery has become a part of the query around it.
   */
  override def holds: Boolean = columns == TopRows.columnsIn(children) && super.holds

  override def children: Seq[Expression] = column +: conditions

  override protected def withNewChildrenInternal(changed: IndexedSeq[Expression]): TopRows =
    copy(column = changed.head, conditions = changed.tail)

  override def prettyName: String = "zorder_top_rows"

  override def toString: String = text(column.toString)
  override def sql: String = text(column.sql)

  private def text(column: String): String =
    s"$prettyName($column ${if (ascending) "ASC" else "DESC"} NULLS ${if (nullsFirst) "FIRST" else "LAST"}, $rows)"
}

object TopRows {

  def apply(order: SortOrder, column: Expression, rows: Long, conditions: Seq[Expression]): TopRows =
    TopRows(
      AlwaysTrue.signed(column),
      order.direction == Ascending,
      order.nullOrdering == NullsFirst,
      rows,
      conditions.map(AlwaysTrue.signed),
      columnsIn(column +: conditions))

  private def columnsIn(expressions: Seq[Expression]): Int =
    expressions.map(_.collect { case a: AttributeReference => a }.length).sum
}
