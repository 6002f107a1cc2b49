package sparkzorder.curve.cost

/**
 * The least share of the rows that the queries of a workload can read, whatever the layout, and how that
 * layout would divide its bits among the columns.
 *
 * @param share
 *   mean over the queries by weight, 0 .. 1
 * @param bits
 *   per column, how often its range would be halved
 */
final case class WorkloadBound(share: Double, bits: IndexedSeq[Double]) {

  /** Columns that the best layout does not cut: a cut would cost the others more than it gains. */
  def unused: IndexedSeq[Int] = bits.indices.filter(bits(_) < WorkloadBound.Nothing)
}

/**
 * A geometric program (Boyd et al. 2007): minimise sum_q w_q prod_j f_qj(x_j) over the shares x_j that a
 * block covers of each column, under prod x_j >= 1 / blocks, since independent columns leave no more rows in
 * a box than its volume. In b_j = -log2 x_j the objective is convex and the constraint is
 * sum b_j = log2 blocks, so it is solved by moving bits between two columns at a time until no move helps.
 *
 * It holds for the mean over queries whose values come from the data, for one copy of independent columns
 * with min/max per block. Correlated columns and literals that come again can do better: their floor is
 * `floor`.
 */
object WorkloadBound {
  private val Nothing = 0.05
  private val Rounds = 60
  private val Enough = 1e-7

  /**
   * @param blocks
   *   number of files, row groups or pages
   * @param caps
   *   per column, the most bits that can narrow it: log2 of its distinct values
   */
  def of(shapes: Seq[Shape], caps: IndexedSeq[Double], blocks: Double): WorkloadBound = {
    val asked = merged(shapes).toArray
    val weight = asked.map(_.weight).sum
    val bits = start(caps, math.log(math.max(1.0, blocks)) / math.log(2))
    if (weight <= 0.0) WorkloadBound(0.0, bits.toIndexedSeq)
    else {
      settle(asked, caps, bits)
      WorkloadBound(cost(asked, bits) / weight, bits.toIndexedSeq)
    }
  }

  /** Each shape once, in the order in which they come first: sums of fractions depend on their order. */
  private[cost] def merged(shapes: Seq[Shape]): Seq[Shape] = {
    val byFactors = shapes.groupBy(_.factors)
    shapes.map(_.factors).distinct.map(f => Shape(f, byFactors(f).map(_.weight).sum))
  }

  /** The least that known queries read: the rows that match, and one block. */
  def floor(selectivities: Array[Double], weights: Array[Double], blocks: Double): Double = {
    val all = weights.sum
    if (all <= 0.0) 0.0
    else selectivities.indices.map(q => weights(q) * math.max(selectivities(q), 1.0 / blocks)).sum / all
  }

  /** Equal bits, and where a column is full, more for the others. */
  private def start(caps: IndexedSeq[Double], all: Double): Array[Double] = {
    val bits = new Array[Double](caps.length)
    var left = math.min(all, caps.sum)
    caps.indices.sortBy(caps(_)).zipWithIndex.foreach { case (c, done) =>
      bits(c) = math.min(caps(c), left / (caps.length - done))
      left -= bits(c)
    }
    bits
  }

  private def settle(shapes: Array[Shape], caps: IndexedSeq[Double], bits: Array[Double]): Unit = {
    var before = Double.MaxValue
    var now = cost(shapes, bits)
    var round = 0
    while (before - now > Enough * now && round < Rounds) {
      for (i <- bits.indices; j <- 0 until i) exchange(shapes, caps, bits, i, j)
      before = now
      now = cost(shapes, bits)
      round += 1
    }
  }

  /** Moves bits from column j to column i, or back, to where the cost is least: a golden-section search. */
  private def exchange(
      shapes: Array[Shape],
      caps: IndexedSeq[Double],
      bits: Array[Double],
      i: Int,
      j: Int): Unit = {
    val (from, to) = (bits(i), bits(j))
    def at(moved: Double): Double = {
      bits(i) = from + moved
      bits(j) = to - moved
      cost(shapes, bits)
    }
    val still = at(0.0)
    var a = math.max(-from, to - caps(j))
    var b = math.min(caps(i) - from, to)
    while (b - a > 1e-6) {
      val third = (b - a) * Golden
      if (at(a + third) <= at(b - third)) b -= third else a += third
    }
    if (at((a + b) / 2) > still) at(0.0)
  }

  private val Golden = 1.0 - (math.sqrt(5) - 1) / 2

  private def cost(shapes: Array[Shape], bits: Array[Double]): Double = {
    val x = bits.map(b => math.pow(2, -b))
    var sum = 0.0
    var q = 0
    while (q < shapes.length) {
      val factors = shapes(q).factors
      var p = shapes(q).weight
      var k = 0
      while (k < factors.length) {
        p *= factors(k).at(x(factors(k).column))
        k += 1
      }
      sum += p
      q += 1
    }
    sum
  }
}

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

  /** @param mass share of the rows that match in any case */
  def equality(column: Int, mass: Double): Factor = Factor(column, 0.0, 1.0, mass)

  /**
   * @param width
   *   share of the rows that are in the range
   * @param mass
   *   share of the rows that match in any case
   */
  def range(column: Int, width: Double, mass: Double): Factor = Factor(column, width, 1.0 - width, mass)

  /** @param mass share of the rows that are NULL */
  def ofNull(column: Int, mass: Double): Factor = Factor(column, mass, 0.0, mass)
}

/** A conjunction by its factors, asked with this weight. */
final case class Shape(factors: IndexedSeq[Factor], weight: Double)
