package sparkzorder.curve

/** What the statistics of one block (file, row group or page) say about one column. */
sealed trait Zone extends Serializable

object Zone {

  /** No value but NULL: no look-up on the column reads the block. */
  case object OnlyNulls extends Zone

  /** Nothing is known: every look-up must read the block. */
  case object Unknown extends Zone

  /** Every non-NULL value lies in `[min, max]`. */
  final case class Between(min: NormalizedValue, max: NormalizedValue) extends Zone

  /** What is known of a part by its own zone and by that of the whole. */
  def within(part: Zone, whole: Zone): Zone = (part, whole) match {
    case (Unknown, _) => whole
    case (Between(min1, max1), Between(min2, max2)) =>
      val (min, max) = (if (min1 >= min2) min1 else min2, if (max1 <= max2) max1 else max2)
      if (min <= max) Between(min, max) else part
    case _ => part
  }
}

/**
 * One block as the cost model sees it.
 *
 * @param rows
 *   number of rows, NULLs included
 * @param zones
 *   one zone per column of interest, in the caller's order
 * @param nullFree
 *   columns that are known to hold no NULL in the block; of any other it is not known
 */
final case class Block(rows: Long, zones: IndexedSeq[Zone], nullFree: Set[Int] = Set.empty) {

  /** Whether a row may have these values, in the order of the first zones. */
  def mayHold(values: IndexedSeq[NormalizedValue]): Boolean =
    values.indices.forall(c =>
      zones(c) match {
        case Zone.Between(min, max) => min <= values(c) && values(c) <= max
        case Zone.OnlyNulls => false
        case Zone.Unknown => true
      })

  /** Whether a search for NULL in a column must read the block. */
  def mayHoldNull(column: Int): Boolean = !nullFree.contains(column)
}
