package sparkzorder.curve

import java.math.BigInteger

/** Skilling's Hilbert curve, undoing his rotations from the top level down; slow, for comparison only. */
object Skilling {
  def index(point: Array[Int], bits: Int): BigInteger = {
    val x = point.clone()
    for (level <- bits - 1 to 1 by -1) {
      val low = (1 << level) - 1
      for (i <- x.indices) {
        if (((x(i) >>> level) & 1) == 1) x(0) = x(0) ^ low
        else {
          val differ = (x(0) ^ x(i)) & low
          x(0) = x(0) ^ differ
          x(i) = x(i) ^ differ
        }
      }
    }
    for (i <- 1 until x.length) x(i) = x(i) ^ x(i - 1)
    val flips = (1 until bits).foldLeft(0) { (t, level) =>
      if (((x.last >>> level) & 1) == 1) t ^ ((1 << level) - 1) else t
    }
    val digits = for (level <- bits - 1 to 0 by -1; c <- x) yield ((c ^ flips) >>> level) & 1
    digits.foldLeft(BigInteger.ZERO)((sum, bit) => sum.shiftLeft(1).or(BigInteger.valueOf(bit.toLong)))
  }
}
