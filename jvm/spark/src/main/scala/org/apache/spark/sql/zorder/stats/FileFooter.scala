package org.apache.spark.sql.zorder.stats

import scala.util.Try

import org.apache.parquet.VersionParser
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, NormalizedValue, Zone}

/**
 * The type of one leaf column of a Parquet file.
 *
 * @param path
 *   as the file has it, e.g. `a.list.element`
 * @param column
 *   as Spark sees it, whatever shape the file gives its lists and maps: `a.element`, `m.key`, `s.f`
 * @param physical
 *   e.g. `INT64` or `FIXED_LEN_BYTE_ARRAY(16)`
 * @param logical
 *   the annotation, e.g. `DECIMAL(5,2)`; empty where it says nothing beyond the physical type
 * @param legacyShape
 *   the file writes a list or map around it in another than the three-level shape
 */
final case class LeafColumn(
    path: Seq[String],
    column: Seq[String],
    physical: String,
    logical: String,
    fieldId: Option[Int],
    maxDefinition: Int,
    maxRepetition: Int,
    legacyShape: Boolean) {
  def typeText: String = if (logical.isEmpty) physical else s"$physical $logical"

  /** A decimal is the same in whatever physical type it is stored. */
  def sameType: String = if (logical.startsWith("DECIMAL(")) logical else typeText

  def name: String = column.mkString(".")

  /** Whether it is this column, which another may have been called once. */
  def isOf(wanted: StatColumn): Boolean = wanted.stored match {
    case StoredAs.Named(names) => column == names
    case StoredAs.Numbered(id) => fieldId.contains(id)
  }
}

/**
 * A column that this Spark has no type for.
 *
 * @param instead
 *   as what its writer should store it
 */
final case class UnreadableColumn(name: String, why: String, instead: String)

/**
 * What a file says about its columns; one instance is shared by the files of a task that agree.
 *
 * @param spark
 *   the columns that Spark can read, names in the file's case, field ids in the metadata, all nullable
 * @param unreadable
 *   top-level columns that this Spark has no type for
 * @param lostIds
 *   columns whose field ids Spark's schema has no place for
 */
final case class FileSchema(
    leaves: IndexedSeq[LeafColumn],
    spark: StructType,
    unreadable: Seq[UnreadableColumn],
    lostIds: Seq[String]) {

  /** This schema with the leaves at these paths marked as columns without a type. */
  def withoutType(untyped: Set[Seq[String]]): FileSchema =
    if (untyped.isEmpty) this
    else copy(leaves = leaves.map(l => if (untyped(l.path)) l.copy(logical = "UNKNOWN") else l))

  /**
   * Whether the file has the column, or a struct around it, in spellings that differ in case alone: a session that does
   * not look at case cannot read it.
   */
  def isSpelledTwice(column: StatColumn): Boolean = column.stored match {
    case StoredAs.Named(path) =>
      (1 to path.length).exists { depth =>
        val wanted = path.take(depth)
        leaves.map(_.column.take(depth)).filter(_.corresponds(wanted)(_.equalsIgnoreCase(_))).toSet.size > 1
      }
    case StoredAs.Numbered(_) => false
  }

  /** Whether Parquet's library could not make sense of the footer. */
  def opaque: Boolean = leaves.isEmpty && unreadable.nonEmpty
}

/**
 * @param dictionaryBytes
 *   of `compressedBytes`, those of dictionaries
 * @param rawBytes
 *   about as many as the values take without encoding and compression
 * @param zones
 *   one per requested column
 * @param nullFree
 *   requested columns that hold no NULL, by their number
 */
final case class RowGroup(
    rows: Long,
    compressedBytes: Long,
    dictionaryBytes: Long,
    rawBytes: Long,
    zones: IndexedSeq[Zone],
    nullFree: Set[Int])

/** A number for each leaf, in eight bytes: there may be thousands of leaves in each of many thousands of files. */
final class LeafNumbers private (private val numbers: Array[Long]) extends Serializable {
  def apply(leaf: Int): Long = numbers(leaf)

  override def equals(other: Any): Boolean = other match {
    case that: LeafNumbers => java.util.Arrays.equals(numbers, that.numbers)
    case _ => false
  }

  override def hashCode(): Int = java.util.Arrays.hashCode(numbers)

  override def toString: String = numbers.mkString("[", ", ", "]")
}

object LeafNumbers {
  val Empty: LeafNumbers = LeafNumbers(Nil)

  def apply(numbers: Seq[Long]): LeafNumbers = new LeafNumbers(numbers.toArray)
}

/**
 * One file's footer, as small as a driver can hold many thousands of.
 *
 * @param keyValues
 *   without Spark's own description of the row, which `schema` has
 * @param nulls
 *   NULLs per leaf, -1 where a row group does not say; values that are absent inside lists count too
 * @param values
 *   values per leaf, NULLs included: the rows, unless the leaf is repeated
 * @param bytes
 *   compressed bytes per leaf
 * @param rawBytes
 *   about as many bytes per leaf as its values take without encoding and compression
 * @param codecBytes
 *   compressed bytes per codec, codec names as Parquet has them
 * @param encrypted
 *   nothing else is known of such a file
 * @param packed
 *   top-level columns with a codec or an encoding that some Sparks cannot unpack, and its name
 * @param filtered
 *   columns with a Bloom filter in a row group, as Spark sees them
 */
final case class FileFooter(
    file: DataFile,
    rows: Long,
    createdBy: String,
    keyValues: Map[String, String],
    schema: FileSchema,
    nulls: LeafNumbers,
    values: LeafNumbers,
    bytes: LeafNumbers,
    rawBytes: LeafNumbers,
    codecBytes: Map[String, Long],
    rowGroups: IndexedSeq[RowGroup],
    encrypted: Boolean,
    packed: Set[(String, String)] = Set.empty,
    filtered: Set[Seq[String]] = Set.empty) {

  /** Whether nothing is known of the columns: for lack of a key, or of a library that knows their types. */
  def opaque: Boolean = encrypted || schema.opaque

  def origin: FileOrigin = FileOrigin(createdBy, keyValues)

  /** Whether Spark itself wrote the file. */
  def bySpark: Boolean = origin.bySpark

  /** The zone of the whole file for the requested column number `column`. */
  def zone(column: Int): Zone =
    if (opaque) Zone.Unknown else ZoneAlgebra.union(rowGroups.map(_.zones(column)))

  /**
   * The file as the cost model sees it.
   *
   * @param wanted
   *   the columns of the block, as numbers of requested columns; None for a column of which nothing is known
   */
  def block(wanted: IndexedSeq[Option[Int]]): Block =
    blockOf(rows, wanted, zone, c => !opaque && rowGroups.forall(_.nullFree(c)))

  /** The row groups as the cost model sees them; the whole file where it is opaque: nobody knows its row groups. */
  def rowGroupBlocks(wanted: IndexedSeq[Option[Int]]): Seq[Block] =
    if (opaque) Seq(block(wanted)) else rowGroups.map(g => blockOf(g.rows, wanted, g.zones(_), g.nullFree))

  private def blockOf(
      rows: Long,
      wanted: IndexedSeq[Option[Int]],
      zone: Int => Zone,
      nullFree: Int => Boolean): Block = Block(
    rows,
    wanted.map(_.fold[Zone](Zone.Unknown)(zone)),
    wanted.indices.filter(wanted(_).exists(nullFree)).toSet)
}

/**
 * All that a file says of the values of some columns.
 *
 * @param values
 *   for each column its values, ascending and perhaps with some that no row has; None where there may be others
 */
final case class FileStatistics(
    footer: FileFooter,
    pages: FilePages,
    values: IndexedSeq[Option[IndexedSeq[NormalizedValue]]])

/** Who wrote a file, as far as it bears on what its bounds mean. */
final case class FileOrigin(createdBy: String, keyValues: Map[String, String]) {
  import FileOrigin._

  /**
   * Whether dates and times before the calendar changes are surely stored as Spark 3 reads them. Spark 2,
   * legacy mode and unknown writers may mean the Julian calendar: then reading shifts the values.
   */
  lazy val prolepticCalendar: Boolean =
    keyValues.get(SparkVersion).exists(v => Try(v.takeWhile(_ != '.').toInt).toOption.exists(_ >= 3)) &&
      !keyValues.contains(LegacyDateTime)

  /** Whether Spark itself wrote the file: other writers copy its notes along, but not its library's name. */
  def bySpark: Boolean = keyValues.contains(SparkVersion) && createdBy.startsWith("parquet-mr")

  /**
   * Whether a NaN among the values would show. From 1.10 on, parquet-mr takes back bounds that NaN spoils; from 1.18 on,
   * it counts NaN apart and leaves them out of the bounds.
   */
  lazy val boundsShowNaN: Boolean = Try {
    val parsed = VersionParser.parse(createdBy)
    parsed.application == "parquet-mr" && parsed.hasSemanticVersion && {
      val version = parsed.getSemanticVersion
      version.major == 1 && version.minor >= FirstShowingNaN && version.minor < FirstCountingNaN
    }
  }.getOrElse(false)
}

object FileOrigin {
  private val SparkVersion = "org.apache.spark.version"
  private val LegacyDateTime = "org.apache.spark.legacyDateTime"
  private val FirstShowingNaN = 10
  private val FirstCountingNaN = 18
}
