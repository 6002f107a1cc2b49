package sparkzorder.curve.cost

/**
 * One factor of the probability that a query reads a block whose box covers the share x of a column:
 * `max(least, flat + slope * x)`.
 *
 * @param flat
 *   what is read however narrow the block: the width of a range as a share of the column, 0 for an equality
 * @param slope
 *   1 for an equality, 1 - flat for a range, 0 for a search of NULL
 * @param least
 *   share of the rows that match in any case: a heavy value, or NULL
 */
final case class Factor(column: Int, flat: Double, slope: Double, least: Double) {
  def at(x: Double): Double = math.max(least, flat + slope * x)
}

object Factor {

  /** @param mass share of the rows that have the value */
  def equality(column: Int, mass: Double): Factor = Factor(column, 0.0, 1.0, mass)

  /** @param width share of the rows that are in the range */
  def range(column: Int, width: Double): Factor = Factor(column, width, 1.0 - width, 0.0)
}

/** A conjunction by its factors, asked with this weight. */
final case class Shape(factors: IndexedSeq[Factor], weight: Double)
