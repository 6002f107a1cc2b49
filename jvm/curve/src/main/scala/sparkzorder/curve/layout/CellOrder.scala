package sparkzorder.curve.layout

import sparkzorder.curve.Hilbert

/**
 * The order of the rows inside one cell: the ranks less the low corner of the cell, along a Hilbert curve or
 * one column after the other. Columns that cannot vary in the cell drop out (a curve restricted to a line is
 * not monotone).
 *
 * @param active
 *   columns that vary, in the order in which the curve takes them
 * @param low
 *   low corner of the cell, per active column
 * @param limit
 *   greatest distance from it, per active column
 * @param factor
 *   units of the curve per rank, times 2^32
 * @param bits
 *   bits of each active column's coordinate; all the same for Hilbert
 */
final private[layout] class CellOrder(
    active: Array[Int],
    low: Array[Int],
    limit: Array[Int],
    factor: Array[Long],
    bits: Array[Int],
    lexical: Boolean)
    extends Serializable {

  def place(ranks: Array[Int], scratch: Array[Int]): Long = {
    val n = active.length
    var i = 0
    while (i < n) {
      val inside = ranks(active(i)) - low(i)
      val bounded = if (inside < 0) 0 else if (inside > limit(i)) limit(i) else inside
      scratch(i) = ((bounded * factor(i)) >>> 32).toInt
      i += 1
    }
    if (n == 0) 0L
    else if (n == 1) scratch(0).toLong
    else if (lexical) concatenated(scratch, n)
    else Hilbert.index(scratch, n, bits(0))
  }

  private def concatenated(coordinates: Array[Int], n: Int): Long = {
    var key = 0L
    var i = 0
    while (i < n) {
      key = (key << bits(i)) | coordinates(i)
      i += 1
    }
    key
  }
}

private[layout] object CellOrder {

  /** Bits that a column of a lexical order may take before the columns after it have theirs. */
  private val LexicalBits = 24

  /** Bits of the curve in a file: four billion cells. More would cost time and tell no page from another. */
  private val CurveBits = 32

  /** A column of nearly nothing but NULL must not take all the bits from the others. */
  private val MostWeight = 16.0

  def of(cell: Cell, scales: Array[Scale], inFileBits: Int, order: InFileOrder): CellOrder = {
    val tight = cell.box.indices.map(c => scales(c).occupied(cell.box(c).from, cell.box(c).until)).toArray
    val varying = cell.box.indices.filter(c => tight(c).width > 1).toArray
    val curveBits = math.min(CurveBits, inFileBits)
    def inTurn = turned(varying, cell.firstFile).take(curveBits)
    order match {
      case InFileOrder.Lexical => lexical(varying, tight, inFileBits)
      case InFileOrder.Hilbert => hilbert(inTurn, tight, scales, curveBits, _ => 0)
      case InFileOrder.Stretched(bits) => hilbert(inTurn, tight, scales, curveBits, bits)
    }
  }

  /** Pages are cut by count along the curve, which favours the column it turns into first: they take turns. */
  private def turned(columns: Array[Int], file: Int): Array[Int] = {
    val k = if (columns.isEmpty) 0 else file % columns.length
    columns.drop(k) ++ columns.take(k)
  }

  /**
   * A cell that is longer in one column is cut there first: each column fills the cube of the curve, or a
   * half, a quarter ... of it, whatever is nearest to its length beside the longest one. A column with NULLs
   * is longer than its ranks say: its look-ups ask for fewer values, so the same rows are a greater part.
   */
  private def hilbert(
      varying: Array[Int],
      tight: Array[RankSpan],
      scales: Array[Scale],
      curveBits: Int,
      stretch: Int => Int): CellOrder = {
    val length = varying.map { c =>
      tight(c).width * math.pow(2, stretch(c)) / math.max(1.0 - scales(c).nullShare, 1.0 / MostWeight)
    }
    val bits = if (varying.isEmpty) 1 else math.min(Scale.Bits, curveBits / varying.length)
    val columnBits = length.map(l => bits - math.round(math.log(length.max / l) / math.log(2)).toInt)
    val active = varying.indices.filter(columnBits(_) > 0).toArray
    val factor = active.map(i => (1L << (32 + columnBits(i))) / tight(varying(i)).width)
    make(active.map(varying(_)), tight, factor, active.map(_ => bits), lexical = false)
  }

  /** Each column as exact as its ranks are, while there are bits. */
  private def lexical(varying: Array[Int], tight: Array[RankSpan], inFileBits: Int): CellOrder = {
    val widths = varying.map(c => bitsFor(tight(c).width.toDouble))
    val spare = math.max(0, inFileBits - widths.map(math.min(_, LexicalBits)).sum)
    val wanted = widths.indices.map(i =>
      if (i == 0) math.min(widths(0), LexicalBits + spare)
      else
        math.min(widths(i), LexicalBits))
    val before = wanted.scanLeft(0)(_ + _)
    val bits = wanted.indices.map(i => math.min(wanted(i), inFileBits - before(i))).takeWhile(_ > 0).toArray
    val active = varying.take(bits.length)
    val factor = active.indices.map(i =>
      math.min(1L << 32, (1L << (32 + bits(i))) / tight(active(i)).width)).toArray
    make(active, tight, factor, bits, lexical = true)
  }

  private def bitsFor(width: Double): Int =
    math.max(1, 64 - java.lang.Long.numberOfLeadingZeros(math.ceil(width).toLong - 1))

  private def make(
      active: Array[Int],
      tight: Array[RankSpan],
      factor: Array[Long],
      bits: Array[Int],
      lexical: Boolean): CellOrder =
    new CellOrder(active, active.map(tight(_).from), active.map(tight(_).width - 1), factor, bits, lexical)
}
