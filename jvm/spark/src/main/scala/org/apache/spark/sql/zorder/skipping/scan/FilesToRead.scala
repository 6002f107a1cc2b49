package org.apache.spark.sql.zorder.skipping.scan

import java.util.{BitSet, Comparator, PriorityQueue}

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, Expression, FileSourceMetadataAttribute}
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.skipping.index.{ColumnRanges, NoEntry, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.predicate._
import sparkzorder.curve.{NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * Which files of an index a scan with some filters must read. Predicates that are true for every row
 * ([[JoinKeys]], [[TopRows]]) count as what they tell of the query around the scan.
 *
 * @param isUnanswered
 *   columns that are not what the index has under their names
 */
final class FilesToRead(index: StatisticsIndex, isUnanswered: Expression => Boolean) {

  /** Adaptive execution plans a scan again and again. */
  @volatile private var last: Option[(Seq[Expression], BitSet)] = None

  /**
   * Whether a file must be read, by its entry. So must one without an entry.
   *
   * @param listed
   *   the entries of the very files that the scan lists: only their rows are counted on for the first rows of
   *   a query
   * @param areAsListed
   *   whether the files of entries still are those that were listed
   */
  def apply(
      filters: Seq[Expression],
      listed: Seq[Either[NoEntry, Int]],
      areAsListed: Seq[Int] => Boolean = _ => true): Either[NoEntry, Int] => Boolean = {
    val needed = mayMatch(filters.map(FilesToRead.meant)).clone().asInstanceOf[BitSet]
    val tops = filters.collect { case t: TopRows if t.holds => t }
    if (tops.nonEmpty) {
      val counted = new BitSet(index.files.count)
      listed.foreach(_.foreach(counted.set(_)))
      tops.foreach(t => needed.and(new FilesThatReachTop(index, isUnanswered, areAsListed)(t, counted)))
    }
    _.forall(needed.get(_))
  }

  private def mayMatch(filters: Seq[Expression]): BitSet = {
    val canonical = filters.map(_.canonicalized)
    last.collect { case (same, found) if same == canonical => found }.getOrElse {
      val found = new FilesThatMayMatch(index, isUnanswered)(filters)
      last = Some(canonical -> found)
      found
    }
  }

  /** Whether the index knows anything of the scan's column. */
  def mayAnswer(column: Attribute): Boolean =
    !isUnanswered(column) && FilterColumn.of(column).exists(c => index.rangesOf(c.sql, c.dataType).isDefined)

  /** Whether a filter is false in all of some file. */
  def leavesOut(filter: Expression): Boolean =
    new FilesThatMayMatch(index, isUnanswered)(Seq(filter)).cardinality < index.files.count

  /** The bytes of the files that may match. */
  def bytes(filters: Seq[Expression]): Long = {
    val matching = mayMatch(filters.map(FilesToRead.meant))
    FilesToRead.numbers(matching).map(index.files.lengths(_)).sum
  }

  /** The columns of the index that the expressions name. */
  def columns(expressions: Seq[Expression]): Seq[String] = {
    val stored = index.numbersIn(expressions)
    val computed = expressions.flatMap(_.collect { case e if !e.foldable => index.numberOf(e) }.flatten)
    (stored ++ computed).distinct.map(index.columns(_).sql)
  }
}

object FilesToRead {

  /** Whether it is a column that is not what an index has under its name, or one of Spark's own that tells of files. */
  def isUnanswered(e: Expression)(byName: String => Boolean): Boolean = e match {
    case FileSourceMetadataAttribute(_) => true
    case a: Attribute => byName(a.name)
    case _ => false
  }

  /** What a filter tells statistics, though it may tell rows nothing. */
  def meant(filter: Expression): Expression = filter match {
    case k: JoinKeys if k.holds => k.implied
    case other => other
  }

  /** The numbers in a set of files. */
  private[scan] def numbers(set: BitSet): Iterator[Int] =
    Iterator.iterate(set.nextSetBit(0))(n => set.nextSetBit(n + 1)).takeWhile(_ >= 0)
}

/**
 * The files of an index in which a filter may be true for some row, evaluated over all files at once.
 * Whatever is not understood may be true anywhere, so that an error of judgement reads a file too many and
 * never one too few.
 *
 * @param isUnanswered
 *   attributes that are not what the index has under their names, such as partition columns
 */
final class FilesThatMayMatch(index: StatisticsIndex, isUnanswered: Expression => Boolean)
    extends FilterSets[BitSet] {
  private val count = index.files.count

  /** The files that may hold a row for which every filter is true. */
  def apply(filters: Seq[Expression]): BitSet =
    filters.reduceOption(And(_, _)).fold(all)(Predicates.whereTrue(_, this))

  /** A file has several ranges, and values on both sides of what is asked for. */
  override def testsAlone: Boolean = true

  override def all: BitSet = {
    val set = new BitSet(count)
    set.set(0, count)
    set
  }

  override def none: BitSet = new BitSet(count)

  override def and(left: BitSet, right: => BitSet): BitSet = {
    if (!left.isEmpty) left.and(right)
    left
  }

  override def or(left: BitSet, right: => BitSet): BitSet = {
    if (left.cardinality < count) left.or(right)
    left
  }

  override def on(column: FilterColumn, condition: Condition): BitSet =
    if (condition.impossible) none
    else index.rangesOf(column.sql, column.dataType).fold(all) { ranges =>
      val byRanges = ranges.mayMeet(condition)
      // Bloom filters say of some of these that they do not hold a single value
      index.bloomsOf(column.sql, column.dataType).fold(byRanges)(_.narrow(byRanges, condition, ranges.nulls))
    }

  override def onFunction(e: Expression, function: FilterColumn, condition: Condition): BitSet = {
    val own = onExpression(e, condition).getOrElse(all)
    if (own.isEmpty) own
    else MonotoneFunction.onColumn(e, condition).fold(own) { case (column, c) => and(own, on(column, c)) }
  }

  override def asColumn(test: Expression, truth: Boolean): Option[BitSet] =
    if (test.dataType != BooleanType) None
    else onExpression(test, Condition.equal(NormalizedLong(if (truth) 1L else 0L)))

  private def onExpression(e: Expression, condition: Condition): Option[BitSet] =
    if (condition.impossible) Some(none)
    else index.numberOf(e).flatMap(index.rangesAt).map(_.mayMeet(condition))

  override def unanswered(e: Expression): Boolean = e.references.exists(isUnanswered)
}

/**
 * The files that may hold one of the first rows of an order.
 *
 * An example is `ORDER BY c DESC LIMIT k`. Let some files hold k rows together that pass the filters and
 * whose c is not NULL, and let T be the least c in the ranges of these files. Then k rows of the answer's
 * candidates have `c >= T`, so that no row with `c < T` is in the answer, whatever the ties and the further
 * sort keys. Files whose ranges end below T are left out, which the test `c >= T` says. Where NULLs come
 * first, each row of these files is at or before T, NULL or not, and the test is `c >= T OR c IS NULL`.
 *
 * That stands as long as the k rows are read. So a file counts only if its entry is of the very file that is
 * listed for this scan, if it is that file still, and if the filters are true for all of its rows. Bounds that
 * are cut off (of long strings in page indexes) or leave room for a NaN are bounds all the same: T is the
 * farther end of a range, which all values reach.
 *
 * @param areAsListed
 *   whether the files of entries still are those that were listed; asked once, of the files that are counted
 */
final class FilesThatReachTop(
    index: StatisticsIndex,
    isUnanswered: Expression => Boolean,
    areAsListed: Seq[Int] => Boolean = _ => true) {

  /**
   * @param listed
   *   the entries of the files that are to be read; those without an entry are not asked about
   * @return
   *   the entries whose files must be read
   */
  def apply(top: TopRows, listed: BitSet): BitSet = {
    val may = new FilesThatMayMatch(index, isUnanswered)
    val found =
      if (may.unanswered(top.column)) None
      else
        for {
          column <- FilterColumn.of(top.column)
          ranges <- index.rangesOf(column.sql, column.dataType)
          counted = new FilesThatMatchWholly(index, isUnanswered)(top.conditions)
          _ = counted.and(listed)
          reaching <- reach(top, ranges, counted)
        } yield ranges.mayMeet(reaching)
    found.getOrElse(may.all)
  }

  /** What a row of the answer meets; None if the counted files do not hold rows enough, or are others by now. */
  private def reach(top: TopRows, ranges: ColumnRanges, counted: BitSet): Option[Condition] = {
    val (nullFiles, nulls) =
      if (top.nullsFirst) until(top.rows, files(counted, ranges, ColumnRanges.OnlyNulls))(index.files.rows(_))
      else (Nil, 0L)
    if (nulls >= top.rows) Some(Condition.IsNull).filter(_ => areAsListed(nullFiles))
    else {
      val (nearest, rows) = until(top.rows - nulls, inOrder(top, ranges, counted))(certain(top, ranges, _))
      if (nulls + rows < top.rows || !areAsListed(nullFiles ++ nearest)) None
      else {
        val last = Some(end(top, ranges, nearest.last))
        val values = if (top.ascending) Interval(None, last) else Interval(last, None)
        Some(Condition(IndexedSeq(values), orNull = top.nullsFirst))
      }
    }
  }

  /** The first of these files that have rows enough, or all of them, and their rows. */
  private def until(enough: Long, files: Iterator[Int])(rows: Int => Long): (Seq[Int], Long) = {
    val taken = Seq.newBuilder[Int]
    var sum = 0L
    while (sum < enough && files.hasNext) {
      val file = files.next()
      val of = rows(file)
      if (of > 0) taken += file
      sum += of
    }
    (taken.result(), sum)
  }

  /** The files that have bounds, that which ends first by the order of the query as the first one. */
  private def inOrder(top: TopRows, ranges: ColumnRanges, counted: BitSet): Iterator[Int] = {
    val first: Comparator[Integer] =
      if (top.ascending) (a, b) => end(top, ranges, a).compare(end(top, ranges, b))
      else (a, b) => end(top, ranges, b).compare(end(top, ranges, a))
    val candidates = new java.util.ArrayList[Integer]()
    files(counted, ranges, ColumnRanges.Bounded).foreach(f => candidates.add(f))
    // a heap: few files are enough for most limits, so that most are never put in order
    val queue = new PriorityQueue[Integer](math.max(1, candidates.size), first)
    queue.addAll(candidates)
    Iterator.continually(queue.poll()).takeWhile(_ != null).map(_.intValue)
  }

  /** The farther end of a file's ranges. */
  private def end(top: TopRows, ranges: ColumnRanges, file: Int): NormalizedValue =
    if (top.ascending) ranges.greatest(file) else ranges.least(file)

  /** The rows of a file that come no later than the farther end of its ranges. */
  private def certain(top: TopRows, ranges: ColumnRanges, file: Int): Long = {
    val rows = index.files.rows(file)
    if (top.nullsFirst) rows
    else if (ranges.nulls(file) < 0) 0L
    else math.max(0L, rows - ranges.nulls(file))
  }

  private def files(counted: BitSet, ranges: ColumnRanges, state: Byte): Iterator[Int] =
    FilesToRead.numbers(counted).filter(ranges.states(_) == state)
}

/**
 * The files in which a filter is true for every row: those where it may be neither false nor NULL. Whatever
 * is not understood may be false anywhere.
 */
final class FilesThatMatchWholly(index: StatisticsIndex, isUnanswered: Expression => Boolean) {
  private val may = new FilesThatMayMatch(index, isUnanswered)

  def apply(filters: Seq[Expression]): BitSet = {
    val whole = may.all
    filters.foreach { f =>
      if (!whole.isEmpty) whole.andNot(Predicates.whereNotTrue(f, may))
    }
    whole
  }
}
