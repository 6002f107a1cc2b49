package sparkzorder.jmh

import java.util.SplittableRandom

import sparkzorder.curve.layout.{Cut, CutTree, Leaf, LongScale, RankSpan, Scale, ScaleBuilder}

/**
 * Random inputs of one invocation. `Rows` of them are more than a branch predictor learns by heart, and
 * still lie in the level-2 cache, so that a benchmark measures the code and not the memory.
 */
object Inputs {
  // scalafix:off DisableSyntax
  // final: a constant, as an annotation wants it
  final val Rows = 8192
  // scalafix:on DisableSyntax

  def random: SplittableRandom = new SplittableRandom(20)

  /** `Rows` ints of `bits` random bits. */
  def ints(random: SplittableRandom, bits: Int): Array[Int] =
    Array.fill(Rows)(random.nextInt() >>> (32 - bits))

  /** `Rows` times `columns` ranks. */
  def ranks(random: SplittableRandom, columns: Int): Array[Array[Int]] =
    Array.fill(Rows)(Array.fill(columns)(1 + random.nextInt(Scale.One - 1)))

  /** Skewed numbers as tables hold them: their order of magnitude is uniform. */
  def values(random: SplittableRandom, n: Int): Array[Long] =
    Array.fill(n)(random.nextLong() >>> (4 + random.nextInt(40)))

  /** The scale of a column of such numbers, fitted on 50,000 of them. */
  def scale(random: SplittableRandom): LongScale =
    ScaleBuilder.ofLongs(values(random, 50000).sorted, 0) match {
      case s: LongScale => s
      case other => sys.error(s"not a scale of numbers: $other")
    }

  /** A tree of `2^depth` leaves, cut near the middle in each column in turn. */
  def tree(random: SplittableRandom, columns: Int, depth: Int): CutTree = {
    def grow(box: IndexedSeq[RankSpan], level: Int): CutTree =
      if (level == depth) Leaf(1)
      else {
        val column = level % columns
        val span = box(column)
        val rank = span.from + (span.width * (0.45 + 0.1 * random.nextDouble())).toInt
        Cut(
          column,
          rank,
          grow(box.updated(column, RankSpan(span.from, rank)), level + 1),
          grow(box.updated(column, RankSpan(rank, span.until)), level + 1))
      }
    grow(IndexedSeq.fill(columns)(RankSpan(0, Scale.One)), 0)
  }
}
