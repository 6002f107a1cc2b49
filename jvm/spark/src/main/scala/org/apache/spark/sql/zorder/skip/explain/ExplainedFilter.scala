package org.apache.spark.sql.zorder.skip.explain

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.skip.filter.FilesThatMayMatch
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.{BoxColumn, FilterSets, MonotoneFunction}
import sparkzorder.curve.cost.Condition

/** The files that may match, and what else would have to be known to leave out more. */
final private[explain] case class Explained(files: BitSet, gaps: Vector[Gap])

/**
 * What [[FilesThatMayMatch]] finds, with the reasons. Every set of files is made by that class, so that an explanation
 * and a scan cannot differ.
 *
 * @param partitioning
 *   names of columns whose values are in the paths
 */
final private[explain] class ExplainedFilter(
    index: StatisticsIndex,
    unansweredColumn: Expression => Boolean,
    partitioning: Set[String])
    extends FilterSets[Explained] {
  private val sets = new FilesThatMayMatch(index, unansweredColumn)

  override def all: Explained = Explained(sets.all, Vector.empty)
  override def none: Explained = Explained(sets.none, Vector.empty)

  // both sides are evaluated, for their reasons
  override def and(left: Explained, right: => Explained): Explained = joined(left, right)(sets.and(_, _))
  override def or(left: Explained, right: => Explained): Explained = joined(left, right)(sets.or(_, _))

  override def forgetful: Boolean = sets.forgetful

  override def on(column: BoxColumn, condition: Condition): Explained =
    Explained(sets.on(column, condition), Vector(ofColumn(column)))

  override def onFunction(e: Expression, function: BoxColumn, condition: Condition): Explained =
    Explained(
      sets.onFunction(e, function, condition),
      Vector(index.numberOf(e).map(Gap.Column(_))
        .getOrElse(MonotoneFunction.onColumn(e, condition).fold(ofFunction(e))(c => ofColumn(c._1)))))

  override def asColumn(test: Expression, truth: Boolean): Option[Explained] =
    sets.asColumn(test, truth).map(Explained(_, index.numberOf(test).map(Gap.Column(_)).toVector))

  override def unanswered(e: Expression): Boolean = sets.unanswered(e)

  override def unknown(e: Expression): Explained = Explained(sets.unknown(e), Vector(Gap.Said(why(e))))

  private def joined(left: Explained, right: Explained)(sets: (BitSet, BitSet) => BitSet): Explained =
    Explained(sets(left.files, right.files), (left.gaps ++ right.gaps).distinct)

  private def ofColumn(column: BoxColumn): Gap = index.numberOf(column.sql) match {
    case None => Gap.Said(s"column is not in the index: ${column.sql}")
    case Some(c) if index.columns(c).dataType != column.dataType =>
      Gap.Said(
        s"type differs: ${column.sql} is ${column.dataType.sql} here, ${index.columns(c).dataType.sql} in the index")
    case Some(c) => Gap.Column(c)
  }

  private def ofFunction(e: Expression): Gap =
    if (e.dataType == BooleanType || !ExplainedFilter.plain(e)) Gap.Said(why(e))
    else Gap.Said(s"function does not keep order: ${ExplainedFilter.text(e)}")

  private def why(e: Expression): String = {
    val text = ExplainedFilter.text(e)
    if (e.references.exists { case FileSourceMetadataAttribute(_) => true; case _ => false })
      s"metadata column: $text"
    else if (e.references.exists(a => partitioning(a.name)))
      s"partition column: $text"
    else if (sets.unanswered(e)) s"column has a default: $text"
    else if (e.exists(ExplainedFilter.isQuery))
      s"subquery, whose value is known only when the query runs: $text"
    else if (e.exists(_.isInstanceOf[UserDefinedExpression])) s"user-defined function: $text"
    else if (!e.deterministic) s"not deterministic: $text"
    else s"not a comparison of one column with constants: $text"
  }
}

private[explain] object ExplainedFilter {
  private val MostCharacters = 200

  private def plain(e: Expression): Boolean =
    e.deterministic && !e.exists(x => isQuery(x) || x.isInstanceOf[UserDefinedExpression])

  private def isQuery(e: Expression): Boolean = e.isInstanceOf[PlanExpression[_]]

  /** As a statement would have it, as far as that can be written. */
  def text(e: Expression): String = {
    val whole =
      try e.transform { case a: AttributeReference => a.withQualifier(Nil) }.sql
      catch { case scala.util.control.NonFatal(_) => e.toString }
    if (whole.length <= MostCharacters) whole else whole.take(MostCharacters - 4) + " ..."
  }
}
