package org.apache.spark.sql.zorder.skip.filter

import java.util.{BitSet, Comparator, PriorityQueue}

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.marker.TopRows
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn
import sparkzorder.curve.Word
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * The files that may hold one of the first rows of an order.
 *
 * Say, of `ORDER BY c DESC LIMIT k`. Let some files hold k rows together that pass the filters and whose c is not NULL,
 * and let T be the least c in the ranges of these files. Then k rows of the answer's candidates have `c >= T`, so
 * that no row with `c < T` is in the answer, whatever the ties and the further sort keys. Files whose ranges end below T
 * are left out, which the test `c >= T` says. Where NULLs come first, each row of these files is at or before T, NULL or
 * not, and the test is `c >= T OR c IS NULL`.
 *
 * That stands as long as the k rows are read. So a file counts only if its entry is of the very file that is listed
 * for this scan, and only if the filters are true for all of its rows. Bounds that are cut off (of long strings in page
 * indexes) or leave room for a NaN are bounds all the same: T is the farther end of a range, which all values reach.
 */
final class FilesThatReachTop(index: StatisticsIndex, unansweredColumn: Expression => Boolean) {

  /**
   * @param listed
   *   the entries of the files that are to be read; those without an entry are not asked about
   * @return
   *   the entries whose files must be read
   */
  def apply(top: TopRows, listed: BitSet): BitSet = {
    val may = new FilesThatMayMatch(index, unansweredColumn)
    val found =
      if (may.unanswered(top.column)) None
      else
        for {
          column <- BoxColumn.of(top.column)
          ranges <- index.rangesOf(column.sql, column.dataType)
          counted = new FilesThatMatchWholly(index, unansweredColumn)(top.conditions)
          _ = counted.and(listed)
          reaching <- reach(top, ranges, counted)
        } yield ranges.mayMeet(reaching)
    found.getOrElse(may.all)
  }

  /** What a row of the answer meets; None if the counted files do not hold rows enough. */
  private def reach(top: TopRows, ranges: ColumnRanges, counted: BitSet): Option[Condition] = {
    val nulls =
      if (top.nullsFirst) files(counted, ranges, ColumnRanges.OnlyNulls).map(index.files.rows(_)).sum else 0L
    if (nulls >= top.rows) Some(Condition.IsNull)
    else farthest(top, ranges, counted, top.rows - nulls).map { word =>
      val values = if (top.ascending) Interval(None, Some(word)) else Interval(Some(word), None)
      Condition(IndexedSeq(values), orNull = top.nullsFirst)
    }
  }

  /** The end of the ranges of those files that come first until they hold so many rows. */
  private def farthest(top: TopRows, ranges: ColumnRanges, counted: BitSet, rows: Long): Option[Word] = {
    def end(file: Int): Word =
      if (top.ascending) ranges.words.max(ranges.offsets(file + 1) - 1)
      else ranges.words.min(ranges.offsets(file))
    val first: Comparator[Integer] =
      if (top.ascending) (a, b) => end(a).compare(end(b)) else (a, b) => end(b).compare(end(a))
    val candidates = new java.util.ArrayList[Integer]()
    files(counted, ranges, ColumnRanges.Bounded).foreach(f => candidates.add(f))
    // a heap: few files are enough for most limits, so that most are never put in order
    val queue = new PriorityQueue[Integer](math.max(1, candidates.size), first)
    queue.addAll(candidates)
    var left = rows
    var last: Option[Word] = None
    while (left > 0 && !queue.isEmpty) {
      val file = queue.poll().intValue
      left -= certain(top, ranges, file)
      last = Some(end(file))
    }
    last.filter(_ => left <= 0)
  }

  /** The rows of a file that come no later than the farther end of its ranges. */
  private def certain(top: TopRows, ranges: ColumnRanges, file: Int): Long = {
    val rows = index.files.rows(file)
    if (top.nullsFirst) rows
    else if (ranges.nulls(file) < 0) 0L
    else math.max(0L, rows - ranges.nulls(file))
  }

  private def files(counted: BitSet, ranges: ColumnRanges, state: Byte): Iterator[Int] =
    Iterator.iterate(counted.nextSetBit(0))(f => counted.nextSetBit(f + 1)).takeWhile(_ >= 0)
      .filter(ranges.states(_) == state)
}
