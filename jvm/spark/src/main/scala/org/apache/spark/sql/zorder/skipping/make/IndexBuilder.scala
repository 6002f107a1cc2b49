package org.apache.spark.sql.zorder.skipping.make

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, count, expr, lit, max, min, octet_length, when}
import org.apache.spark.sql.types.{BinaryType, StringType, StructField}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index._
import org.apache.spark.sql.zorder.stats.{FileStatistics, Footers, StatColumn}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import sparkzorder.curve.{NormalizedValue, Zone}

/** One file's entry; columns in the order of the index. */
final private case class IndexEntry(
    path: String,
    length: Long,
    modified: Long,
    rows: Long,
    readAt: Long,
    columns: IndexedSeq[FileColumn])

/**
 * Makes an index from the footers and page indexes of a table's files: one parallel job, no data is read but
 * the dictionaries of columns whose values are wanted, and the columns of expressions.
 *
 * @param fromFooters
 *   columns that the index shall have
 * @param computed
 *   expressions that it shall have
 */
final private[make] class IndexBuilder(
    session: ClassicSession,
    root: Path,
    fromFooters: IndexedSeq[(IndexedColumn, StatColumn)],
    computed: ExpressionRanges) {
  private val keys = new FileKeys(root)
  private val columns = fromFooters.map(_._1) ++ computed.columns
  private val stats = fromFooters.map(_._2) ++ computed.dated.flatten
  private val listed = fromFooters.indices.filter(fromFooters(_)._1.values).toSet

  /** The places in `stats` of what each expression is made of. */
  private val dated: IndexedSeq[Range] =
    computed.dated.scanLeft(fromFooters.length)(_ + _.length).zip(computed.dated)
      .map { case (start, of) => start until start + of.length }

  /**
   * The index of these files, the entries of an earlier one taken over where they are still true.
   *
   * @param clock
   *   the time at the store before any footer is read
   * @param ours
   *   paths, as the index names them, of files of our own runs: no other file will ever have their names
   * @return
   *   the index, and how many footers were read for it
   */
  def build(
      files: Seq[DataFile],
      before: Option[StatisticsIndex],
      clock: Long,
      ours: String => Boolean): (StatisticsIndex, Int) = {
    val usable = before.filter(sameColumns).flatMap { index =>
      val ranges = index.columns.indices.flatMap(index.rangesAt(_))
      if (ranges.length == index.columns.length) Some(index.files -> ranges) else None
    }
    val known = files.map(f => usable.flatMap { case (indexed, ranges) => kept(indexed, ranges, f) })
    val missing = files.zip(known).collect { case (f, None) => f }
    val found = missing.zip(Footers.readIfPossible(session, missing, stats, listed))
    val values = computed.of(found.collect { case (file, Some(s)) if !s.footer.opaque => file })
    val read = found.collect { case (file, Some(s)) =>
      file.path -> entry(file, s, values.get(file.path), clock, ours)
    }.toMap
    val entries = files.zip(known).flatMap { case (f, k) => k.orElse(read.get(f.path)) }.sortBy(_.path)
    (index(entries.toIndexedSeq), missing.length)
  }

  private def sameColumns(before: StatisticsIndex): Boolean =
    before.columns == columns &&
      before.caseSensitive == session.sessionState.conf.caseSensitiveAnalysis

  private def kept(f: IndexedFiles, ranges: IndexedSeq[ColumnRanges], file: DataFile): Option[IndexEntry] =
    f.find(keys.of(new Path(file.path)), file.length, file.modified).toOption.map { number =>
      IndexEntry(
        f.paths(number),
        f.lengths(number),
        f.modified(number),
        f.rows(number),
        f.readAt(number),
        ranges.map(FileColumn.at(_, number)))
    }

  private def entry(
      file: DataFile,
      statistics: FileStatistics,
      values: Option[ComputedFile],
      clock: Long,
      ours: String => Boolean): IndexEntry = {
    val footer = statistics.footer
    val path = keys.of(new Path(file.path))
    lazy val types = ColumnPath.ofSchema(footer.schema.spark).toMap
    val caseSensitive = session.sessionState.conf.caseSensitiveAnalysis
    val of = fromFooters.indices.map { c =>
      val set = IndexBuilder.ranges(statistics, c)
      val nulls =
        footer.schema.leaves.indexWhere(l => l.isOf(stats(c)) && l.maxRepetition == 0) match {
          case -1 => -1L
          // Spark may fail to read a file of another type or with a column in two spellings, and so must a count that
          // the index could answer
          case leaf
              if set.state == ColumnRanges.Unknown &&
                (!types.get(footer.schema.leaves(leaf).column).contains(columns(c).dataType) ||
                  !caseSensitive && footer.schema.isSpelledTwice(stats(c))) => -1L
          case leaf => footer.nulls(leaf)
        }
      FileColumn(set, nulls)
    }
    // a file that was read in part has fewer rows than its footer says
    val whole = values.filter(_.rows == footer.rows)
    val expressions = computed.columns.indices.map { c =>
      if (footer.rows == 0 && !footer.opaque) FileColumn.onlyNulls(0L)
      else
        whole.filter(_ => ExpressionRanges.trusts(statistics, dated(c)))
          .fold(FileColumn.Unknown)(_.columns(c))
    }
    val readAt = if (ours(path)) Long.MaxValue else clock
    IndexEntry(path, file.length, file.modified, footer.rows, readAt, of ++ expressions)
  }

  private def index(entries: IndexedSeq[IndexEntry]): StatisticsIndex = {
    val files = new IndexedFiles(
      entries.map(_.path).toArray,
      entries.map(_.length).toArray,
      entries.map(_.modified).toArray,
      entries.map(_.rows).toArray,
      entries.map(_.readAt).toArray)
    val ranges =
      columns.indices.map(c => Option(FileColumn.ranges(columns(c).dataType, entries.map(_.columns(c)))))
    new StatisticsIndex(
      files,
      columns,
      session.sessionState.conf.caseSensitiveAnalysis,
      ranges(_))
  }
}

private object IndexBuilder {

  /**
   * Ranges of pages where every page has one, else of row groups. An opaque file has nothing; a file without
   * row groups has no rows. Where its values are few and known, these take the place of ranges.
   */
  private def ranges(s: FileStatistics, column: Int): RangeSet =
    if (s.footer.opaque) RangeSet.Unknown
    else {
      val groups = s.footer.rowGroups.map(_.zones(column))
      val finer = s.pages.pages(column).map(_._2)
      val ranges =
        if (groups.contains(Zone.Unknown) || finer.isEmpty || finer.contains(Zone.Unknown))
          RangeSet.of(groups)
        else RangeSet.of(finer)
      s.values(column).fold(ranges)(ranges.only)
    }
}

/** The rows of a file, and what the index says of each expression over them. */
final private case class ComputedFile(rows: Long, columns: IndexedSeq[FileColumn])

/**
 * Least and greatest values of expressions, file by file: one job reads the columns that they are made of, as
 * a query would.
 *
 * @param session
 *   that reads, of the user's settings; see [[ExpressionRanges.reader]]
 * @param table
 *   what messages call it
 * @param rows
 *   the relation of these partitions of the table
 * @param columns
 *   the expressions
 * @param dated
 *   the dates and times that each of them is computed from. How a query sees those of old writers depends on
 *   its settings: nothing is said of a file where they have no bounds that can be trusted.
 */
final private[make] class ExpressionRanges(
    session: ClassicSession,
    table: String,
    rows: IndexedSeq[PinnedPartition] => InputRelation,
    val columns: IndexedSeq[IndexedColumn],
    val dated: IndexedSeq[Seq[StatColumn]]) {

  /**
   * The computed ranges by the paths of the files. A file without rows, or one that could not be read, is
   * left out.
   */
  private[make] def of(files: Seq[DataFile]): Map[String, ComputedFile] =
    if (columns.isEmpty || files.isEmpty) Map.empty
    else {
      val relation = rows(files.map(f => PinnedPartition(f.partition, Seq(f))).toIndexedSeq)
      val file = col(InputRelation.RouteColumn)
      val values = columns.indices.map(c => expr(columns(c).sql).as(s"e$c"))
      val bounds = columns.indices.flatMap { c =>
        val value = col(s"e$c")
        Seq[Column](min(value).as(s"min$c"), max(value).as(s"max$c"), count(value).as(s"count$c"))
      }
      val found = Shims.ofRows(session, relation.plan).select(file +: values: _*)
        .groupBy(file).agg(count(lit(1)).as("rows"), bounds: _*)
      val short = found.select(found.schema.map(ExpressionRanges.shortened): _*)
      computing(short.queryExecution.toRdd.map(_.copy()).collect()).map(row =>
        files(row.getInt(0)).path -> computed(row)).toMap
    }

  /**
   * Names the table and the expressions where a value cannot be computed, since Spark's error names neither.
   */
  private def computing[A](job: => A): A =
    try job
    catch {
      case NonFatal(e) =>
        val cause = ExceptionUtils.getThrowables(e).last
        throw ZOrderException.over(
          e,
          "ZORDER_INDEX_REFUSED.EXPRESSION_NOT_COMPUTED",
          "columns" -> columns.map(_.sql).mkString(", "),
          "table" -> table,
          "cause" -> ZOrderException.firstLine(cause))
    }

  private def computed(row: InternalRow): ComputedFile = {
    val rows = row.getLong(1)
    ComputedFile(
      rows,
      columns.indices.map { c =>
        val at = 2 + 3 * c
        val nulls = rows - row.getLong(at + 2)
        if (nulls == rows) FileColumn.onlyNulls(nulls) else FileColumn(bounded(row, at, columns(c)), nulls)
      }
    )
  }

  private def bounded(row: InternalRow, at: Int, column: IndexedColumn): RangeSet =
    if (row.isNullAt(at) || row.isNullAt(at + 1)) RangeSet.Unknown
    else
      RangeSet(
        ColumnRanges.Bounded,
        IndexedSeq((normalized(row, at, column), normalized(row, at + 1, column))))

  private def normalized(row: InternalRow, at: Int, column: IndexedColumn): NormalizedValue =
    Normalization.of(column.dataType).get.normalize(row.get(at, column.dataType))
}

private[make] object ExpressionRanges {

  /** Longer strings are not kept, and do not come to the driver. */
  private val MostBytes = 1024

  private def shortened(field: StructField): Column = field.dataType match {
    case _: StringType | BinaryType =>
      when(octet_length(col(field.name)) <= MostBytes, col(field.name)).as(field.name)
    case _ => col(field.name)
  }

  /** Whether the dates and times that an expression is made of are seen alike by all queries. */
  private[make] def trusts(file: FileStatistics, dated: Seq[Int]): Boolean =
    !file.footer.opaque &&
      dated.forall(c => !file.footer.rowGroups.exists(_.zones(c) == Zone.Unknown))

  /** What is different from the user's session: files that are gone or damaged count as unknown. */
  private val Settings = Seq(
    "spark.sql.files.ignoreMissingFiles" -> "true",
    "spark.sql.files.ignoreCorruptFiles" -> "true",
    "spark.sql.parquet.datetimeRebaseModeInRead" -> "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead" -> "CORRECTED",
    // as the footers' statistics are
    "spark.sql.parquet.fieldId.read.enabled" -> "false",
    // fields are found by their places in the whole struct
    "spark.sql.optimizer.nestedSchemaPruning.enabled" -> "false"
  )

  /** A session that reads as the user's does. */
  def reader(session: ClassicSession): ClassicSession = {
    val own = Shims.cloneSession(session)
    Settings.foreach { case (key, value) => own.conf.set(key, value) }
    own
  }
}
