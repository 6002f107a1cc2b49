package sparkzorder.curve.experiment

/**
 * What later queries of one kind read of one table in layouts that were made without a log.
 *
 * @param deltaZ
 *   in Delta's Z-order, as a share of the rows
 * @param shares
 *   the same by layout
 */
final case class Unlogged(table: String, kind: String, deltaZ: Double, shares: Map[String, Double]) {

  def besideDelta(layout: String): Double = shares(layout) / deltaZ

  /** The best layout for this case, known from the queries that judge it: nobody can choose better. */
  def best: Double = shares.values.min / deltaZ
}

object Unlogged {

  /** Layouts of a table that are the same for all kinds. */
  val general: Seq[String] = Seq("auto, no log", "zorder", "kd", "slices, no log")
}
