package org.apache.spark.sql.zorder.run.plan

/**
 * Which of the files across cells are merged with new rows, and into how many files. The constants are those of a
 * simulation (ADR 45): look-ups then read at most 1.38 times what they read after `FULL` with at most half as many
 * files again, for appends of 1 to 10 % and any number of files.
 */
private[run] object Tiers {

  /** Older files are merged while they are at most so many times as large as what is merged with them. */
  private val Factor = 1.5

  /** Files across cells, as a share of the layout's files, beyond which more of them are merged. */
  val MostFiles = 0.5

  /** Files of a merge that holds all rows, as a share of the layout's files; others by the root of their share. */
  private val FilesOfAll = 0.6

  /** No file is smaller than this share of a usual file just to span less. */
  private val SmallestFile = 1.0 / 16

  /** The bytes of equal rows differ by so much. */
  private val Compression = 1.05

  /** What merges among files across cells cost in all, as a share of the budget; the rest is for writing anew. */
  private val Share = 1.0 / 3

  /** With less than this, new rows are written once and left alone until all is written anew. */
  private val LeastBudget = 5.0

  /** Bytes that writing everything anew may cost per byte appended since the last time. */
  def refitBudget(budget: Double): Double =
    if (budget < LeastBudget) budget - 1 else budget * (1 - Share)

  /**
   * How many of the newest are merged with the new rows.
   *
   * @param tiers
   *   bytes and number of files of what earlier runs appended, the oldest first
   * @param fresh
   *   bytes of the new rows
   * @param settled
   *   bytes of the files in their cells
   * @param cells
   *   files of the layout
   */
  def merged(tiers: Seq[(Long, Int)], fresh: Long, settled: Long, cells: Int, budget: Double): Int =
    if (budget < LeastBudget) 0
    else {
      val total = tiers.map(_._1).sum + fresh + settled
      def goesOn(count: Int): Boolean = {
        val (stay, again) = tiers.splitAt(tiers.length - count)
        val bytes = fresh + again.map(_._1).sum
        val crowded = stay.map(_._2).sum + files(bytes, total, cells) > MostFiles * cells
        stay.lastOption.exists(_._1 <= (if (crowded) budget else Factor) * Compression * bytes)
      }
      Iterator.from(0).dropWhile(goesOn).next()
    }

  /** Files of a merge: a power of two, so that they end where the layout itself is cut. */
  def files(bytes: Long, total: Long, cells: Int): Int = {
    val share = bytes.toDouble / math.max(1L, total)
    val wanted = math.min(FilesOfAll * math.sqrt(share), share / SmallestFile) * cells
    powerOfTwo(math.round(log2(math.max(1.0, wanted))).toInt, cells)
  }

  /** The same, if so many files across cells stay beside it. */
  def files(bytes: Long, total: Long, cells: Int, others: Int): Int = {
    val room = math.max(1.0, MostFiles * cells - others)
    math.min(files(bytes, total, cells), powerOfTwo(log2(room).toInt, cells))
  }

  private def log2(x: Double): Double = math.log(x) / math.log(2) + 1e-9

  private def powerOfTwo(bits: Int, most: Int): Int = math.max(1, math.min(most, 1 << math.min(30, bits)))
}
