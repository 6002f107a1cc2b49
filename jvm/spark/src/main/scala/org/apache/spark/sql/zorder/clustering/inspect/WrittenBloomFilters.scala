package org.apache.spark.sql.zorder.clustering.inspect

import scala.util.Try

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.apache.spark.sql.types.{BooleanType, StructField, StructType}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import sparkzorder.curve.build.cut.TreeGrower

/**
 * Bloom filters of the written row groups: of the option `bloom`, and those that the input files have. A look-up of one
 * value then skips the row groups that do not hold it, wherever the layout put the rows. Parquet leaves the filter of a
 * row group out where a dictionary tells its values exactly.
 */
private[clustering] object WrittenBloomFilters {

  /** One look-up in a hundred reads a row group that has no match. */
  private val FalsePositives = 0.01

  /**
   * Most bytes of a Bloom filter. With Parquet's default, filters of large row groups would rule out nothing.
   */
  private val MostBytes = 32L << 20
  private val LeastBytes = 1L << 20

  /** Most bytes of all filters that a task holds at a time: files may have some of each of their columns. */
  private val MostInAll = 128L << 20

  /**
   * The columns as paths in the files.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence about the first that is not there, or has no type for a filter
   */
  def paths(
      session: ClassicSession,
      table: String,
      schema: StructType,
      columns: Seq[String]): Seq[Seq[String]] = columns.map { name =>
    val parts = Try(session.sessionState.sqlParser.parseMultipartIdentifier(name)).getOrElse(
      refuse("ZORDER_INVALID_OPTION.BLOOM_COLUMN", "column" -> name))
    path(table, schema, name, parts)
  }

  /** Of columns of the input files, those that are still there with a type for a filter. */
  def kept(table: String, schema: StructType, columns: Seq[Seq[String]]): Seq[Seq[String]] =
    columns.flatMap(parts => Try(path(table, schema, parts.mkString("."), parts)).toOption)

  private def path(table: String, schema: StructType, name: String, parts: Seq[String]): Seq[String] = {
    val alike = schema.filter(_.name.equalsIgnoreCase(parts.head))
    val field = alike.find(_.name == parts.head).orElse(alike.headOption).getOrElse(
      refuse(
        "ZORDER_COLUMN_NOT_FOUND.FOR_BLOOM_FILTER",
        "table" -> table,
        "column" -> name,
        "hint" -> NearestName.hint(parts.head, schema.fieldNames.toSeq)))
    field match {
      case StructField(own, inner: StructType, _, _) if parts.size > 1 =>
        own +: path(table, inner, name, parts.tail)
      case StructField(own, other, _, _)
          if parts.size == 1 && Normalization.of(other).isDefined && other != BooleanType && !own.contains(
            '.') =>
        Seq(own)
      case _ =>
        refuse("ZORDER_COLUMN_REFUSED.BLOOM_FILTER", "column" -> name, "table" -> table)
    }
  }

  /** The most rows that a file may have, if so many rows are cut into so many files. */
  def mostRows(rows: Long, files: Int): Long =
    math.min(rows, math.ceil(TreeGrower.Overfull * rows / files).toLong)

  /**
   * Options of Parquet's writer.
   *
   * @param values
   *   most values that a row group may have
   */
  def writeOptions(paths: Seq[Seq[String]], values: Long): Map[String, String] =
    if (paths.isEmpty) Map.empty
    else {
      val names = paths.map(_.mkString("."))
      val needed = BlockSplitBloomFilter.optimalNumOfBits(math.max(1L, values), FalsePositives) / 8L
      // a filter's size is a power of two
      val most = math.min(MostBytes, java.lang.Long.highestOneBit(MostInAll / paths.size))
      val bytes = math.max(LeastBytes, math.min(most, java.lang.Long.highestOneBit(needed) * 2))
      names.map(n => s"parquet.bloom.filter.enabled#$n" -> "true").toMap ++
        names.map(n => s"parquet.bloom.filter.expected.ndv#$n" -> math.max(1L, values).toString) +
        ("parquet.bloom.filter.max.bytes" -> bytes.toString)
    }
}
