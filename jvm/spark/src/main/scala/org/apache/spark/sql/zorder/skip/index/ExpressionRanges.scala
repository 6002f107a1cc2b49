package org.apache.spark.sql.zorder.skip.index

import scala.util.control.NonFatal

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.functions.{col, count, expr, lit, max, min}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileStatistics, StatColumn}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import sparkzorder.curve.{BytesWord, Word, Zone}

/** The rows of a file, and what the index says of each expression over them. */
final private[index] case class ComputedFile(rows: Long, columns: IndexedSeq[FileColumn])

/**
 * Least and greatest values of expressions, file by file: one job reads the columns that they are made of, as a query
 * would.
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
 *   the dates and times that each of them is computed from. How a query sees those of old writers depends on its
 *   settings: nothing is said of a file where they have no bounds that can be trusted.
 */
final class ExpressionRanges(
    session: ClassicSession,
    table: String,
    rows: IndexedSeq[PinnedPartition] => InputRelation,
    val columns: IndexedSeq[IndexedColumn],
    val dated: IndexedSeq[Seq[StatColumn]]) {

  /** By the paths of the files; a file without rows, or that could not be read, is left out. */
  private[index] def of(files: Seq[DataFile]): Map[String, ComputedFile] =
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
      computing(found.queryExecution.toRdd.map(_.copy()).collect()).map(row =>
        files(row.getInt(0)).path -> computed(row)).toMap
    }

  /** Of a row that an expression is not defined for, Spark says only what went wrong. */
  private def computing[A](job: => A): A =
    try job
    catch {
      case NonFatal(e) =>
        val cause = Iterator.iterate[Throwable](e)(_.getCause).takeWhile(_ != null).toSeq.last
        throw ZOrderException.over(
          e,
          s"${columns.map(_.sql).mkString(", ")} of $table cannot be computed for every row " +
            s"(${ZOrderException.firstLine(cause)}): leave such an expression out of the index.")
    }

  private def computed(row: InternalRow): ComputedFile = {
    val rows = row.getLong(1)
    ComputedFile(
      rows,
      columns.indices.map { c =>
        val at = 2 + 3 * c
        val nulls = rows - row.getLong(at + 2)
        if (nulls == rows) FileColumn(RangeSet.OnlyNulls, nulls)
        else FileColumn(bounded(word(row, at, columns(c)), word(row, at + 1, columns(c))), nulls)
      }
    )
  }

  private def word(row: InternalRow, at: Int, column: IndexedColumn): Word =
    WordTypes.of(column.dataType).get.word(row.get(at, column.dataType))

  private def bounded(min: Word, max: Word): RangeSet =
    if (Seq(min, max).exists(ExpressionRanges.tooLong)) RangeSet.Unknown
    else RangeSet(ColumnRanges.Bounded, IndexedSeq((min, max)))
}

private[skip] object ExpressionRanges {

  /** Longer strings are not kept. */
  private val MostBytes = 1024

  private def tooLong(word: Word): Boolean = word match {
    case BytesWord(bytes) => bytes.length > MostBytes
    case _ => false
  }

  /** Whether the dates and times that an expression is made of are seen alike by all queries. */
  private[index] def trusts(file: FileStatistics, dated: Seq[Int]): Boolean =
    !file.footer.opaque &&
      dated.forall(c => !file.footer.rowGroups.exists(_.zones(c) == Zone.Unknown))

  /** What is different from the user's session: files that are gone or damaged count as unknown. */
  private val Settings = Seq(
    "spark.sql.files.ignoreMissingFiles" -> "true",
    "spark.sql.files.ignoreCorruptFiles" -> "true",
    "spark.sql.parquet.datetimeRebaseModeInRead" -> "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead" -> "CORRECTED",
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
