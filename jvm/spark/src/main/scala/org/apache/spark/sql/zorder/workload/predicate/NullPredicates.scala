package org.apache.spark.sql.zorder.workload.predicate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.zorder.expr.{AlwaysTrue, ColumnPath}
import sparkzorder.curve.cost.Condition

/** Where a filter is NULL: what [[Predicates]] does not say, and who must know that a filter holds for all rows needs. */
private[zorder] object NullPredicates extends PredicateHelper {

  /** The set for which the filter is NULL, or more. */
  def whereNull[R](filter: Expression, sets: FilterSets[R]): R = filter match {
    case a: And => ofParts(splitConjunctivePredicates(a), sets)(Predicates.whereTrue(_, sets))
    case o: Or => ofParts(splitDisjunctivePredicates(o), sets)(d => Predicates.whereTrue(Not(d), sets))
    case Not(child) => whereNull(child, sets)
    case _: IsNull | _: IsNotNull | _: EqualNullSafe | _: AlwaysTrue => sets.none
    case Literal(value, _) => if (value == null) sets.all else sets.none
    case InSet(child, values) => if (values.contains(null)) sets.all else anyNull(Seq(child), sets)
    case _: BinaryComparison | _: In | _: StartsWith | _: EndsWith | _: Contains | _: Like =>
      anyNull(filter.children, sets)
    case _ => anyNull(Seq(filter), sets)
  }

  /** NULL where one part is and each part is NULL or leaves the decision open. */
  private def ofParts[R](parts: Seq[Expression], sets: FilterSets[R])(undecided: Expression => R): R = {
    val nulls = parts.map(whereNull(_, sets))
    // `or` and `and` may make use of their left side: the parts' own sets are taken last
    val some = nulls.foldLeft(sets.none)(sets.or(_, _))
    parts.zip(nulls).foldLeft(some) { case (left, (part, isNull)) =>
      sets.and(left, sets.or(isNull, undecided(part)))
    }
  }

  /** Where one of the values is NULL, of which each must be a constant or a column. */
  private def anyNull[R](values: Seq[Expression], sets: FilterSets[R]): R =
    values.foldLeft(sets.none) { (found, v) =>
      val here = v match {
        case Literal(value, _) => if (value == null) sets.all else sets.none
        case _ if ColumnPath.of(v).isEmpty || sets.unanswered(v) => sets.all
        case _ => BoxColumn.of(v).fold(sets.all)(sets.on(_, Condition.IsNull))
      }
      sets.or(found, here)
    }
}
