package org.apache.spark.sql.zorder.clustering.select

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.skipping.predicate._
import sparkzorder.curve.{Block, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.curve.cost.Condition

/** What the footer of one file shows of a column: its bounds, and whether it may contain NULLs. */
final private[zorder] case class ColumnBounds(zone: Zone, mayBeNull: Boolean)

private[zorder] object ColumnBounds {

  /** What a block shows of one of its columns. */
  def of(block: Block, column: Int): ColumnBounds =
    ColumnBounds(block.zones(column), block.mayHoldNull(column))

  /** The bounds of a column about which nothing is known. */
  val Unknown: ColumnBounds = ColumnBounds(Zone.Unknown, mayBeNull = true)
}

/**
 * What the statistics of one file say of a condition. A part that is not understood may be anything, so a
 * file in doubt does not match wholly.
 *
 * @param bounds
 *   of a column or field, by its text
 */
final private[zorder] class FileMatch(bounds: String => ColumnBounds) extends FilterSets[Boolean] {

  /** Whether the condition may be true for some row. */
  def mayMatch(condition: Expression): Boolean = Predicates.whereTrue(condition, this)

  /** Whether the condition is true for every row. */
  def matchesWholly(condition: Expression): Boolean = !Predicates.whereNotTrue(condition, this)

  override def all: Boolean = true
  override def none: Boolean = false
  override def and(left: Boolean, right: => Boolean): Boolean = left && right
  override def or(left: Boolean, right: => Boolean): Boolean = left || right

  override def on(column: FilterColumn, condition: Condition): Boolean = {
    val of = bounds(column.sql)
    val byValue = of.zone match {
      case Zone.OnlyNulls => false
      case Zone.Between(min, max) =>
        condition.intervals.exists(i => !comparable(min, i.min, i.max) || i.meets(min, max))
      case Zone.Unknown => condition.intervals.nonEmpty
    }
    byValue || (condition.orNull && (of.mayBeNull || of.zone == Zone.OnlyNulls))
  }

  override def onFunction(e: Expression, function: FilterColumn, condition: Condition): Boolean =
    on(function, condition) &&
      MonotoneFunction.onColumn(e, condition).forall { case (column, c) => on(column, c) }

  /**
   * Values of a footer and of a condition are of one kind, unless the file has the column with another type.
   */
  private def comparable(ofFile: NormalizedValue, ends: Option[NormalizedValue]*): Boolean =
    ends.flatten.forall(_.isInstanceOf[NormalizedLong] == ofFile.isInstanceOf[NormalizedLong])
}
