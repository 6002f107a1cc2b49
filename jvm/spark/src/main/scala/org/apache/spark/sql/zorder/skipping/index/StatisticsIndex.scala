package org.apache.spark.sql.zorder.skipping.index

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.table.file.PathText

/**
 * The statistics of a table's files, by which a query that is being planned leaves files out.
 *
 * @param caseSensitive
 *   how the columns of the files were matched with those of the table
 * @param rangesAt
 *   of each column by its number, read when a filter first asks for it; None where they cannot be read
 * @param blooms
 *   Bloom filters of the columns that were named for them
 * @param identities
 *   of a table of a format: what files had under the names of the top-level columns when the index was made;
 *   see [[org.apache.spark.sql.zorder.table.FormatIndexing]]
 * @param byOlderRules
 *   whether the file that it was read from has entries that are not believed any more: here it has none
 */
final class StatisticsIndex(
    val files: IndexedFiles,
    val columns: IndexedSeq[IndexedColumn],
    val caseSensitive: Boolean,
    val rangesAt: Int => Option[ColumnRanges],
    val blooms: IndexBlooms = IndexBlooms.None,
    val identities: Map[String, String] = Map.empty,
    val byOlderRules: Boolean = false) {

  private lazy val bySql: Map[String, Int] = {
    // names that differ in their case only are one name to a session that does not tell them apart
    val named = columns.indices.filter(columns(_).expression.isEmpty).groupBy(c => folded(columns(c).sql))
    named.collect { case (name, IndexedSeq(only)) => name -> only }
  }

  private lazy val byMeaning: Map[String, Int] =
    columns.indices.flatMap(c => columns(c).expression.map(_.meaning -> c)).toMap

  private lazy val typesOfMeanings: Set[DataType] = byMeaning.values.map(columns(_).dataType).toSet

  /** Ranges of the column that a filter names; None if the index has none for it. */
  def rangesOf(sql: String, dataType: DataType): Option[ColumnRanges] =
    numberOf(sql, dataType).flatMap(rangesAt)

  /** Bloom filters of the column that a filter names; None if the index has none for it. */
  def bloomsOf(sql: String, dataType: DataType): Option[ColumnBlooms] =
    numberOf(sql, dataType).flatMap(blooms.columns.get)

  /** The number of a column of that name and type; None for texts whose order is not that of their bytes. */
  def numberOf(sql: String, dataType: DataType): Option[Int] =
    bySql.get(folded(sql)).filter(columns(_).dataType == dataType && !TypeText.hasCollation(dataType))

  /** The number of an expression that a filter has, if the session means by it what the index does. */
  def numberOf(e: Expression): Option[Int] =
    // a filter is asked with all of its parts, most of which have the type of no expression here
    if (byMeaning.isEmpty || !typesOfMeanings(e.dataType)) None
    else ExpressionMeaning.of(e, SQLConf.get).flatMap(byMeaning.get)

  /** What an older version of ours has written down: no filter is asked of it. */
  def outdated: Seq[IndexedColumn] =
    columns.filter(_.expression.exists(e => !ExpressionMeaning.isCurrent(e.meaning)))

  /** This index with these Bloom filters. */
  def withBlooms(filters: IndexBlooms): StatisticsIndex =
    new StatisticsIndex(files, columns, caseSensitive, rangesAt, filters, identities)

  /** This index with what files have under the names of its columns. */
  def withIdentities(known: Map[String, String]): StatisticsIndex =
    new StatisticsIndex(files, columns, caseSensitive, rangesAt, blooms, known)

  /** The top-level columns that it tells of, those of expressions included. */
  def topLevel: Set[String] =
    columns.flatMap(c => c.path.headOption.toSeq ++ c.expression.toSeq.flatMap(_.columns)).toSet

  /** Whether the column, or a field of it, counts as NULL in files that have not got it. */
  def takesAbsentForNull(column: String): Boolean =
    columns.exists { c =>
      (if (c.absentIsNull) c.path.headOption.toSeq else c.expression.toSeq.flatMap(_.columns))
        .exists(folded(_) == folded(column))
    }

  /** The number of the column of that name, whatever its type. */
  def numberOf(sql: String): Option[Int] = bySql.get(folded(sql))

  /** The numbers of the columns and fields that the expressions are computed from. */
  def numbersIn(expressions: Seq[Expression]): Seq[Int] =
    expressions.flatMap(ColumnPath.within).distinct.flatMap(p => numberOf(ColumnPath.sql(p)))

  /** This index with one range for each file and column. */
  def hulls: StatisticsIndex =
    new StatisticsIndex(files, columns, caseSensitive, rangesAt(_).map(_.hulls), identities = identities)

  private def folded(sql: String): String = if (caseSensitive) sql else sql.toLowerCase(Locale.ROOT)
}

/**
 * A column, or an expression in place of one, that an index holds ranges of.
 *
 * @param sql
 *   how a filter names it: the column's name, or the names down to a struct's field; an expression as the
 *   statement has it
 * @param path
 *   empty for an expression
 * @param dataType
 *   the type that the table gave it when the index was made; a filter on another type is not answered
 * @param absentIsNull
 *   whether files that have not got the column count as files of NULLs: not so for a column that had a
 *   default
 * @param values
 *   whether the dictionaries of files are read, for their values in place of ranges where they have few
 */
final case class IndexedColumn(
    sql: String,
    path: Seq[String],
    dataType: DataType,
    absentIsNull: Boolean,
    values: Boolean = false,
    expression: Option[IndexedExpression] = None)

/**
 * An expression whose values are computed from the rows of a file.
 *
 * @param meaning
 *   see [[ExpressionMeaning]]
 * @param columns
 *   the table's columns that it is computed from, without the fields below them
 */
final case class IndexedExpression(meaning: String, columns: Seq[String])

/**
 * The files that an index has entries of, by number.
 *
 * @param paths
 *   below the table's root, or in full for a file that lies elsewhere
 * @param modified
 *   modification times in milliseconds, as the listing had them that the footers were read by
 * @param readAt
 *   when the footer was read, by the store's own clock, or earlier; `Long.MaxValue` for a file of one of our
 *   runs, whose name nobody uses again
 */
final class IndexedFiles(
    val paths: Array[String],
    val lengths: Array[Long],
    val modified: Array[Long],
    val rows: Array[Long],
    val readAt: Array[Long]) {

  /** Rows of the file with most of them; asked once for all queries. */
  lazy val mostRows: Long = rows.foldLeft(0L)(math.max)

  /** Bytes of the largest file. */
  lazy val mostBytes: Long = lengths.foldLeft(0L)(math.max)

  def count: Int = paths.length

  /** About what the list takes in memory. */
  def bytes: Long = IndexedFiles.bytes(count.toLong, paths.map(_.length.toLong).sum)

  private lazy val numbers: java.util.HashMap[String, Integer] = {
    val map = new java.util.HashMap[String, Integer](2 * count)
    paths.indices.foreach(i => map.put(paths(i), i))
    map
  }

  /**
   * The number of a file's entry, if the entry is of that very file: same path, length and modification time,
   * and not so fresh when it was read that it may have been written again within the granularity of its time.
   */
  def find(path: String, length: Long, modifiedAt: Long): Either[NoEntry, Int] = {
    val number = numbers.get(path)
    if (number == null) Left(NoEntry.New)
    else if (lengths(number) != length || modified(number) != modifiedAt) Left(NoEntry.Changed)
    else if (readAt(number) - IndexedFiles.RacyMs < modifiedAt) Left(NoEntry.Racy)
    else Right(number)
  }
}

/** Why an index says nothing of a file. */
sealed trait NoEntry

object NoEntry {

  /** The index has no entry of the file. */
  case object New extends NoEntry

  /** The entry is of an earlier file of that name. */
  case object Changed extends NoEntry

  /**
   * The file was too fresh when its footer was read: it may have been replaced since by another of that
   * length.
   */
  case object Racy extends NoEntry
}

object IndexedFiles {

  /** Files by path, length, modification time and rows, whose entries hold for ever. */
  def of(files: Seq[(String, Long, Long, Long)]): IndexedFiles = new IndexedFiles(
    files.map(_._1).toArray,
    files.map(_._2).toArray,
    files.map(_._3).toArray,
    files.map(_._4).toArray,
    Array.fill(files.length)(Long.MaxValue))

  /** About what a list of so many files takes in memory, whose names are as Spark and the formats make them. */
  def bytes(files: Long): Long = bytes(files, NameLength * files)

  private def bytes(files: Long, ofPaths: Long): Long =
    IndexSizes.ofFiles(files, ofPaths +: Seq.fill(4)(8L * files))

  /** `part-00000-<uuid>-c000.snappy.parquet` */
  private val NameLength = 67L

  /** Stores keep times to the second, or two. */
  val RacyMs = 2000L
}

/**
 * How an index names the files of a table: by the path below the root, or in full where a file lies
 * elsewhere.
 */
final class FileKeys(root: Path) {
  private val store = (root.toUri.getScheme, root.toUri.getAuthority)
  private val base = PathText.of(root) + "/"

  def of(path: Path): String = {
    val uri = path.toUri
    val below = (uri.getScheme, uri.getAuthority) == store && uri.getPath.startsWith(base)
    if (below) uri.getPath.substring(base.length) else path.toString
  }
}
