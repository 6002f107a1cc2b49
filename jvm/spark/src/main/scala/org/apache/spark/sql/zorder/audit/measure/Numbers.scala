package org.apache.spark.sql.zorder.audit.measure

/**
 * What is read of some blocks, and the least that could be.
 *
 * @param rows
 *   of the blocks; shares of several sets of blocks are put together by it
 */
final private[audit] case class Reads(
    rows: Double,
    lookUp: Double,
    range: Double,
    lookUpBound: Double,
    rangeBound: Double) {

  /** Of two sets of blocks, each asked for its own values. */
  def ++(that: Reads): Reads = {
    val all = rows + that.rows
    def mean(of: Reads => Double) = if (all == 0.0) 0.0 else (rows * of(this) + that.rows * of(that)) / all
    Reads(all, mean(_.lookUp), mean(_.range), mean(_.lookUpBound), mean(_.rangeBound))
  }

  /** None where nothing is read, or nothing is there. */
  def efficiency: Option[Double] = {
    val share = Rounded(lookUp)
    if (rows == 0.0 || share == 0.0) None else Some(Rounded(lookUpBound) / share)
  }
}

private[audit] object Reads {
  val none: Reads = Reads(0.0, 0.0, 0.0, 0.0, 0.0)
}

/** One level, jointly or of one column. */
final private[audit] case class Numbers(depths: Depths, reads: Reads) {
  def ++(that: Numbers): Numbers = Numbers(depths ++ that.depths, reads ++ that.reads)
}

private[audit] object Rounded {

  /** To nine decimals: the order of additions does not show. */
  def apply(x: Double): Double = math.floor(x * 1e9 + 0.5) / 1e9
}
