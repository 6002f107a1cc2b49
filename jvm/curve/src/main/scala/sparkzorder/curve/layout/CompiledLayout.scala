package sparkzorder.curve.layout

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
