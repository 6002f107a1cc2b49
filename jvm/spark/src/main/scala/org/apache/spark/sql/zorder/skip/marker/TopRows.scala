package org.apache.spark.sql.zorder.skip.marker

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.catalyst.expressions.{Ascending, NullsFirst}
import org.apache.spark.sql.zorder.expr.AlwaysTrue

/**
 * Above a scan: the query needs no more than its first `rows` rows in the order of `column`.
 *
 * It names no threshold. The files that cannot hold such a row are found in `listFiles`, from the very listing that is
 * read; a threshold that was found before might count on a file that is gone by then.
 *
 * @param conditions
 *   every filter between the sort and the scan, but those on partition columns alone, which the listing applies
 */
final case class TopRows(
    column: Expression,
    ascending: Boolean,
    nullsFirst: Boolean,
    rows: Long,
    conditions: Seq[Expression]) extends AlwaysTrue {

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
      conditions.map(AlwaysTrue.signed))
}
