package sparkzorder.curve.experiment

import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.cost.{Condition, Query, Shape}

/**
 * A conjunction of ranges of numbers.
 *
 * @param low
 *   by column; the least long where nothing is asked
 * @param shape
 *   what the bound needs to know of it
 */
final class Asked(val low: Array[Long], val high: Array[Long], val shape: Shape) {

  def query: Query =
    Query.of(shape.factors.map(_.column).map(c =>
      c -> Condition.between(NormalizedLong(low(c)), NormalizedLong(high(c)))): _*)

  def holds(data: DataSet, row: Int): Boolean =
    low.indices.forall(c => data.values(c)(row) >= low(c) && data.values(c)(row) <= high(c))
}
