package org.apache.spark.sql.zorder.skip.index

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.skip.bloom.{ColumnBlooms, IndexBlooms}

/**
 * The statistics of a table's files, by which a query that is being planned leaves files out.
 *
 * @param caseSensitive
 *   how the columns of the files were matched with those of the table
 * @param ranges
 *   of each column, read when a filter first asks for it; None where they cannot be read
 * @param blooms
 *   Bloom filters of the columns that were named for them
 */
final class StatisticsIndex(
    val files: IndexedFiles,
    val columns: IndexedSeq[IndexedColumn],
    val caseSensitive: Boolean,
    ranges: Int => Option[ColumnRanges],
    val blooms: IndexBlooms = IndexBlooms.None) {

  private lazy val bySql: Map[String, Int] = {
    // names that differ in their case only are one name to a session that does not tell them apart
    val named = columns.indices.filter(columns(_).expression.isEmpty).groupBy(c => folded(columns(c).sql))
    named.collect { case (name, IndexedSeq(only)) => name -> only }
  }

  private lazy val byMeaning: Map[String, Int] =
    columns.indices.flatMap(c => columns(c).expression.map(_.meaning -> c)).toMap

  /** Ranges of the column that a filter names; None where the index has none that speak of it. */
  def rangesOf(sql: String, dataType: DataType): Option[ColumnRanges] =
    numberOf(sql, dataType).flatMap(ranges)

  /** Bloom filters of the column that a filter names; None where the index has none that speak of it. */
  def bloomsOf(sql: String, dataType: DataType): Option[ColumnBlooms] =
    numberOf(sql, dataType).flatMap(blooms.columns.get)

  /** The number of a column of that name and type. */
  def numberOf(sql: String, dataType: DataType): Option[Int] =
    bySql.get(folded(sql)).filter(columns(_).dataType == dataType)

  /** The number of an expression that a filter has, if the session means by it what the index does. */
  def numberOf(e: Expression): Option[Int] =
    if (byMeaning.isEmpty) None else ExpressionMeaning.of(e, SQLConf.get).flatMap(byMeaning.get)

  /** Expressions that an older version of ours has written down: no filter is asked of them. */
  def outdated: Seq[IndexedColumn] =
    columns.filter(_.expression.exists(e => !ExpressionMeaning.isCurrent(e.meaning)))

  /** The same index with these Bloom filters. */
  def withBlooms(filters: IndexBlooms): StatisticsIndex =
    new StatisticsIndex(files, columns, caseSensitive, ranges, filters)

  /** Whether the column, or a field of it, counts as NULL in files that have not got it. */
  def takesAbsentForNull(column: String): Boolean =
    columns.exists { c =>
      (if (c.absentIsNull) c.path.headOption.toSeq else c.expression.toSeq.flatMap(_.columns))
        .exists(folded(_) == folded(column))
    }

  /** Ranges of the column number `column`. */
  def rangesAt(column: Int): Option[ColumnRanges] = ranges(column)

  /** The number of the column of that name, whatever its type. */
  def numberOf(sql: String): Option[Int] = bySql.get(folded(sql))

  /** The same with one range for each file and column. */
  def hulls: StatisticsIndex =
    new StatisticsIndex(files, columns, caseSensitive, ranges(_).map(_.hulls))

  private def folded(sql: String): String = if (caseSensitive) sql else sql.toLowerCase(Locale.ROOT)
}
