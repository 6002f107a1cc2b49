package sparkzorder.curve.layout

import sparkzorder.curve.Hilbert

/**
 * The order of the rows inside one cell: the ranks less the low corner of the cell, scaled so that the
 * widest column fills the bits, along a Hilbert curve. Columns that cannot vary in the cell drop out (a
 * curve restricted to a line is not monotone). All columns share one scale, so that a cell that is longer
 * in one column is cut there first.
 *
 * @param active
 *   columns that vary, in the order in which the curve takes them
 * @param low
 *   low corner of the cell, per active column
 * @param factor
 *   units of the curve per rank, times 2^32
 */
final private[layout] class CellOrder(
    active: Array[Int],
    low: Array[Int],
    limit: Array[Int],
    factor: Long,
    bits: Int,
    lexical: Boolean)
    extends Serializable {

  def place(ranks: Array[Int], scratch: Array[Int]): Long = {
    val n = active.length
    var i = 0
    while (i < n) {
      val inside = ranks(active(i)) - low(i)
      val bounded = if (inside < 0) 0 else if (inside > limit(i)) limit(i) else inside
      scratch(i) = ((bounded * factor) >>> 32).toInt
      i += 1
    }
    if (n == 0) 0L
    else if (n == 1) scratch(0).toLong
    else if (lexical) concatenated(scratch, n)
    else Hilbert.index(scratch, n, bits)
  }

  private def concatenated(coordinates: Array[Int], n: Int): Long = {
    var key = 0L
    var i = 0
    while (i < n) {
      key = (key << bits) | coordinates(i)
      i += 1
    }
    key
  }
}

private[layout] object CellOrder {

  def of(cell: Cell, scales: Array[Scale], inFileBits: Int, order: InFileOrder): CellOrder = {
    val tight = cell.box.indices.map(c => scales(c).occupied(cell.box(c).from, cell.box(c).until))
    val varying = cell.box.indices.filter(c => tight(c).width > 1)
    val lexical = order == InFileOrder.Lexical
    // pages are cut by count along the curve, which favours the column it turns into first: take turns
    val turned = if (lexical || varying.isEmpty) varying else {
      val k = cell.firstFile % varying.length
      varying.drop(k) ++ varying.take(k)
    }
    val widest = if (turned.isEmpty) 1 else turned.map(tight(_).width).max
    val bits =
      if (turned.isEmpty) 1
      else math.min(32 - Integer.numberOfLeadingZeros(widest - 1), inFileBits / turned.length)
    new CellOrder(
      turned.toArray,
      turned.map(tight(_).from).toArray,
      turned.map(tight(_).width - 1).toArray,
      math.min((1L << (32 + bits)) / widest, 1L << 32),
      bits,
      lexical)
  }
}
