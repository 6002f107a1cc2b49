package org.apache.spark.sql.zorder.skipping.scan

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skipping.index.StatisticsIndex
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, JoinKeys, TopRows}

/**
 * The entries of an index whose files a scan with some filters must read. Predicates that are true for every row
 * ([[JoinKeys]], [[TopRows]]) count as what they tell of the query around the scan.
 *
 * @param isUnanswered
 *   columns that are not what the index has under their names
 */
final class FilesToRead(index: StatisticsIndex, isUnanswered: Expression => Boolean) {

  /** Adaptive execution plans a scan again and again. */
  @volatile private var last: Option[(Seq[Expression], BitSet)] = None

  /**
   * The entries to read. The set must not be changed.
   *
   * @param listed
   *   the entries of the very files that the scan lists: only their rows are counted on for the first rows of a query
   */
  def apply(filters: Seq[Expression], listed: => BitSet): BitSet = {
    val matching = mayMatch(filters.map(FilesToRead.meant))
    val tops = filters.collect { case t: TopRows if t.holds => t }
    if (tops.isEmpty) matching
    else {
      val counted = listed
      val needed = matching.clone().asInstanceOf[BitSet]
      tops.foreach(t => needed.and(new FilesThatReachTop(index, isUnanswered)(t, counted)))
      needed
    }
  }

  private def mayMatch(filters: Seq[Expression]): BitSet = {
    val canonical = filters.map(_.canonicalized)
    last.collect { case (same, found) if same == canonical => found }.getOrElse {
      val found = new FilesThatMayMatch(index, isUnanswered)(filters)
      last = Some(canonical -> found)
      found
    }
  }

  /** Whether the index knows anything of the scan's column. */
  def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && FilterColumn.of(column).exists(c => index.rangesOf(c.sql, c.dataType).isDefined)

  /** Whether a filter is false in all of some file. */
  def leavesOut(filter: Expression): Boolean =
    new FilesThatMayMatch(index, isUnanswered)(Seq(filter)).cardinality < index.files.count

  /** The bytes of the files that may match. */
  def bytes(filters: Seq[Expression]): Long = {
    val matching = mayMatch(filters.map(FilesToRead.meant))
    Iterator.iterate(matching.nextSetBit(0))(n => matching.nextSetBit(n + 1)).takeWhile(_ >= 0)
      .map(index.files.lengths(_)).sum
  }

  /** The columns of the index that the expressions name. */
  def columns(expressions: Seq[Expression]): Seq[String] = {
    val stored =
      expressions.flatMap(ColumnPath.within).distinct.flatMap(p => index.numberOf(ColumnPath.sql(p)))
    val computed = expressions.flatMap(_.collect { case e if !e.foldable => index.numberOf(e) }.flatten)
    (stored ++ computed).distinct.map(index.columns(_).sql)
  }
}

object FilesToRead {

  /** What a filter tells statistics, though it may tell rows nothing. */
  def meant(filter: Expression): Expression = filter match {
    case k: JoinKeys if k.holds => k.implied
    case other => other
  }
}
