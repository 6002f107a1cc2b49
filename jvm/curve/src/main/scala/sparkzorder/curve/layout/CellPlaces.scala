package sparkzorder.curve.layout

import sparkzorder.curve.{Hilbert, Hilbert4}

/**
 * The orders inside the cells of a layout as one flat array, evaluated without allocation: an object a cell would take
 * a cache line for each of its arrays.
 *
 * @param numbers
 *   `stride` ints a cell: the number of its columns, and of each of them the column, low corner, limit, factor, shift
 *   and bits, as [[CellColumn]] says
 * @param lexical
 *   whether columns follow one another; else they lie along a Hilbert curve, for which all have the same bits
 */
final private[layout] class CellPlaces private (numbers: Array[Int], stride: Int, lexical: Boolean) {

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

private[layout] object CellPlaces {
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
