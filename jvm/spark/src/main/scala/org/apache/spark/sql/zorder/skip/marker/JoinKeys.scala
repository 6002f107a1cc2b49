package org.apache.spark.sql.zorder.skip.marker

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.zorder.expr.AlwaysTrue

/** The values that the other side of a join has for a key. */
sealed trait KeySet {

  /** What a row of this side meets that finds a partner. */
  def test(column: Expression): Expression
}

final case class KeyValues(values: Set[Any]) extends KeySet {
  override def test(column: Expression): Expression = InSet(column, values)
  override def toString: String = s"${values.size} keys"
}

/** Of keys too many to be listed. */
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
