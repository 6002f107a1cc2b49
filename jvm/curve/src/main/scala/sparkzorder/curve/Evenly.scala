package sparkzorder.curve

/**
 * Some of many things, evenly taken: the first ones of a table may be the oldest and differ from the rest.
 */
object Evenly {

  /** Which of `n` things the `i`-th of `k` is. */
  def place(i: Int, k: Int, n: Int): Int = (i.toLong * n / k).toInt

  /** Which of `n` things `k` of them are, ascending. */
  def places(k: Int, n: Int): Array[Int] = Array.tabulate(k)(place(_, k, n))

  /** At most `most` of the elements, evenly spread, in their order. */
  def take[A](all: Seq[A], most: Int): IndexedSeq[A] = {
    val indexed = all.toIndexedSeq
    if (indexed.length <= most) indexed
    else IndexedSeq.tabulate(most)(i => indexed(place(i, most, indexed.length)))
  }
}
