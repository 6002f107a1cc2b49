package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.layout.{BytesScale, LongScale, Scale, ScaleBuilder}

/** The sampled words of one column; row i is NULL where `isNull(i)`. */
sealed trait SampleColumn extends Serializable {
  def isNull: Array[Boolean]

  def take(rows: Array[Int]): SampleColumn

  /** A scale fitted on all rows. */
  def scale: Scale

  /** The rank of every row. */
  def ranks(scale: Scale): Array[Int]

  final def nulls: Int = isNull.count(identity)
}

final case class LongSample(words: Array[Long], isNull: Array[Boolean]) extends SampleColumn {
  override def take(rows: Array[Int]): SampleColumn = LongSample(rows.map(words(_)), rows.map(isNull(_)))

  override def scale: Scale = {
    val sorted = words.indices.iterator.filterNot(isNull(_)).map(words(_)).toArray
    java.util.Arrays.sort(sorted)
    ScaleBuilder.ofLongs(sorted, words.length - sorted.length)
  }

  override def ranks(scale: Scale): Array[Int] = {
    val numbers = scale.asInstanceOf[LongScale]
    Array.tabulate(words.length)(i => if (isNull(i)) 0 else numbers.rank(words(i)))
  }
}

final case class BytesSample(words: Array[Array[Byte]], isNull: Array[Boolean]) extends SampleColumn {
  override def take(rows: Array[Int]): SampleColumn = BytesSample(rows.map(words(_)), rows.map(isNull(_)))

  override def scale: Scale = {
    val sorted = words.indices.iterator.filterNot(isNull(_)).map(words(_)).toArray
    java.util.Arrays.sort(sorted, BytesSample.order)
    ScaleBuilder.ofBytes(sorted, words.length - sorted.length)
  }

  override def ranks(scale: Scale): Array[Int] = {
    val strings = scale.asInstanceOf[BytesScale]
    Array.tabulate(words.length)(i => if (isNull(i)) 0 else strings.rank(words(i)))
  }
}

object BytesSample {
  private val order: java.util.Comparator[Array[Byte]] = new java.util.Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = sparkzorder.curve.BytesWord.compareBytes(a, b)
  }
}

/** Sampled rows: the clustering columns as words. */
final case class Sample(columns: IndexedSeq[SampleColumn]) {
  def rows: Int = columns.head.isNull.length

  def take(indices: Array[Int]): Sample = Sample(columns.map(_.take(indices)))

  /** Every second row and the others: one half to fit on, one to forecast with. */
  def halves: (Sample, Sample) = {
    val (even, odd) = Array.range(0, rows).partition(_ % 2 == 0)
    (take(even), take(odd))
  }
}
