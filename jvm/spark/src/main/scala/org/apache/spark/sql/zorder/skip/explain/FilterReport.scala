package org.apache.spark.sql.zorder.skip.explain

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skip.bloom.IndexBlooms
import org.apache.spark.sql.zorder.skip.filter.{FilesThatMayMatch, FilesThatReachTop}
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.marker.TopRows
import org.apache.spark.sql.zorder.workload.predicate.Predicates

/**
 * What one filter of a scan leaves out.
 *
 * @param pruned
 *   files that it leaves out, whatever the other filters do
 * @param further
 *   those of them that no filter before it leaves out
 * @param by
 *   how many of `pruned` each cause takes, in the order in which the causes are asked
 * @param reason
 *   why not more; empty where no file is left
 */
final private[explain] case class FilterCounts(
    filter: String,
    pruned: Long,
    further: Long,
    by: Seq[(PruneCause, Long)],
    reason: String)

/**
 * The filters of one scan, one after the other.
 *
 * @param why
 *   says why a file has no statistics of a column
 */
final private[explain] class FilterReport(
    index: StatisticsIndex,
    files: ListedFiles,
    isUnanswered: Expression => Boolean,
    partitioning: Set[String],
    why: MissingStatistics) {
  private val full = new ExplainedFilter(index, isUnanswered, partitioning)
  private val sets = new ExplainedFilter(index.withBlooms(IndexBlooms.None), isUnanswered, partitioning)
  private val hulls = new ExplainedFilter(index.hulls, isUnanswered, partitioning)

  /** Each filter by itself, and the entries that all of them together keep. */
  def of(filters: Seq[Expression]): (Seq[FilterCounts], BitSet) = {
    val left = full.all.files
    val may = new FilesThatMayMatch(index, isUnanswered)
    var asked = Seq.empty[Expression]
    val counts = filters.map {
      case top: TopRows if top.holds =>
        val before = files.pruned(left)
        val reaching = new FilesThatReachTop(index, isUnanswered)(top, files.entries)
        left.and(reaching)
        first(top, files.pruned(reaching), files.pruned(left) - before)
      case f =>
        val found = Predicates.whereTrue(f, full)
        val before = files.pruned(left)
        // several filters of a column leave out more together than one by one
        asked :+= f
        left.and(may(asked))
        counted(ExplainedFilter.text(f), found, files.pruned(left) - before)(Predicates.whereTrue(f, _))
    }
    (counts, left)
  }

  /** Of a query that wants the first rows only. */
  private def first(top: TopRows, pruned: Long, further: Long): FilterCounts = {
    val by = Seq[(PruneCause, Long)](PruneCause.Top -> pruned).filter(_._2 > 0)
    val reason =
      if (pruned > 0) "the first rows may be in the others"
      else "the index does not show that the first rows are in fewer files"
    FilterCounts(ExplainedFilter.text(top), pruned, further, by, reason)
  }

  /** @param by what the filter finds in an index that has less, which tells what took the others */
  def counted(
      filter: String,
      found: Explained,
      further: Long)(by: ExplainedFilter => Explained): FilterCounts = {
    val pruned = files.pruned(found.files)
    val byRange = files.pruned(by(hulls).files)
    val bySet = files.pruned(by(sets).files)
    FilterCounts(
      filter,
      pruned,
      further,
      Seq[(PruneCause, Long)](
        PruneCause.Range -> byRange,
        PruneCause.RangeSet -> (bySet - byRange),
        PruneCause.Bloom -> (pruned - bySet)).filter(_._2 > 0),
      reason(found, pruned))
  }

  private def reason(found: Explained, pruned: Long): String = {
    val kept = files.in(found.files)
    if (kept.isEmpty) ""
    else {
      val gaps = found.gaps.map {
        case Gap.Said(reason) => reason
        case Gap.Column(number) =>
          val column = index.columns(number)
          index.rangesAt(number) match {
            case None =>
              s"the index of ${column.sql} cannot be read, or is beyond ${SessionKeys.SkippingMaxMemory.key}"
            case Some(ranges) =>
              val without = kept.filter { case (_, n) => ranges.states(n) == ColumnRanges.Unknown }
              without.headOption.fold("") { case (file, _) =>
                s"no statistics: ${why.why(column, file)} (${column.sql} in ${FilterReport.count(without.length)})"
              }
          }
      }.filter(_.nonEmpty)
      if (gaps.nonEmpty) gaps.mkString("; ")
      else if (pruned > 0) s"the ranges of ${FilterReport.count(kept.length)} meet it"
      else "the range of every file meets it"
    }
  }
}

private[explain] object FilterReport {
  def count(files: Int): String = if (files == 1) "1 file" else s"$files files"
}
