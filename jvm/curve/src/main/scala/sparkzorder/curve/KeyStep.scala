package sparkzorder.curve

/**
 * Up to 64 bits of a raw key: some levels of some columns, whose bits of these levels lie at the same place
 * of one long each. What depends on the types only is worked out here, once.
 *
 * @param longs
 *   index in the words of a row of the long that holds these levels of each column; -1 where the column has
 *   ended, which reads as zeros
 * @param skip
 *   bits of these longs above the first level
 * @param levels
 *   number of levels; `skip + levels` may exceed 64 in a step of a single column, which then reads on in
 *   the next long
 */
private[curve] final class KeyStep(longs: Array[Int], skip: Int, levels: Int) extends Serializable {

  /** Number of bits. */
  val bits: Int = longs.length * levels

  private[this] val drop = 64 - levels
  private[this] val first = longs(0)
  private[this] val second = if (longs.length == 2) longs(1) else -1
  private[this] val crossing = math.max(0, skip + levels - 64)

  // what two columns need has ways of its own: a loop over so few takes longer to set up than to run
  private[this] val way =
    if (crossing > 0) KeyStep.ReadingOn
    else if (longs.length == 1 && first >= 0) KeyStep.Single
    else if (first >= 0 && second >= 0) if (levels == 1) KeyStep.PairOfBits else KeyStep.Pair
    else KeyStep.Loop

  // single bits, and the bits of a single column, lie side by side already
  private[this] val distance = if (levels == 1) 1 else longs.length

  /** The bits of the row, lowest `bits` bits of the result. */
  def code(words: Array[Long]): Long = way match {
    case KeyStep.Pair =>
      (Spread.by2(read(words, first).toInt) << 1) | Spread.by2(read(words, second).toInt)
    case KeyStep.PairOfBits => (read(words, first) << 1) | read(words, second)
    case KeyStep.Single => read(words, first)
    case KeyStep.ReadingOn => read(words, first) | (words(first + 1) >>> (64 - crossing))
    case _ => loop(words)
  }

  private def loop(words: Array[Long]): Long = {
    var out = 0L
    var i = 0
    while (i < longs.length) {
      val part = if (longs(i) < 0) 0L else read(words, longs(i))
      out = (out << 1) | (if (distance == 1) part else Spread(distance, part.toInt))
      i += 1
    }
    out
  }

  private def read(words: Array[Long], i: Int): Long = (words(i) << skip) >>> drop
}

private[curve] object KeyStep {
  // scalafix:off DisableSyntax
  // final: constants of a switch
  private final val Pair = 0
  private final val PairOfBits = 1
  private final val Single = 2
  private final val ReadingOn = 3
  private final val Loop = 4
  // scalafix:on DisableSyntax

  /** Up to this number of columns, [[Spread]] spreads the bits; more columns give one level at a time. */
  private val SpreadColumns = 8

  /**
   * The steps of a run of levels in which the same columns take part.
   *
   * @param begin
   *   index of the first long of each column
   * @param end
   *   index behind the last long of each column
   */
  def run(begin: IndexedSeq[Int], end: IndexedSeq[Int], from: Int, until: Int): Seq[KeyStep] = {
    val k = begin.length
    val most = if (k > SpreadColumns) 1 else 64 / k
    // only a single column reads on in its next long
    def next(level: Int): Int =
      math.min(math.min(level + most, until), if (k == 1) until else (level | 63) + 1)
    for {
      level <- Iterator.iterate(from)(next).takeWhile(_ < until).toSeq
      columns <- begin.indices.grouped(64)
    } yield {
      val longs = columns.map { i =>
        val at = begin(i) + (level >>> 6)
        if (at < end(i)) at else -1
      }
      new KeyStep(longs.toArray, level & 63, next(level) - level)
    }
  }
}
