package org.apache.spark.sql.zorder.stats.schema

import java.util.Locale

import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.execution.datasources.parquet.SparkToParquetSchemaConverter
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType, TimestampType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.stats.{FileFooter, FileSchema, LeafColumn, SchemaReader}

/** What Spark's Parquet writer would make of the columns that it read. */
private[stats] object SparkWriterSchema {
  private val Micros = "TIMESTAMP_MICROS"
  private val Millis = "TIMESTAMP_MILLIS"
  private val Int96 = "INT96"

  /**
   * The timestamp type to write: that of the files, if it is to be kept and they agree.
   *
   * @param more
   *   whether rows get timestamps that their files do not have, such as a column's default: these may have microseconds
   */
  def timestamps(footers: Seq[FileFooter], timestampType: String, more: => Boolean): String =
    timestampType match {
      case "keep" =>
        footers.flatMap(_.schema.leaves).flatMap(timestampKind).distinct match {
          case Seq(Millis) if more => Micros
          case Seq(one) => one
          case _ => Micros
        }
      case _ => Micros
    }

  /** Columns that are micros in some of the files, in lower case. */
  def inMicros(footers: Seq[FileFooter]): Set[Seq[String]] =
    footers.flatMap(_.schema.leaves).filter(timestampKind(_).contains(Micros)).map(l =>
      folded(l.column)).toSet

  /** Whether some file lacks one of these columns as a whole, and there are timestamps in it. */
  def lacksTimestamps(footers: Seq[FileFooter], columns: Seq[StructField]): Boolean =
    columns.filter(c => timestampsIn(c.dataType) > 0).exists(c =>
      footers.exists(f => !f.schema.leaves.exists(_.column.head.equalsIgnoreCase(c.name))))

  /** Whether some file has fewer columns of timestamps than a table, whose files may have other names for them. */
  def hasFewerTimestamps(footers: Seq[FileFooter], columns: StructType): Boolean = {
    val all = timestampsIn(columns)
    footers.exists(_.schema.leaves.count(timestampKind(_).isDefined) < all)
  }

  private def timestampsIn(dataType: DataType): Int = dataType match {
    case TimestampType => 1
    case s: StructType => s.fields.map(f => timestampsIn(f.dataType)).sum
    case a: ArrayType => timestampsIn(a.elementType)
    case m: MapType => timestampsIn(m.keyType) + timestampsIn(m.valueType)
    case _ => 0
  }

  private def folded(column: Seq[String]): Seq[String] = column.map(_.toLowerCase(Locale.ROOT))

  private def timestampKind(leaf: LeafColumn): Option[String] = leaf.typeText match {
    case "INT96" => Some(Int96)
    case "INT64 TIMESTAMP(MICROS,true)" => Some(Micros)
    case "INT64 TIMESTAMP(MILLIS,true)" => Some(Millis)
    case _ => None
  }

  /**
   * The leaves that Spark writes for `schema`, by column, and refusals of columns that it cannot write, such as a
   * catalog's column of no type.
   */
  def leaves(schema: StructType, timestamps: String): (Map[Seq[String], LeafColumn], Seq[ZOrderException]) = {
    val conf = new SQLConf
    conf.setConfString(SQLConf.PARQUET_OUTPUT_TIMESTAMP_TYPE.key, timestamps)
    conf.setConfString(SQLConf.PARQUET_WRITE_LEGACY_FORMAT.key, "false")
    conf.setConfString(SQLConf.PARQUET_FIELD_ID_WRITE_ENABLED.key, "true")
    val converter = new SparkToParquetSchemaConverter(conf)
    val fields = schema.fields.toSeq.map { f =>
      val alone = StructType(Seq(f))
      f -> Try(SchemaReader.leaves(converter.convert(alone), SchemaReader.variants(alone)))
    }
    val leaves = fields.collect { case (_, Success(found)) => found }.flatten
    val refusals = fields.collect { case (f, Failure(_)) =>
      new ZOrderException(
        "ZORDER_COLUMN_REFUSED.NOT_WRITABLE",
        "column" -> f.name,
        "type" -> f.dataType.catalogString)
    }
    (leaves.map(l => l.column -> l).toMap, refusals)
  }

  /** The leaves of a file, each with the leaf that Spark would write for it, if any. */
  def pairs(
      schema: FileSchema,
      written: Map[Seq[String], LeafColumn]): Seq[(LeafColumn, Option[LeafColumn])] = {
    val byName = written.map { case (column, leaf) => folded(column) -> leaf }
    schema.leaves.map(l => l -> written.get(l.column).orElse(byName.get(folded(l.column))))
  }

  /**
   * Subjects and complaints about the leaves of a file that would not come back as they are.
   *
   * @param inMicros
   *   columns that are micros in other files: an earlier run has written them so, and INT96 that was appended since
   *   becomes what the table has
   */
  def changes(
      footer: FileFooter,
      written: Map[Seq[String], LeafColumn],
      keepTimestamps: Boolean,
      inMicros: Set[Seq[String]]): Seq[(String, String)] = {
    val types = pairs(footer.schema, written).flatMap { case (leaf, now) =>
      val unreadable = footer.schema.unreadable.exists(_.name == leaf.column.head)
      val complaint = now match {
        case Some(found) =>
          val joins = timestampKind(leaf).contains(Int96) && inMicros(folded(leaf.column))
          change(leaf, found, keepTimestamps && !joins)
        case None => if (unreadable) None else Some("has no counterpart in what Spark would write")
      }
      complaint.map(s"Column ${leaf.name}" -> _)
    }
    val ids = footer.schema.lostIds.map { c =>
      s"The field id of $c" -> "has no place in Spark's schema and would go"
    }
    types ++ ids
  }

  /** Top-level columns that other files or the catalog have given another type than the file would have. */
  def widened(schema: FileSchema, written: Map[Seq[String], LeafColumn], timestamps: String): Set[String] = {
    val alone = pairs(schema, leaves(schema.spark, timestamps)._1).toMap
    pairs(schema, written).collect {
      case (leaf, Some(now)) if alone(leaf).exists(_.typeText != now.typeText) => leaf.column.head
    }.toSet
  }

  private def change(leaf: LeafColumn, now: LeafColumn, keepTimestamps: Boolean): Option[String] = {
    val bothTimestamps = timestampKind(leaf).isDefined && timestampKind(now).isDefined
    val bothDecimals = leaf.logical.startsWith("DECIMAL(") && leaf.logical == now.logical
    if (leaf.legacyShape)
      Some("is, or lies in, a list of an old shape; Spark would write it in three levels (list, element)")
    else if (leaf.typeText == now.typeText || bothDecimals || (bothTimestamps && !keepTimestamps)) None
    else Some(s"is ${leaf.typeText}, which Spark would write back as ${now.typeText}")
  }
}
