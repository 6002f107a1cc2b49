package sparkzorder.curve.build.cut

import sparkzorder.curve.layout.Scale

/** Sorts ranks by their digits (LSD radix sort): the fit of a layout sorts every cell of every candidate. */
private[build] object RankSort {

  // scalafix:off DisableSyntax
  // final: the compiler folds them into the loops
  private final val DigitBits = 10
  private final val Digits = 1 << DigitBits
  // scalafix:on DisableSyntax

  /** Fewer ranks are sorted faster by comparisons than digits are counted. */
  private val Few = 2000

  /** The same ranks, which are 0 to `Scale.One`, ascending; the array that is given may be used as room. */
  def ascending(ranks: Array[Int]): Array[Int] =
    if (ranks.length < Few) {
      java.util.Arrays.sort(ranks)
      ranks
    } else {
      var from = ranks
      var to = new Array[Int](ranks.length)
      var shift = 0
      while (shift < Scale.Bits + 1) {
        if (byDigit(from, to, shift)) {
          val room = from
          from = to
          to = room
        }
        shift += DigitBits
      }
      from
    }

  /** Moves the ranks into the order of one digit; does nothing and says so where all have the same. */
  private def byDigit(from: Array[Int], to: Array[Int], shift: Int): Boolean = {
    val next = new Array[Int](Digits + 1)
    var i = 0
    while (i < from.length) {
      next(((from(i) >>> shift) & (Digits - 1)) + 1) += 1
      i += 1
    }
    val parts = next(((from(0) >>> shift) & (Digits - 1)) + 1) < from.length
    if (parts) {
      var d = 1
      while (d <= Digits) {
        next(d) += next(d - 1)
        d += 1
      }
      i = 0
      while (i < from.length) {
        val digit = (from(i) >>> shift) & (Digits - 1)
        to(next(digit)) = from(i)
        next(digit) += 1
        i += 1
      }
    }
    parts
  }
}
