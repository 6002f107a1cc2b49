package org.apache.spark.sql.zorder.clustering.forecast

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.inspect.TrackedColumns
import org.apache.spark.sql.zorder.clustering.report.RunCost
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, RunStatistics}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, LeafNumbers}
import org.apache.spark.sql.zorder.table.file.InputRelation
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, Zone}
import sparkzorder.curve.layout.BytesScale

/** What a rewrite of some files will read, shuffle and keep on local disks, from their footers. */
private[clustering] object CostForecast {

  /** @param sampled footers of the files of which rows are sampled */
  def of(
      session: ClassicSession,
      source: InputRelation,
      footers: Seq[FileFooter],
      tracked: TrackedColumns,
      statistics: RunStatistics,
      options: RunOptions,
      sampled: Seq[FileFooter]): RunCost = {
    val files = footers.map(_.file.length).sum
    val tracking = (tracked.all.flatMap(_.path) ++ tracked.statColumns.map(_.path)).toSet
    val scans = if (options.verify == "checksum") 3 else 1
    val packed = session.sparkContext.getConf.getBoolean("spark.shuffle.compress", defaultValue = true)
    val row = rowBytes(footers, statistics, packed, _.bytes)
    val shuffle = math.round(footers.map(_.rows).sum * row.of(source.output.map(a => (a.name, a.dataType))))
    RunCost(scans * files + leafBytes(sampled, _.bytes, tracking), shuffle, 2 * shuffle)
  }

  /** Bytes that a sampled row has on its way to the driver, with the values of these columns. */
  def ofSampledRow(
      footers: Seq[FileFooter],
      columns: Seq[ClusterColumn],
      statistics: RunStatistics): Double = {
    // the driver holds values as they are, however well a file compresses them
    val row = rowBytes(footers, statistics, packed = false, _.rawBytes)
    columns.map(c => row.ofColumn(c.path.getOrElse(Nil), c.dataType)).sum
  }

  private def rowBytes(
      footers: Seq[FileFooter],
      statistics: RunStatistics,
      packed: Boolean,
      bytes: FileFooter => LeafNumbers): RowBytes = {
    val zones =
      statistics.columns.indices.map(c => statistics.columns(c).path -> footers.map(_.zone(c))).toMap
    val rows = math.max(1L, footers.map(_.rows).sum)
    new RowBytes(zones, leafBytes(footers, bytes, _).toDouble / rows, packed)
  }

  /** Bytes of the columns for which the test holds. */
  private def leafBytes(
      footers: Seq[FileFooter],
      bytes: FileFooter => LeafNumbers,
      wanted: Seq[String] => Boolean): Long = footers.map { f =>
    val (leaves, ofLeaf) = (f.schema.leaves, bytes(f))
    leaves.indices.filter(l => wanted(leaves(l).column)).map(ofLeaf(_)).sum
  }.sum
}

/**
 * Bytes of a row in a shuffle.
 *
 * @param zones
 *   per column, its zones in the files
 * @param stored
 *   bytes a row in the files, of the columns for which a test holds
 * @param packed
 *   whether shuffles are compressed
 */
final private class RowBytes(
    zones: Map[Seq[String], Seq[Zone]],
    stored: (Seq[String] => Boolean) => Double,
    packed: Boolean) {
  import RowBytes._

  def of(fields: Seq[(String, DataType)]): Double = row(fields, Nil)

  /** A column alone; at least what it takes in the files, as values that are too long for bounds do. */
  def ofColumn(path: Seq[String], dataType: DataType): Double =
    math.max(field(path, dataType), if (path.isEmpty) 0.0 else stored(_.startsWith(path)))

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
    case Zone.Between(NormalizedLong(min), NormalizedLong(max)) =>
      Some(math.ceil((64 - java.lang.Long.numberOfLeadingZeros(min ^ max)) / 8.0))
    case _ => None
  }

  private def textBytes(zone: Zone): Option[Double] = zone match {
    case Zone.Between(NormalizedBytes(min), NormalizedBytes(max)) =>
      val length = (min.length + max.length) / 2.0
      val alike = BytesScale.commonPrefix(min, max)
      Some(if (packed) length - math.max(0, alike - Reference) else length)
    case _ => None
  }
}

private object RowBytes {

  /** Bytes of a back reference of LZ4: a token and two bytes of distance. */
  private val Reference = 3.0

  /** A number and a text of which no bounds are known. */
  private val NumberBytes = 8.0
  private val TextBytes = 16.0

  /** How many times larger rows of arrays and maps are than Parquet's encoded and compressed columns. */
  private val Nested = 3.0
}
