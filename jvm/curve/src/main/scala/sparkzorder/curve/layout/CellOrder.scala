package sparkzorder.curve.layout

/**
 * The order of the rows inside one cell: the ranks less the low corner of the cell, along a Hilbert curve or
 * one column after the other. Columns that cannot vary in the cell drop out (a curve restricted to a line is
 * not monotone). The rest are given in the order in which the curve takes them.
 */
private[layout] object CellOrder {

  /** Bits that a column of a lexical order may take before the columns after it have theirs. */
  private val LexicalBits = 24

  /** Bits of the curve in a file: four billion cells. More would take time and separate no more pages. */
  private val CurveBits = 32

  /** A column of nearly nothing but NULL must not take all the bits from the others. */
  private val MostWeight = 16.0

  def of(
      cell: Cell,
      scales: Array[Scale],
      inFileBits: Int,
      order: InFileOrder): Array[CellColumn] = {
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
      stretch: Int => Int): Array[CellColumn] = {
    val length = varying.map { c =>
      tight(c).width * math.pow(2, stretch(c)) / math.max(1.0 - scales(c).nullShare, 1.0 / MostWeight)
    }
    val bits = if (varying.isEmpty) 1 else math.min(Scale.Bits, curveBits / varying.length)
    val columnBits = length.map(l => bits - math.round(math.log(length.max / l) / math.log(2)).toInt)
    varying.indices.toArray.filter(columnBits(_) > 0).map(i =>
      CellColumn(varying(i), tight(varying(i)), columnBits(i), bits))
  }

  /** Each column as exact as its ranks are, while there are bits. */
  private def lexical(varying: Array[Int], tight: Array[RankSpan], inFileBits: Int): Array[CellColumn] = {
    val widths = varying.map(c => bitsFor(tight(c).width.toDouble))
    val spare = math.max(0, inFileBits - widths.map(math.min(_, LexicalBits)).sum)
    val wanted = widths.indices.map(i =>
      if (i == 0) math.min(widths(0), LexicalBits + spare)
      else
        math.min(widths(i), LexicalBits))
    val before = wanted.scanLeft(0)(_ + _)
    val bits = wanted.indices.map(i => math.min(wanted(i), inFileBits - before(i))).takeWhile(_ > 0).toArray
    bits.indices.toArray.map { i =>
      val (column, span) = (varying(i), tight(varying(i)))
      if ((1L << bits(i)) >= span.width) CellColumn.unscaled(column, span, bits(i))
      else CellColumn(column, span, bits(i), bits(i))
    }
  }

  private def bitsFor(width: Double): Int =
    math.max(1, 64 - java.lang.Long.numberOfLeadingZeros(math.ceil(width).toLong - 1))
}
