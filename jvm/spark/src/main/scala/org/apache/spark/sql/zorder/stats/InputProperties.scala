package org.apache.spark.sql.zorder.stats

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.Decimal
import org.apache.spark.sql.zorder.errors.ZOrderException

/**
 * Properties of the input files that a rewrite should keep.
 *
 * @param codec
 *   the codec of most compressed bytes, as `spark.sql.parquet.compression.codec` spells it; None without
 *   bytes or where this Spark has no such codec
 * @param rowGroupBytes
 *   the usual compressed size of a full row group; None while no file has two
 * @param keyValues
 *   footer entries that all files have in common, less those of the writers themselves
 * @param int96
 *   columns with INT96 timestamps, which have no statistics
 * @param blooms
 *   columns with Bloom filters in most files that have rows
 * @param shortBinaryDecimals
 *   whether decimals that fit a long are stored as byte strings
 * @param refusals
 *   one about encrypted files, if there are any
 */
final case class InputProperties(
    codec: Option[String],
    rowGroupBytes: Option[Long],
    keyValues: Map[String, String],
    int96: Seq[LeafColumn],
    blooms: Seq[Seq[String]],
    shortBinaryDecimals: Boolean,
    refusals: Seq[ZOrderException])

object InputProperties {
  private val WritersOwn = Set(
    "writer.model.name",
    "writer.date",
    "writer.time.zone",
    "pandas",
    "ARROW:schema",
    "avro.schema",
    "parquet.avro.schema",
    "parquet.proto.class",
    "parquet.proto.descriptor",
    "thrift.class",
    "thrift.descriptor",
    "iceberg.schema",
    "delta.schema")

  /** Hudi's are filters and bounds of its record keys. */
  private val WritersPrefixes = Seq("org.apache.spark.", "org.apache.hudi.", "hoodie_")

  private val Decimals = "^DECIMAL\\((\\d+),".r

  def of(footers: Seq[FileFooter]): InputProperties = {
    val codecBytes = footers.flatMap(_.codecBytes).groupBy(_._1).toSeq
      .map { case (name, all) => (-all.map(_._2).sum, name) }
    val codec = codecBytes.sorted.headOption.flatMap { case (_, name) => sparkName(name) }
    // the last row group of a file is what was left over
    val full = footers.flatMap(_.rowGroups.dropRight(1)).map(_.compressedBytes).sorted
    val common = footers.map(_.keyValues.toSet).reduceOption(_ intersect _).getOrElse(Set.empty)
    val extra = common.filterNot { case (k, _) => WritersOwn(k) || WritersPrefixes.exists(k.startsWith) }
    val leaves = footers.map(_.schema).distinct.flatMap(_.leaves)
    val int96 = leaves.filter(_.physical == "INT96").distinct
    val filled = footers.filter(_.rows > 0)
    val blooms = filled.flatMap(_.filtered).groupBy(identity).toSeq
      .collect { case (column, found) if 2 * found.length > filled.length => column }
    val usual = if (full.isEmpty) None else Some(full(full.size / 2))
    InputProperties(
      codec,
      usual,
      extra.toMap,
      int96,
      blooms.sortBy(_.mkString(".")),
      leaves.exists(isShortBinaryDecimal),
      refusals(footers.filter(_.encrypted)))
  }

  private def isShortBinaryDecimal(leaf: LeafColumn): Boolean =
    leaf.physical == "BINARY" && Decimals.findFirstMatchIn(leaf.logical).exists(
      _.group(1).toInt <= Decimal.MAX_LONG_DIGITS)

  private def refusals(encrypted: Seq[FileFooter]): Seq[ZOrderException] =
    encrypted.headOption.toSeq.map { first =>
      val more = if (encrypted.size > 1) s" and so are ${encrypted.size - 1} more" else ""
      new ZOrderException("ZORDER_FILE_UNREADABLE.ENCRYPTED", "file" -> first.file.path, "more" -> more)
    }

  /** LZ4_RAW changed its spelling between Spark 3.5 and 4. */
  private def sparkName(parquetName: String): Option[String] = {
    val name = parquetName.toLowerCase(Locale.ROOT)
    Seq(name, name.replace("_", "")).find { spelling =>
      Try((new SQLConf).setConfString(SQLConf.PARQUET_COMPRESSION.key, spelling)).isSuccess
    }
  }
}
