package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import sparkzorder.curve.{BytesWord, LongWord, Zone}

/**
 * Bytes of a row in a shuffle.
 *
 * @param zones
 *   per column, its zones in the files
 * @param stored
 *   compressed bytes a row in the files, of the columns for which a test holds
 * @param packed
 *   whether shuffles are compressed
 */
final private[run] class RowBytes(
    zones: Map[Seq[String], Seq[Zone]],
    stored: (Seq[String] => Boolean) => Long,
    packed: Boolean) {
  import RowBytes._

  def of(fields: Seq[(String, DataType)]): Double = row(fields, Nil)

  /** NULL bits and length first, then the fields; a struct is such a row too. */
  private def row(fields: Seq[(String, DataType)], above: Seq[String]): Double = {
    val head = if (packed) Reference else 8.0 * ((fields.length + 63) / 64) + 4
    head + fields.map { case (name, dataType) => field(above :+ name, dataType) }.sum
  }

  private def field(path: Seq[String], dataType: DataType): Double = dataType match {
    case s: StructType => slot(1) + row(s.fields.map(f => (f.name, f.dataType)).toSeq, path)
    case t if UnsafeRow.isFixedLength(t) => slot(mean(path, NumberBytes)(numberBytes))
    case _: StringType | BinaryType | _: DecimalType =>
      val length = mean(path, TextBytes)(textBytes)
      if (packed) Reference + length else 8 + 8 * math.ceil(length / 8)
    case _ => slot(1) + Nested * stored(_.startsWith(path))
  }

  /** A field of eight bytes, of which `unlike` differ from those of other rows. */
  private def slot(unlike: Double): Double = if (packed) math.min(8.0, unlike + Reference) else 8.0

  private def mean(path: Seq[String], unknown: Double)(bytes: Zone => Option[Double]): Double = {
    val known = zones.getOrElse(path, Nil).flatMap(bytes(_))
    if (known.isEmpty) unknown else known.sum / known.length
  }

  private def numberBytes(zone: Zone): Option[Double] = zone match {
    case Zone.Between(LongWord(min), LongWord(max)) =>
      Some(math.ceil((64 - java.lang.Long.numberOfLeadingZeros(min ^ max)) / 8.0))
    case _ => None
  }

  private def textBytes(zone: Zone): Option[Double] = zone match {
    case Zone.Between(BytesWord(min), BytesWord(max)) =>
      val length = (min.length + max.length) / 2.0
      val alike = min.zip(max).takeWhile { case (a, b) => a == b }.length
      Some(if (packed) length - math.max(0, alike - Reference) else length)
    case _ => None
  }
}

private[run] object RowBytes {

  /** Bytes of a back reference of LZ4: a token and two bytes of distance. */
  private val Reference = 3.0

  /** A number and a text of which no bounds are known. */
  private val NumberBytes = 8.0
  private val TextBytes = 16.0

  /** How many times larger rows of arrays and maps are than Parquet's columns, which are encoded and compressed. */
  private val Nested = 3.0
}
