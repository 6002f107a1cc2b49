package org.apache.spark.sql.zorder.insight.explain

import java.util.BitSet

import scala.util.control.NonFatal

import org.apache.commons.lang3.StringUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.{
  AttributeReference,
  Expression,
  FileSourceMetadataAttribute,
  Literal,
  PlanExpression,
  PrettyAttribute,
  UserDefinedExpression
}
import org.apache.spark.sql.types.{BooleanType, ByteType, DecimalType, LongType, ShortType}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index.{
  ColumnRanges,
  FileKeys,
  IndexBlooms,
  IndexedColumn,
  IndexedFiles,
  NoEntry,
  StatisticsIndex
}
import org.apache.spark.sql.zorder.skipping.predicate.{
  FilterColumn,
  FilterSets,
  MonotoneFunction,
  Predicates,
  TopRows
}
import org.apache.spark.sql.zorder.skipping.scan.{FilesThatMayMatch, FilesThatReachTop}
import org.apache.spark.sql.zorder.stats.Footers
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.cost.Condition

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
 * @param isImplied
 *   it says nothing that the others do not, so that nobody wants to see it
 */
final private[explain] case class FilterCounts(
    filter: String,
    pruned: Long,
    further: Long,
    by: Seq[(PruneCause, Long)],
    reason: String,
    isImplied: Boolean = false) {

  /** With what other statistics leave out of the files that these have left. */
  def and(next: FilterCounts): FilterCounts = {
    val all = by ++ next.by
    val causes = all.map(_._1).distinct.map(c => c -> all.collect { case (`c`, files) => files }.sum)
    FilterCounts(filter, pruned + next.pruned, further + next.further, causes, next.reason)
  }
}

/**
 * The filters of one scan, one after the other.
 *
 * @param why
 *   says why there are no statistics of a column
 */
final private[explain] class FilterReport(
    index: StatisticsIndex,
    files: ScannedFiles,
    isUnanswered: Expression => Boolean,
    partitioning: Set[String],
    why: MissingStatistics) {
  private val full = new ExplainedFilter(index, isUnanswered, partitioning)
  private val sets = new ExplainedFilter(index.withBlooms(IndexBlooms.None), isUnanswered, partitioning)
  private val hulls = new ExplainedFilter(index.hulls, isUnanswered, partitioning)

  /** What is said of files that the index knows nothing of; empty if there are none. */
  def stale: String = files.stale(index)

  /** Each filter by itself, and the entries that all of them together keep. */
  def of(filters: Seq[Expression]): (Seq[FilterCounts], BitSet) = {
    val may = new FilesThatMayMatch(index, isUnanswered)
    val none = (Vector.empty[FilterCounts], full.all.files, Vector.empty[Expression])
    val (counts, left, _) = filters.foldLeft(none) {
      case ((done, before, asked), top: TopRows) if top.holds =>
        val reaching = new FilesThatReachTop(index, isUnanswered)(top, files.entries)
        val after = FilterReport.both(before, reaching)
        (done :+ first(top, files.pruned(reaching), prunedBetween(before, after)), after, asked)
      case ((done, before, asked), filter) =>
        // several filters of a column leave out more together than one by one
        val all = asked :+ filter
        val after = FilterReport.both(before, may(all))
        val found = Predicates.whereTrue(filter, full)
        val further = prunedBetween(before, after)
        val count = counted(ExplainedFilter.text(filter), found, further)(Predicates.whereTrue(filter, _))
        (done :+ count, after, all)
    }
    (counts, left)
  }

  private def prunedBetween(before: BitSet, after: BitSet): Long =
    files.pruned(after) - files.pruned(before)

  /** Counts for a query that wants the first rows only. */
  private def first(top: TopRows, pruned: Long, further: Long): FilterCounts = {
    val by = Seq[(PruneCause, Long)](PruneCause.Top -> pruned).filter(_._2 > 0)
    val reason =
      if (pruned > 0) "the first rows may be in the others"
      else "the statistics do not show that the first rows are in fewer files"
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
        case Gap.Sentence(reason) => reason
        case Gap.Absent(column) => why.ofColumn(column)
        case Gap.Unanswered(part) => why.ofPart(part)
        case Gap.Column(number) =>
          val column = index.columns(number)
          index.rangesAt(number) match {
            case None =>
              s"statistics of ${column.sql} cannot be read, or are beyond ${SessionKeys.SkippingMaxMemory.key}"
            case Some(ranges) =>
              val without = kept.filter { case (_, n) => ranges.states(n) == ColumnRanges.Unknown }
              without.headOption.fold("") { case (file, _) =>
                s"no statistics: ${why.why(column, file)} (${column.sql} in ${FilterReport.count(without.length.toLong)})"
              }
          }
      }.filter(_.nonEmpty)
      if (gaps.nonEmpty) gaps.mkString("; ")
      else if (pruned > 0) s"the ranges of ${FilterReport.count(kept.length.toLong)} meet it"
      else "the range of every file meets it"
    }
  }
}

private[explain] object FilterReport {
  def count(files: Long): String = HumanReadable.count(files, "file")

  /** Reasons as one text. */
  def joined(reasons: String*): String = reasons.filter(_.nonEmpty).mkString("; ")

  private def both(some: BitSet, others: BitSet): BitSet = {
    val set = some.clone().asInstanceOf[BitSet]
    set.and(others)
    set
  }
}

/**
 * The files that a scan has to do with, each with the number of its entry or with why it has none.
 *
 * @param key
 *   how statistics name a file
 */
final private[explain] class ScannedFiles(
    files: IndexedFiles,
    val listed: IndexedSeq[DataFile],
    key: DataFile => String) {
  private val found: IndexedSeq[Either[NoEntry, Int]] =
    listed.map(f => files.find(key(f), f.length, f.modified))

  def considered: Long = listed.length.toLong

  /** The numbers of the entries of these very files. */
  def entries: BitSet = {
    val set = new BitSet(files.count)
    found.foreach(_.foreach(n => set.set(n)))
    set
  }

  /** The number of files that a set of entries leaves out. */
  def pruned(kept: BitSet): Long = found.count(_.exists(n => !kept.get(n))).toLong

  /**
   * The files that a set of entries holds, with the numbers of their entries. Files without an entry are left
   * out.
   */
  def in(set: BitSet): Seq[(DataFile, Int)] =
    listed.zip(found).collect { case (f, Right(n)) if set.get(n) => f -> n }

  /** The files that a set of entries does not leave out. */
  def left(kept: BitSet): IndexedSeq[DataFile] =
    listed.zip(found).collect { case (f, entry) if entry.forall(kept.get(_)) => f }

  /** What is said of files that their index knows nothing of; empty if there are none. */
  def stale(index: StatisticsIndex): String = if (index.byOlderRules) ScannedFiles.OlderRules
  else {
    def count(why: NoEntry): Int = found.count(_ == Left(why))
    val strange = count(NoEntry.New) + count(NoEntry.Changed)
    val racy = count(NoEntry.Racy)
    FilterReport.joined(
      if (strange == 0) "" else s"stale entry: ${files(strange)} new or changed: run ZORDER REFRESH INDEX",
      if (racy == 0) ""
      else s"stale entry: ${files(racy)} too new when the index was made: run ZORDER REFRESH INDEX"
    )
  }

  private def files(n: Int): String = FilterReport.count(n.toLong) + (if (n == 1) " is" else " are")
}

private[explain] object ScannedFiles {
  private val OlderRules = "an older version of spark-zorder made the index: run ZORDER REFRESH INDEX"

  /** Files of the plain Parquet table at `root`, which its index names by their place below. */
  def below(root: Path, files: IndexedFiles, listed: IndexedSeq[DataFile]): ScannedFiles = {
    val keys = new FileKeys(root)
    new ScannedFiles(files, listed, f => keys.of(new Path(f.path)))
  }
}

/** The files that may match, and what else would have to be known to leave out more. */
final private[explain] case class Explained(files: BitSet, gaps: Vector[Gap])

/**
 * What [[FilesThatMayMatch]] finds, with the reasons. Every set of files is made by that class, so that an
 * explanation and a scan cannot differ.
 *
 * @param partitioning
 *   names of columns whose values are in the paths
 */
final private[explain] class ExplainedFilter(
    index: StatisticsIndex,
    unansweredColumn: Expression => Boolean,
    partitioning: Set[String])
    extends FilterSets[Explained] {
  private val sets = new FilesThatMayMatch(index, unansweredColumn)

  override def all: Explained = Explained(sets.all, Vector.empty)
  override def none: Explained = Explained(sets.none, Vector.empty)

  // both sides are evaluated, for their reasons
  override def and(left: Explained, right: => Explained): Explained = joined(left, right)(sets.and(_, _))
  override def or(left: Explained, right: => Explained): Explained = joined(left, right)(sets.or(_, _))

  override def testsAlone: Boolean = sets.testsAlone

  override def on(column: FilterColumn, condition: Condition): Explained =
    Explained(sets.on(column, condition), Vector(ofColumn(column)))

  override def onFunction(e: Expression, function: FilterColumn, condition: Condition): Explained =
    Explained(
      sets.onFunction(e, function, condition),
      Vector(index.numberOf(e).map(Gap.Column(_))
        .getOrElse(MonotoneFunction.onColumn(e, condition).fold(ofFunction(e))(c => ofColumn(c._1)))))

  override def asColumn(test: Expression, truth: Boolean): Option[Explained] =
    sets.asColumn(test, truth).map(Explained(_, index.numberOf(test).map(Gap.Column(_)).toVector))

  override def unanswered(e: Expression): Boolean = sets.unanswered(e)

  override def unknown(e: Expression): Explained = Explained(sets.unknown(e), Vector(why(e)))

  private def joined(left: Explained, right: Explained)(sets: (BitSet, BitSet) => BitSet): Explained =
    Explained(sets(left.files, right.files), (left.gaps ++ right.gaps).distinct)

  private def ofColumn(column: FilterColumn): Gap = index.numberOf(column.sql) match {
    case None => Gap.Absent(column.sql)
    case Some(c) if index.columns(c).dataType != column.dataType =>
      Gap.Sentence(
        s"type differs: ${column.sql} is ${column.dataType.sql} here, ${index.columns(c).dataType.sql} in the index")
    case Some(c) => Gap.Column(c)
  }

  private def ofFunction(e: Expression): Gap =
    if (e.dataType == BooleanType || !ExplainedFilter.plain(e)) why(e)
    else Gap.Sentence(s"function does not keep order: ${ExplainedFilter.text(e)}")

  private def why(e: Expression): Gap = {
    val text = ExplainedFilter.text(e)
    if (e.references.exists { case FileSourceMetadataAttribute(_) => true; case _ => false })
      Gap.Sentence(s"metadata column: $text")
    else if (e.references.exists(a => partitioning(a.name)))
      Gap.Sentence(s"partition column: $text")
    else if (sets.unanswered(e)) Gap.Unanswered(text)
    else if (e.exists(ExplainedFilter.isQuery))
      Gap.Sentence(s"subquery, whose value is known only when the query runs: $text")
    else if (e.exists(_.isInstanceOf[UserDefinedExpression]))
      Gap.Sentence(s"user-defined function: $text")
    else if (!e.deterministic) Gap.Sentence(s"not deterministic: $text")
    else Gap.Sentence(s"not a comparison of one column with constants: $text")
  }
}

private[explain] object ExplainedFilter {
  private val MostCharacters = 200

  private def plain(e: Expression): Boolean =
    e.deterministic && !e.exists(x => isQuery(x) || x.isInstanceOf[UserDefinedExpression])

  private def isQuery(e: Expression): Boolean = e.isInstanceOf[PlanExpression[_]]

  /** The expression as SQL text, as far as it can be written; numbers as people type them, not as `17L`. */
  def text(e: Expression): String = {
    val whole =
      try
        e.transform {
          case a: AttributeReference => a.withQualifier(Nil)
          case Literal(n, t @ (ByteType | ShortType | LongType | _: DecimalType)) if n != null =>
            PrettyAttribute(n.toString, t)
        }.sql
      catch { case scala.util.control.NonFatal(_) => e.toString }
    StringUtils.abbreviate(whole, " ...", MostCharacters)
  }
}

/** Why a part of a filter leaves out fewer files than it might. */
sealed private[explain] trait Gap

private[explain] object Gap {

  /** Whole sentences that need no look at files. */
  final case class Sentence(reason: String) extends Gap

  /** There are no statistics of a column. */
  final case class Absent(column: String) extends Gap

  /** There may be statistics of a column, but they do not answer this part of a filter. */
  final case class Unanswered(part: String) extends Gap

  /** The index has the column of this number; some of its files may lack statistics. */
  final case class Column(number: Int) extends Gap
}

/** What left a file out of a scan. */
sealed abstract private[zorder] class PruneCause(val name: String)

private[zorder] object PruneCause {

  /** The file's least and greatest value. */
  case object Range extends PruneCause("range")

  /** Gaps between the ranges of the file's parts. */
  case object RangeSet extends PruneCause("range set")

  /** Bloom filters, asked for single values after the ranges. */
  case object Bloom extends PruneCause("Bloom")

  /** Rows that come first in the order of the query are in other files. */
  case object Top extends PruneCause("top-k")
}

/** Says why there are no statistics. */
private[explain] trait MissingStatistics {

  /** Of a column, in any file. */
  def ofColumn(sql: String): String = s"column is not in the index: $sql"

  /** That answer a part of a filter, whose columns are not what the statistics have under their names. */
  def ofPart(text: String): String

  /** Of a column, in this file. */
  def why(column: IndexedColumn, file: DataFile): String
}

/** What a format keeps no bounds of, or none that we count on. */
private[explain] object MissingInFormat extends MissingStatistics {

  override def ofColumn(sql: String): String = s"no bounds of the column are used: $sql"

  override def ofPart(text: String): String = s"no bounds of its column are used: $text"

  override def why(column: IndexedColumn, file: DataFile): String =
    "the format keeps no bounds, or some that may be cut off"
}

/** What an index of a table of a format has nothing of, besides what the format's bounds say. */
private[explain] object MissingInIndexOfFormat extends MissingStatistics {

  override def ofPart(text: String): String =
    s"a column was renamed or added since the index was made: run ZORDER REFRESH INDEX: $text"

  override def why(column: IndexedColumn, file: DataFile): String =
    "the index could not read the column in the file, or found dates and times without bounds, such as INT96"
}

/**
 * Why the index has nothing of a column of a file: it keeps no reasons, so the footer is looked at once more.
 */
final private[explain] class MissingInIndex(session: ClassicSession) extends MissingStatistics {
  private val same = session.sessionState.conf.resolver

  override def ofPart(text: String): String = s"column has a default: $text"

  override def why(column: IndexedColumn, file: DataFile): String =
    if (column.expression.isDefined)
      "a file that cannot be read, or dates and times without bounds, such as INT96"
    else
      try {
        val schema = Footers.read(session, Seq(file)).head.schema
        schema.leaves.find(_.column.corresponds(column.path)(same)) match {
          case None if column.absentIsNull => "the file has no such column"
          case None => "column has a default"
          case Some(l) if l.physical == "INT96" =>
            "INT96, which has none; ZORDER TABLE WITH (timestampType = 'micros') writes some"
          case Some(l) =>
            s"${l.typeText}, and a row group without bounds (a NaN, a string of over 4 KB, a writer that gives none)"
        }
      } catch { case NonFatal(_) => "the footer cannot be read" }
}
