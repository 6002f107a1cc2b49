package sparkzorder.curve.cost

import sparkzorder.curve.{BytesWord, LongWord, Word, Zone}

/** The sampled non-NULL values of one column in ascending order, duplicates kept. */
sealed trait SortedWords extends Serializable {

  /** Number of values. */
  def size: Int

  /** The value at a place from 0 to size - 1. */
  def apply(i: Int): Word

  /** How many values lie in `[min, max]`; 0 when the range is empty. */
  def countBetween(min: Word, max: Word): Int

  /** How many values a block with this zone would be read for. */
  final def countIn(zone: Zone): Int = zone match {
    case Zone.OnlyNulls => 0
    case Zone.Unknown => size
    case Zone.Between(min, max) => countBetween(min, max)
  }
}

/** Values that are numbers. `values` ascends and is not changed afterwards. */
final class SortedLongs private[cost] (values: Array[Long]) extends SortedWords {
  override def size: Int = values.length

  override def apply(i: Int): Word = LongWord(values(i))

  override def countBetween(min: Word, max: Word): Int = (min, max) match {
    case (LongWord(low), LongWord(high)) if low <= high =>
      SortedWords.firstThat(size)(values(_) > high) - SortedWords.firstThat(size)(values(_) >= low)
    case (_: LongWord, _: LongWord) => 0
    case _ => throw new IllegalArgumentException("a column of numbers has no byte-string zone")
  }
}

/** Values that are byte strings in unsigned bytewise order. */
final class SortedBytes private[cost] (values: Array[Array[Byte]]) extends SortedWords {
  override def size: Int = values.length

  override def apply(i: Int): Word = BytesWord(values(i))

  override def countBetween(min: Word, max: Word): Int = (min, max) match {
    case (BytesWord(low), BytesWord(high)) =>
      val from = SortedWords.firstThat(size)(i => BytesWord.compareBytes(values(i), low) >= 0)
      val until = SortedWords.firstThat(size)(i => BytesWord.compareBytes(values(i), high) > 0)
      math.max(0, until - from)
    case (_: LongWord, _) | (_, _: LongWord) =>
      throw new IllegalArgumentException("a column of byte strings has no number zone")
    case _ =>
      math.max(0, SortedWords.firstThat(size)(apply(_) > max) - SortedWords.firstThat(size)(apply(_) >= min))
  }
}

object SortedWords {

  /** Sorts a copy of the values. */
  def ofLongs(values: Array[Long]): SortedWords = {
    val copy = values.clone()
    java.util.Arrays.sort(copy)
    new SortedLongs(copy)
  }

  /** Sorts a copy of the array; the byte strings themselves are shared. */
  def ofBytes(values: Array[Array[Byte]]): SortedWords = {
    val copy = values.clone()
    java.util.Arrays.sort(copy, bytewise)
    new SortedBytes(copy)
  }

  /** Words of one kind; no words at all are an empty column of numbers. */
  def of(words: Seq[Word]): SortedWords = words.headOption match {
    case Some(_: BytesWord) => ofBytes(words.map {
        case BytesWord(bytes) => bytes
        case _ => throw new IllegalArgumentException("the words of a column are of one kind")
      }.toArray)
    case _ => ofLongs(words.map {
        case LongWord(value) => value
        case _ => throw new IllegalArgumentException("the words of a column are of one kind")
      }.toArray)
  }

  private val bytewise: java.util.Comparator[Array[Byte]] = new java.util.Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = BytesWord.compareBytes(a, b)
  }

  /** The first index for which a condition holds that never turns false again; `size` if there is none. */
  private[cost] def firstThat(size: Int)(holds: Int => Boolean): Int = firstThat(0, size)(holds)

  /** The same from index `from` on; `until` if there is none. */
  def firstThat(from: Int, until: Int)(holds: Int => Boolean): Int = {
    var low = from
    var high = until
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(middle)) high = middle else low = middle + 1
    }
    low
  }
}
