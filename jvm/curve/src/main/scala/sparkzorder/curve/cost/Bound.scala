package sparkzorder.curve.cost

/**
 * The least share of the rows that look-ups of single values can read, whatever the layout: one copy of the
 * data, `blocks` blocks of equal size, min/max per column, independent columns.
 *
 * A block that covers the shares x_1 .. x_d of the columns' rows can hold at most x_1 * ... * x_d of the
 * table, and is read by a random look-up on column j with probability x_j. Hence the mean over the columns
 * is at least blocks^(-1/d) (arithmetic and geometric mean). A value that alone holds the share p of its
 * column cannot be covered by less than p, which leaves more room for the other columns: this is taken into
 * account row by row, so the bound stays true on skewed columns.
 *
 * Rows with a NULL are left out. A NULL is never looked up and narrows no block, so a layout of a table with
 * many of them may read less than the bound. If all rows have a NULL, each counts for the columns that it has.
 */
object Bound {

  /**
   * @param mass
   *   `mass(c)(i)`: the share of all rows that have the same value in column c as sampled row i
   * @param isNull
   *   whether sampled row i is NULL in column c
   * @param blocks
   *   number of blocks (files, row groups or pages)
   * @return
   *   share read per column, 0 for a column of NULLs; the mean over the columns is the bound, and each column
   *   alone only when `blocks` is a power of two to the number of columns
   */
  def perColumn(mass: Array[Array[Double]], isNull: Array[Array[Boolean]], blocks: Double): Array[Double] = {
    val rows = if (mass.isEmpty) 0 else mass(0).length
    val valued = mass.indices.filter(c => isNull(c).exists(!_)).toArray
    // a share of all rows is a larger share of those that have a value
    val perValue = valued.map(c => rows.toDouble / isNull(c).count(!_))
    val whole: IndexedSeq[Int] = (0 until rows).filter(i => valued.forall(c => !isNull(c)(i)))
    val points: IndexedSeq[Int] = if (whole.isEmpty) 0 until rows else whole
    val out = new Array[Double](mass.length)
    val counts = new Array[Int](mass.length)
    points.foreach { i =>
      val known = valued.indices.filter(k => !isNull(valued(k))(i)).toArray
      val least = known.map(k => math.min(1.0, mass(valued(k))(i) * perValue(k)))
      val cover = new Array[Double](known.length)
      fill(least, 1.0 / math.max(1.0, blocks), cover)
      known.indices.foreach { n =>
        out(valued(known(n))) += cover(n)
        counts(valued(known(n))) += 1
      }
    }
    out.indices.map(c => if (counts(c) == 0) 0.0 else out(c) / counts(c)).toArray
  }

  /**
   * The cheapest cover: minimise sum x_k under prod x_k >= volume and least_k <= x_k <= 1 (water-filling: the
   * free sides are equal; one that would fall below its least is fixed there and the others share the rest).
   */
  private def fill(least: Array[Double], volume: Double, out: Array[Double]): Unit = {
    val fixed = new Array[Boolean](least.length)
    var settled = false
    while (!settled) {
      var left = volume
      var free = 0
      least.indices.foreach(k => if (fixed(k)) left /= least(k) else free += 1)
      val side = if (free == 0) 1.0 else math.pow(math.min(1.0, left), 1.0 / free)
      settled = true
      least.indices.foreach { k =>
        if (!fixed(k) && side < least(k)) {
          fixed(k) = true
          settled = false
        }
        out(k) = if (fixed(k)) least(k) else side
      }
    }
  }
}
