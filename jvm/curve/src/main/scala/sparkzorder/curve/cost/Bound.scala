package sparkzorder.curve.cost

/**
 * The least share of the rows that look-ups of single values can read, whatever the layout: one copy of the
 * data, `blocks` blocks of equal size, min/max per column, independent columns.
 *
 * A block that covers the shares x_1 .. x_d of the columns' rows can hold at most x_1 * ... * x_d of the
 * table, and is read by a random look-up on column j with probability x_j. Hence the mean over the columns
 * is at least blocks^(-1/d) (arithmetic and geometric mean). A value that alone holds the share p of its
 * column cannot be covered by less than p, which leaves more room for the other columns; a NULL is never
 * looked up (see [[NullMixing]]). Both are taken into account row by row, so the bound stays true on skewed
 * columns.
 */
object Bound {

  /**
   * @param mass
   *   `mass(c)(i)`: the share of all rows that have the same value in column c as sampled row i (NULL
   *   counts as a value here)
   * @param isNull
   *   whether sampled row i is NULL in column c
   * @param blocks
   *   number of blocks (files, row groups or pages)
   * @return
   *   share read per column; the mean over the columns is the bound, and each column alone only when
   *   `blocks` is a power of two to the number of columns
   */
  def perColumn(mass: Array[Array[Double]], isNull: Array[Array[Boolean]], blocks: Double): Array[Double] = {
    val d = mass.length
    val rows = if (d == 0) 0 else mass(0).length
    val nonNull = Array.tabulate(d)(c => isNull(c).count(!_).toDouble)
    // a look-up asks for a non-NULL value, so a share of all rows weighs more where there are NULLs
    val weight = Array.tabulate(d)(c => if (nonNull(c) == 0) 0.0 else rows / nonNull(c))
    val volume = 1.0 / math.max(1.0, blocks)
    val sum = new Array[Double](d)
    val cover = new Array[Double](d)
    val nullShare = weight.map(w => if (w == 0) 1.0 else 1 - 1 / w)
    val mixing = NullMixing.of(nullShare, 1 / volume, ofKind(nullShare, weight, volume, _))
    val light = Array.tabulate(d)(c => if (rows == 0) Array.emptyDoubleArray else lightened(mass(c), isNull(c), weight(c)))
    val never = Array.tabulate(d)(c => if (weight(c) == 0) isNull(c) else new Array[Boolean](rows))
    var i = 0
    while (i < rows) {
      val withNull = (0 until d).exists(c => isNull(c)(i) && weight(c) > 0)
      var factor = mixing.scale
      if (withNull) {
        shares(light, never, weight, volume, i, cover)
        val asValues = (0 until d).map(c => cover(c) * weight(c)).sum
        shares(mass, isNull, weight, volume, i, cover)
        val cost = (0 until d).map(c => if (isNull(c)(i)) 0.0 else cover(c) * weight(c)).sum
        if (cost > mixing.cap * asValues) factor *= mixing.cap * asValues / cost
      } else shares(mass, isNull, weight, volume, i, cover)
      var c = 0
      while (c < d) {
        if (!isNull(c)(i)) sum(c) += factor * cover(c) * weight(c)
        c += 1
      }
      i += 1
    }
    Array.tabulate(d)(c => if (rows == 0) 0.0 else math.min(1.0, sum(c) / rows))
  }

  /** The masses, with a NULL made a value that is rare. */
  private def lightened(mass: Array[Double], isNull: Array[Boolean], weight: Double): Array[Double] =
    if (weight == 0) mass else mass.indices.map(i => if (isNull(i)) 0.0 else mass(i)).toArray

  /** What a row that is NULL in `nulls` costs in a block of such rows, its values being rare ones. */
  private def ofKind(nullShare: Array[Double], weight: Array[Double], volume: Double, nulls: Set[Int]): Double = {
    val d = weight.length
    val isNull = Array.tabulate(d)(c => Array(nulls(c) || weight(c) == 0))
    val mass = Array.tabulate(d)(c => Array(if (isNull(c)(0)) nullShare(c) else 0.0))
    val out = new Array[Double](d)
    shares(mass, isNull, weight, volume, 0, out)
    (0 until d).map(c => if (isNull(c)(0)) 0.0 else out(c) * weight(c)).sum
  }

  /**
   * The cheapest cover of one row: minimise sum weight_c * x_c under prod x_c >= volume and x_c >= mass_c
   * (water-filling: the free columns cost the same; one that would fall below its mass is fixed there).
   */
  private def shares(
      mass: Array[Array[Double]],
      isNull: Array[Array[Boolean]],
      weight: Array[Double],
      volume: Double,
      row: Int,
      out: Array[Double]): Unit = {
    val d = out.length
    var left = volume
    var free = 0
    var weights = 1.0
    var c = 0
    while (c < d) {
      if (isNull(c)(row) || mass(c)(row) >= 1.0) {
        out(c) = mass(c)(row)
        left /= mass(c)(row)
      } else {
        out(c) = -1.0
        free += 1
        weights *= weight(c)
      }
      c += 1
    }
    var settled = false
    while (!settled && free > 0) {
      val level = math.pow(math.min(1.0, left) * weights, 1.0 / free)
      settled = true
      c = 0
      while (c < d) {
        if (out(c) < 0 && level / weight(c) < mass(c)(row)) {
          out(c) = mass(c)(row)
          left /= mass(c)(row)
          weights /= weight(c)
          free -= 1
          settled = false
        }
        c += 1
      }
      if (settled) {
        c = 0
        while (c < d) {
          if (out(c) < 0) out(c) = math.min(1.0, level) / weight(c)
          c += 1
        }
      }
    }
  }
}
