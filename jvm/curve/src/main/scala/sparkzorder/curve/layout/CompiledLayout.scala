package sparkzorder.curve.layout

import scala.collection.mutable.ArrayBuffer

import sparkzorder.curve.{Hilbert, Hilbert4}

/**
 * A layout as flat arrays, evaluated row by row without allocation. The caller owns the array of ranks and
 * the scratch array: one per task, never shared between threads. Not serializable: a task gets the layout and
 * compiles it, since the arrays are several times as large.
 */
final class CompiledLayout(scales: Array[Scale], tree: CutTree, inFile: InFileOrder) {
  val columns: Int = scales.length
  val files: Int = tree.files

  private[this] val longScales: Array[LongScale] =
    scales.map { case s: LongScale => s; case _ => null }
  private[this] val bytesScales: Array[BytesScale] =
    scales.map { case s: BytesScale => s; case _ => null }

  private[this] val walk = TreeWalk(tree)

  private[this] val cells: Array[Cell] = CutTree.cells(tree, columns).toArray
  private[this] val firstFile: Array[Int] = cells.map(_.firstFile)
  private[this] val spread: Array[Int] = cells.map(_.files)

  private[this] val fileBits = 32 - Integer.numberOfLeadingZeros(math.max(1, files - 1))
  private[this] val inFileBits = 63 - fileBits
  private[this] val places =
    CellPlaces(cells.map(CellOrder.of(_, scales, inFileBits, inFile)), inFile == InFileOrder.Lexical)

  /** What pages are cut by; None where a file is one sorted list. */
  lazy val pageSides: Option[PageSides] = PageSides.of(scales, inFile)

  def rank(i: Int, value: Long): Int = longScales(i).rank(value)

  def rank(i: Int, value: Array[Byte]): Int = bytesScales(i).rank(value)

  /** The cell of a row, counted from the left of the tree. Ranks are in column order; NULL is 0. */
  def cell(ranks: Array[Int]): Int = walk.leaf(ranks)

  /** First file of a cell. */
  def fileOf(cell: Int): Int = firstFile(cell)

  /** Number of files that a cell is spread over; above 1 only where all its keys are equal. */
  def spreadOf(cell: Int): Int = spread(cell)

  /** The file of a row of `cell`; `hash` decides only where the cell is spread over several. */
  def file(cell: Int, hash: Int): Int = {
    val files = spread(cell)
    if (files == 1) firstFile(cell) else firstFile(cell) + Math.floorMod(hash, files)
  }

  /**
   * File number, then the place inside the file: never negative.
   *
   * @param file
   *   as `file(cell, hash)` gave it
   * @param scratch
   *   at least `columns` ints, overwritten
   */
  def key(cell: Int, file: Int, ranks: Array[Int], scratch: Array[Int]): Long =
    (file.toLong << inFileBits) | places.place(cell, ranks, scratch)

  /** The file number in a key. */
  def fileOfKey(key: Long): Int = (key >>> inFileBits).toInt
}

/**
 * A tree of cuts as one flat array, two levels a step: the three cuts of a step are read and compared at the
 * same time, where a step a level would wait for each. There is no branch on a rank, since which way a row
 * goes cannot be predicted.
 *
 * @param nodes
 *   ten ints a node: column and cut of the node itself, of its left child and of its right child, then the
 *   places of the four grandchildren from left to right; a negative place is leaf -1 - place
 */
final private class TreeWalk private (nodes: Array[Int]) {

  /** The leaf, counted from the left, in which a row has these ranks. */
  def leaf(ranks: Array[Int]): Int = {
    // a tree without cuts has no node to begin with
    var node = if (nodes.length == 0) -1 else 0
    while (node >= 0) {
      // a sign is -1 on the left of a cut, else 0
      val sign = (ranks(nodes(node)) - nodes(node + 1)) >> 31
      val ifLeft = (ranks(nodes(node + 2)) - nodes(node + 3)) >> 31
      val ifRight = (ranks(nodes(node + 4)) - nodes(node + 5)) >> 31
      val next = ifRight ^ ((ifLeft ^ ifRight) & sign)
      node = nodes(node + 9 + 2 * sign + next)
    }
    -1 - node
  }
}

private object TreeWalk {
  private val Ints = 10

  def apply(tree: CutTree): TreeWalk = {
    val out = ArrayBuffer.empty[Int]
    var leaves = 0

    // puts the column and the cut of one of a node's three cuts; a leaf has the same on both sides of any
    def put(at: Int, tree: CutTree): (CutTree, CutTree) = tree match {
      case Cut(column, rank, left, right) =>
        out(at) = column
        out(at + 1) = rank
        (left, right)
      case leaf: Leaf => (leaf, leaf)
    }

    def place(tree: CutTree): Int = tree match {
      case _: Leaf =>
        leaves += 1
        -leaves
      case _: Cut =>
        val me = out.length
        out ++= Seq.fill(Ints)(0)
        val (left, right) = put(me, tree)
        pair(me + 6, left, put(me + 2, left))
        pair(me + 8, right, put(me + 4, right))
        me
    }

    def pair(at: Int, child: CutTree, children: (CutTree, CutTree)): Unit = {
      out(at) = place(children._1)
      out(at + 1) = child match {
        case _: Leaf => out(at)
        case _: Cut => place(children._2)
      }
    }

    place(tree)
    new TreeWalk(out.toArray)
  }
}

/**
 * The orders inside the cells of a layout as one flat array, evaluated without allocation: an object a cell
 * would take a cache line for each of its arrays.
 *
 * @param numbers
 *   `stride` ints a cell: the number of its columns, and of each of them the column, low corner, limit,
 *   factor, shift and bits, as [[CellColumn]] says
 * @param lexical
 *   whether columns follow one another; else they lie along a Hilbert curve, for which all have the same bits
 */
final private class CellPlaces private (numbers: Array[Int], stride: Int, lexical: Boolean) {

  import CellPlaces.Ints

  /**
   * The place of a row inside its cell.
   *
   * @param scratch
   *   an int for each column of the layout, overwritten
   */
  def place(cell: Int, ranks: Array[Int], scratch: Array[Int]): Long = {
    val first = cell * stride
    val n = numbers(first)
    if (n == 4 && !lexical) {
      // without the loop and the array, which would take longer than the curve
      Hilbert4.index(
        coordinate(first + 1, ranks),
        coordinate(first + 1 + Ints, ranks),
        coordinate(first + 1 + 2 * Ints, ranks),
        coordinate(first + 1 + 3 * Ints, ranks),
        numbers(first + Ints))
    } else {
      var at = first + 1
      var i = 0
      while (i < n) {
        scratch(i) = coordinate(at, ranks)
        at += Ints
        i += 1
      }
      if (n == 0) 0L
      else if (n == 1) scratch(0).toLong
      else if (lexical) concatenated(first, n, scratch)
      else Hilbert.index(scratch, n, numbers(first + Ints))
    }
  }

  private def coordinate(at: Int, ranks: Array[Int]): Int = {
    val inside = math.max(0, math.min(numbers(at + 2), ranks(numbers(at)) - numbers(at + 1)))
    ((inside.toLong * numbers(at + 3)) >>> numbers(at + 4)).toInt
  }

  private def concatenated(first: Int, n: Int, coordinates: Array[Int]): Long = {
    var key = 0L
    var i = 0
    while (i < n) {
      key = (key << numbers(first + Ints * (i + 1))) | coordinates(i)
      i += 1
    }
    key
  }
}

private object CellPlaces {
  // scalafix:off DisableSyntax
  // final: folded into the loops, where a plain val is a field of the object
  private final val Ints = 6
  // scalafix:on DisableSyntax

  def apply(cells: Array[Array[CellColumn]], lexical: Boolean): CellPlaces = {
    val stride = 1 + Ints * cells.iterator.map(_.length).max
    val numbers = new Array[Int](cells.length * stride)
    for (cell <- cells.indices) {
      numbers(cell * stride) = cells(cell).length
      for (i <- cells(cell).indices) cells(cell)(i).copyTo(numbers, cell * stride + 1 + i * Ints)
    }
    new CellPlaces(numbers, stride, lexical)
  }
}

/**
 * The order of the rows inside one cell: the ranks less the low corner of the cell, along a Hilbert curve or
 * one column after the other. Columns that cannot vary in the cell drop out (a curve restricted to a line is
 * not monotone). The rest are given in the order in which the curve takes them.
 */
private object CellOrder {

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

  /**
   * Pages are cut by count along the curve, which favours the column it turns into first: they take turns.
   */
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

/**
 * What a column contributes to the order inside one cell: its rank less the low corner of the cell, made a
 * coordinate of some bits by one multiplication.
 *
 * @param low
 *   low corner of the cell
 * @param limit
 *   greatest distance from it
 * @param factor
 *   units of the coordinate per rank, times `2^shift`
 * @param bits
 *   bits of the coordinate
 */
final private case class CellColumn(
    column: Int,
    low: Int,
    limit: Int,
    factor: Int,
    shift: Int,
    bits: Int) {

  def copyTo(numbers: Array[Int], at: Int): Unit = {
    numbers(at) = column
    numbers(at + 1) = low
    numbers(at + 2) = limit
    numbers(at + 3) = factor
    numbers(at + 4) = shift
    numbers(at + 5) = bits
  }
}

private object CellColumn {

  /**
   * A column whose ranks in the cell fill coordinates of `filled` bits.
   *
   * @param bits
   *   bits of the coordinate, at least `filled`
   */
  def apply(column: Int, span: RankSpan, filled: Int, bits: Int): CellColumn = {
    val exact = (1L << 62) / span.width
    // 31 bits of it are enough, since a rank has 30
    val excess = 33 - java.lang.Long.numberOfLeadingZeros(exact)
    CellColumn(column, span.from, span.width - 1, (exact >>> excess).toInt, 62 - filled - excess, bits)
  }

  /** A column whose coordinate is its rank in the cell. */
  def unscaled(column: Int, span: RankSpan, bits: Int): CellColumn =
    CellColumn(column, span.from, span.width - 1, 1, 0, bits)
}
