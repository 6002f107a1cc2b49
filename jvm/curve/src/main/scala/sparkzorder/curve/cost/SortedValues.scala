package sparkzorder.curve.cost

import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

/** The sampled non-NULL values of one column in ascending order, duplicates kept. */
sealed trait SortedValues extends Serializable {

  /** Number of values. */
  def size: Int

  /** The value at a place from 0 to size - 1. */
  def apply(i: Int): NormalizedValue

  /** How many values lie in `[min, max]`; 0 when the range is empty. */
  def countBetween(min: NormalizedValue, max: NormalizedValue): Int

  /** How many values a block with this zone would be read for. */
  final def countIn(zone: Zone): Int = zone match {
    case Zone.OnlyNulls => 0
    case Zone.Unknown => size
    case Zone.Between(min, max) => countBetween(min, max)
  }
}

/** Values that are numbers. `values` ascends and is not changed afterwards. */
final class SortedLongs private[cost] (values: Array[Long]) extends SortedValues {
  override def size: Int = values.length

  override def apply(i: Int): NormalizedValue = NormalizedLong(values(i))

  override def countBetween(min: NormalizedValue, max: NormalizedValue): Int = (min, max) match {
    case (NormalizedLong(low), NormalizedLong(high)) if low <= high =>
      SortedValues.firstThat(size)(values(_) > high) - SortedValues.firstThat(size)(values(_) >= low)
    case (_: NormalizedLong, _: NormalizedLong) => 0
    case _ => throw new IllegalArgumentException("a column of numbers has no byte-string zone")
  }
}

/** Values that are byte strings in unsigned bytewise order. */
final class SortedBytes private[cost] (values: Array[Array[Byte]]) extends SortedValues {
  override def size: Int = values.length

  override def apply(i: Int): NormalizedValue = NormalizedBytes(values(i))

  override def countBetween(min: NormalizedValue, max: NormalizedValue): Int = (min, max) match {
    case (NormalizedBytes(low), NormalizedBytes(high)) =>
      val from = SortedValues.firstThat(size)(i => NormalizedBytes.compareBytes(values(i), low) >= 0)
      val until = SortedValues.firstThat(size)(i => NormalizedBytes.compareBytes(values(i), high) > 0)
      math.max(0, until - from)
    case (_: NormalizedLong, _) | (_, _: NormalizedLong) =>
      throw new IllegalArgumentException("a column of byte strings has no number zone")
    case _ =>
      math.max(
        0,
        SortedValues.firstThat(size)(apply(_) > max) - SortedValues.firstThat(size)(apply(_) >= min))
  }
}

object SortedValues {

  /** Sorts a copy of the values. */
  def ofLongs(values: Array[Long]): SortedValues = {
    val copy = values.clone()
    java.util.Arrays.sort(copy)
    new SortedLongs(copy)
  }

  /** Sorts a copy of the array; the byte strings themselves are shared. */
  def ofBytes(values: Array[Array[Byte]]): SortedValues = {
    val copy = values.clone()
    java.util.Arrays.sort(copy, NormalizedBytes.order)
    new SortedBytes(copy)
  }

  /** Values of one kind; no values at all are an empty column of numbers. */
  def of(normalized: Seq[NormalizedValue]): SortedValues = normalized.headOption match {
    case Some(_: NormalizedBytes) => ofBytes(normalized.map {
        case NormalizedBytes(bytes) => bytes
        case _ => throw new IllegalArgumentException("the values of a column are of one kind")
      }.toArray)
    case _ => ofLongs(normalized.map {
        case NormalizedLong(value) => value
        case _ => throw new IllegalArgumentException("the values of a column are of one kind")
      }.toArray)
  }

  /** The first index for which a condition holds that never turns false again; `size` if there is none. */
  private[cost] def firstThat(size: Int)(holds: Int => Boolean): Int = firstThat(0, size)(holds)

  /** The first index between `from` and `until` for which the condition holds; `until` if there is none. */
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
