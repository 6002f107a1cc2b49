package org.apache.spark.sql.zorder.clustering.fit

import sparkzorder.curve.{Evenly, NormalizedBytes, NormalizedLong, NormalizedValue, Zone}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.SortedValues
import sparkzorder.curve.layout.{BytesScale, LongScale, Scale, ScaleBuilder}

/** The sampled normalized values of one column; row i is NULL where `isNull(i)`. */
sealed trait SampleColumn extends Serializable {
  def isNull: Array[Boolean]

  def take(rows: Array[Int]): SampleColumn

  /** A scale fitted on all rows, for a layout that cuts the column into so many files. */
  def scale(files: Int): Scale

  /** The rank of every row. */
  def ranks(scale: Scale): Array[Int]

  /** The non-NULL values, ascending. */
  def sorted: SortedValues

  /** The narrowest zone that holds the given rows. */
  def zone(rows: Array[Int], from: Int, until: Int): Zone

  /** Whether Parquet keeps bounds of a row group in this zone: not if one of its values is NaN, the greatest. */
  def keepsBounds(zone: Zone): Boolean

  protected def valueAt(row: Int): NormalizedValue

  /** The order of two rows that are not NULL. */
  protected def compareValues(a: Int, b: Int): Int

  /** The order of two rows by their values, NULL first. */
  final def compare(a: Int, b: Int): Int =
    if (isNull(a) || isNull(b)) java.lang.Boolean.compare(isNull(b), isNull(a)) else compareValues(a, b)

  /** Whether one of the given rows is NULL. */
  final def holdsNull(rows: Array[Int], from: Int, until: Int): Boolean = {
    var i = from
    while (i < until && !isNull(rows(i))) i += 1
    i < until
  }

  /** Per given row, the share of all rows that hold its value; NULL counts as a value. */
  final def mass(rows: Array[Int]): Array[Double] = {
    val all = isNull.length
    val nullShare = (all - sorted.size).toDouble / math.max(1, all)
    rows.map(i => if (isNull(i)) nullShare else sorted.countBetween(valueAt(i), valueAt(i)).toDouble / all)
  }
}

object SampleColumn {

  /** Columns of one kind, end to end. */
  def concat(parts: Seq[SampleColumn]): SampleColumn = {
    val isNull = Array.concat(parts.map(_.isNull): _*)
    parts.head match {
      case first: LongSample =>
        LongSample(Array.concat(parts.collect { case p: LongSample => p.normalized }: _*), isNull, first.nan)
      case _: BytesSample =>
        BytesSample(Array.concat(parts.collect { case p: BytesSample => p.normalized }: _*), isNull)
    }
  }
}

/**
 * A column of numbers.
 *
 * @param nan
 *   the normalized NaN of a floating-point type
 */
final case class LongSample(normalized: Array[Long], isNull: Array[Boolean], nan: Option[Long] = None)
    extends SampleColumn {
  override def keepsBounds(zone: Zone): Boolean = zone match {
    case Zone.Between(_, NormalizedLong(max)) => !nan.contains(max)
    case _ => true
  }

  override protected def valueAt(row: Int): NormalizedValue = NormalizedLong(normalized(row))

  override protected def compareValues(a: Int, b: Int): Int =
    java.lang.Long.compare(normalized(a), normalized(b))

  override def take(rows: Array[Int]): SampleColumn =
    LongSample(rows.map(normalized(_)), rows.map(isNull(_)), nan)

  private lazy val values: Array[Long] = {
    val nonNull = new Array[Long](isNull.length)
    var n = 0
    var i = 0
    while (i < nonNull.length) {
      if (!isNull(i)) {
        nonNull(n) = normalized(i)
        n += 1
      }
      i += 1
    }
    java.util.Arrays.sort(nonNull, 0, n)
    java.util.Arrays.copyOf(nonNull, n)
  }

  override lazy val sorted: SortedValues = SortedValues.ofLongs(values)

  override def scale(files: Int): Scale = ScaleBuilder.ofLongs(values, normalized.length - values.length)

  override def zone(rows: Array[Int], from: Int, until: Int): Zone = {
    var min = Long.MaxValue
    var max = Long.MinValue
    var i = from
    while (i < until) {
      if (!isNull(rows(i))) {
        min = math.min(min, normalized(rows(i)))
        max = math.max(max, normalized(rows(i)))
      }
      i += 1
    }
    if (min > max) Zone.OnlyNulls else Zone.Between(NormalizedLong(min), NormalizedLong(max))
  }

  override def ranks(scale: Scale): Array[Int] = {
    val numbers = scale.asInstanceOf[LongScale]
    Array.tabulate(normalized.length)(i => if (isNull(i)) 0 else numbers.rank(normalized(i)))
  }
}

final case class BytesSample(normalized: Array[Array[Byte]], isNull: Array[Boolean]) extends SampleColumn {
  override def keepsBounds(zone: Zone): Boolean = true

  override protected def valueAt(row: Int): NormalizedValue = NormalizedBytes(normalized(row))

  override protected def compareValues(a: Int, b: Int): Int =
    NormalizedBytes.compareBytes(normalized(a), normalized(b))

  override def take(rows: Array[Int]): SampleColumn =
    BytesSample(rows.map(normalized(_)), rows.map(isNull(_)))

  private lazy val values: Array[Array[Byte]] = {
    val nonNull = normalized.indices.iterator.filterNot(isNull(_)).map(normalized(_)).toArray
    java.util.Arrays.sort(nonNull, NormalizedBytes.order)
    nonNull
  }

  override lazy val sorted: SortedValues = SortedValues.ofBytes(values)

  override def scale(files: Int): Scale =
    ScaleBuilder.ofBytes(values, normalized.length - values.length, files)

  override def zone(rows: Array[Int], from: Int, until: Int): Zone = {
    var min: Array[Byte] = null
    var max: Array[Byte] = null
    var i = from
    while (i < until) {
      if (!isNull(rows(i))) {
        val bytes = normalized(rows(i))
        if (min == null || NormalizedBytes.compareBytes(bytes, min) < 0) min = bytes
        if (max == null || NormalizedBytes.compareBytes(bytes, max) > 0) max = bytes
      }
      i += 1
    }
    if (min == null) Zone.OnlyNulls else Zone.Between(NormalizedBytes(min), NormalizedBytes(max))
  }

  override def ranks(scale: Scale): Array[Int] = {
    val strings = scale.asInstanceOf[BytesScale]
    Array.tabulate(normalized.length)(i => if (isNull(i)) 0 else strings.rank(normalized(i)))
  }
}

/** Sampled rows: the clustering columns as normalized values. */
final case class Sample(columns: IndexedSeq[SampleColumn]) {
  def rows: Int = columns.head.isNull.length

  def take(indices: Array[Int]): Sample = Sample(columns.map(_.take(indices)))

  /** A scale for each column, fitted on all rows. */
  def scales: IndexedSeq[Scale] = scalesOf(1)

  /** A scale for each column, for a layout of so many files, fitted on all rows. */
  def scalesOf(files: Int): IndexedSeq[Scale] = columns.map(_.scale(files / columns.length))

  /** The rows as ranks on such scales, which may have been fitted on other rows. */
  def ranked(scales: IndexedSeq[Scale]): RankedSample =
    new RankedSample(scales, columns.zip(scales).map { case (c, s) => c.ranks(s) }.toArray)

  /** This sample with the given columns only, in this order. */
  def select(places: Seq[Int]): Sample = Sample(places.map(columns(_)).toIndexedSeq)

  /** About `n` of the rows, evenly spaced. */
  def thinned(n: Int): Sample = if (n >= rows) this else take(Evenly.places(n, rows))

  /** Every second row and the others: one half to fit on, one to forecast with. */
  def halves: (Sample, Sample) = {
    val (even, odd) = Array.range(0, rows).partition(_ % 2 == 0)
    (take(even), take(odd))
  }
}

object Sample {
  def concat(parts: IndexedSeq[Sample]): Sample =
    Sample(parts.head.columns.indices.map(c => SampleColumn.concat(parts.map(_.columns(c)))))
}

/** Spearman's rank correlation, ties at their middle rank. */
object RankCorrelation {
  private val Rows = 10000

  /**
   * The correlation, -1 to 1, over the rows in which both columns have a value; 0 if one has a single value.
   */
  def of(sample: Sample, a: Int, b: Int): Double = {
    val few = sample.select(Seq(a, b)).thinned(Rows)
    val rows = (0 until few.rows).filter(i => few.columns.forall(!_.isNull(i))).toArray
    val ranks = few.columns.zip(few.scales).map { case (c, scale) => c.ranks(scale) }.map(all =>
      rows.map(all(_).toDouble))
    pearson(ranks(0), ranks(1))
  }

  private def pearson(x: Array[Double], y: Array[Double]): Double = {
    val n = x.length
    val (mx, my) = (x.sum / n, y.sum / n)
    var (xy, xx, yy) = (0.0, 0.0, 0.0)
    var i = 0
    while (i < n) {
      xy += (x(i) - mx) * (y(i) - my)
      xx += (x(i) - mx) * (x(i) - mx)
      yy += (y(i) - my) * (y(i) - my)
      i += 1
    }
    if (xx == 0.0 || yy == 0.0) 0.0 else xy / math.sqrt(xx * yy)
  }
}
