package org.apache.spark.sql.zorder.skipping

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.{
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PartitionDirectory
}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.index.{ColumnRanges, IndexedFiles, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, ValueText}
import org.apache.spark.sql.zorder.skipping.scan.{
  PlanParts,
  PruningScan,
  SkippedCounts,
  SkippingFileIndex,
  SkippingUsage
}
import org.apache.spark.sql.zorder.table.storage.DriverReads
import sparkzorder.curve.{NormalizedLong, NormalizedValue}

/**
 * Answers `min(c)`, `max(c)`, `count(*)` and `count(c)` over a whole table, or over whole partitions of it,
 * from the index: of those files whose entries are of the very files that are there now. The others are read.
 * The answer is that of the moment when the query is planned, as it is for a scan, which lists then.
 */
object AggregateRule extends PredicateHelper {

  /** Answers an aggregate without grouping from the index. */
  val fromIndex: PartialFunction[LogicalPlan, LogicalPlan] = {
    case a: Aggregate if a.groupingExpressions.isEmpty && a.resolved => answered(a).getOrElse(a)
  }

  private def answered(a: Aggregate): Option[LogicalPlan] =
    for {
      (scan, whole) <- scan(a.child, Nil)
      asked = distinctOf(a)
      if asked.nonEmpty
      answers =
        asked.map(e => AskedAggregate.of(inside(e, a.child, scan), scan.index.index.files, ranges(_, scan)))
      if answers.forall(_.isDefined)
      // as of timestamps that are INT96, which have no bounds: the directories need not be listed for nothing
      if (0 until scan.index.index.files.count).exists(known(scan, answers.flatten, _))
      listed <- FreshListing.of(scan, whole)
      result <- split(a, asked, answers.flatten, scan, listed)
    } yield result

  private def split(
      a: Aggregate,
      asked: Seq[AggregateExpression],
      answers: Seq[AskedAggregate],
      scan: IndexedScan,
      listed: Seq[PartitionDirectory]): Option[LogicalPlan] = {
    val index = scan.index
    val started = System.nanoTime()
    val entries = listed.flatMap(_.files.map(index.entryOf))
    def isKnown(file: Int): Boolean = known(scan, answers, file)
    val numbers = entries.flatMap(_.toOption).filter(isKnown)
    val rest = listed.map(d => d.copy(files = d.files.filterNot(f => index.entryOf(f).exists(isKnown))))
      .filter(_.files.nonEmpty)
    val values = answers.map(_.over(numbers))
    if (numbers.nonEmpty)
      SkippingUsage.scanned(
        index.root,
        index.columns(asked.map(inside(_, a.child, scan))),
        SkippedCounts(
          entries.length.toLong,
          numbers.length.toLong,
          entries.count(_.isLeft).toLong,
          System.nanoTime() - started))
    if (rest.isEmpty) Some(answeredInFull(a, asked, values))
    else if (numbers.isEmpty) None
    else Some(answeredInPart(
      a,
      asked,
      answers.zip(values),
      readOnly(a.child, scan, rest, entries.length.toLong)))
  }

  private def answeredInFull(a: Aggregate, asked: Seq[AggregateExpression], values: Seq[Any]): LogicalPlan = {
    val columns = asked.map(e => AttributeReference(e.sql, e.dataType, e.nullable)())
    Project(replaced(a, asked, columns), LocalRelation(columns, Seq(InternalRow.fromSeq(values))))
  }

  private def answeredInPart(
      a: Aggregate,
      asked: Seq[AggregateExpression],
      answers: Seq[(AskedAggregate, Any)],
      child: LogicalPlan): LogicalPlan = {
    val read = asked.map(e => Alias(e, e.sql)())
    val both = read.zip(answers).map { case (column, (aggregate, value)) =>
      aggregate.merged(Literal(value, column.dataType), column.toAttribute)
    }
    Project(replaced(a, asked, both), a.copy(aggregateExpressions = read, child = child))
  }

  private def replaced(
      a: Aggregate,
      asked: Seq[AggregateExpression],
      by: Seq[Expression]): Seq[NamedExpression] =
    a.aggregateExpressions.map(_.transform { case e: AggregateExpression =>
      by(asked.indexWhere(_.canonicalized == e.canonicalized))
    }.asInstanceOf[NamedExpression])

  private def distinctOf(a: Aggregate): Seq[AggregateExpression] =
    a.aggregateExpressions.flatMap(_.collect { case e: AggregateExpression => e })
      .foldLeft(Seq.empty[AggregateExpression]) { (done, e) =>
        if (done.exists(_.canonicalized == e.canonicalized)) done else done :+ e
      }

  /** The scan below renamings and filters, if a listing can apply every one of these filters. */
  private def scan(plan: LogicalPlan, filters: Seq[Expression]): Option[(IndexedScan, WholePartitions)] =
    plan match {
      case p: Project => scan(p.child, filters.map(PlanParts.inside(p, _)))
      case Filter(condition, child) => scan(child, filters ++ splitConjunctivePredicates(condition))
      case IndexedScan(scan) if scan.readsAllListed => WholePartitions.of(scan, filters).map(scan -> _)
      case _ => None
    }

  /** The aggregate in terms of the scan's columns, and by their names. */
  private def inside(e: AggregateExpression, plan: LogicalPlan, scan: IndexedScan): AggregateExpression =
    plan match {
      case p: Project => inside(PlanParts.inside(p, e).asInstanceOf[AggregateExpression], p.child, scan)
      case Filter(_, child) => inside(e, child, scan)
      case _ => scan.named(e).asInstanceOf[AggregateExpression]
    }

  private def ranges(a: AttributeReference, scan: IndexedScan): Option[ColumnRanges] =
    if (!scan.relation.outputSet.contains(a) || scan.index.isUnanswered(a)) None
    else FilterColumn.of(a).flatMap(c => scan.index.index.rangesOf(c.sql, c.dataType))

  private def readOnly(
      plan: LogicalPlan,
      scan: IndexedScan,
      files: Seq[PartitionDirectory],
      considered: Long): LogicalPlan = plan.transformUp {
    case s if s eq scan.relation =>
      val location = new RemainingFiles(scan.index, files, considered)
      scan.relation.copy(relation = scan.source.copy(location = location)(scan.source.sparkSession))
  }

  /** Whether the index answers for a file all that is asked. */
  private def known(scan: IndexedScan, answers: Seq[AskedAggregate], file: Int): Boolean =
    rowsKnown(scan.index.index, file) && answers.forall(_.answers(file))

  /** A file whose types nobody could read has no rows in the index; one without rows has no values either. */
  private def rowsKnown(index: StatisticsIndex, file: Int): Boolean =
    index.files.rows(file) > 0 || index.columns.indices.headOption.flatMap(index.rangesAt)
      .exists(_.states(file) == ColumnRanges.OnlyNulls)
}

/**
 * A scan of plain Parquet with its index, whose rows and values can be counted on beyond what a list of files
 * needs.
 */
final private class IndexedScan(
    override val relation: LogicalRelation,
    val source: HadoopFsRelation,
    val index: SkippingFileIndex,
    scan: PruningScan)
    extends PruningScan(relation, index, scan.partitionColumns, scan.readsAllListed)

private object IndexedScan {
  def unapply(plan: LogicalPlan): Option[IndexedScan] = plan match {
    case l: LogicalRelation => PruningScan.unapply(l).flatMap { scan =>
        (l.relation, scan.files) match {
          case (r: HadoopFsRelation, index: SkippingFileIndex) => Some(new IndexedScan(l, r, index, scan))
          case _ => None
        }
      }
    case _ => None
  }
}

/** An aggregate that an index may answer, file by file. */
sealed private trait AskedAggregate {

  /** Whether the index has the exact answer over the file of that number, whose rows are counted. */
  def answers(file: Int): Boolean

  /** Over these files, each of which it answers. */
  def over(files: Seq[Int]): Any

  /** Combines the known value with the answer over the other files. */
  def merged(known: Literal, other: Expression): Expression
}

/** `count(*)`, or `count(c)` with the ranges of c. */
final private case class AskedCount(files: IndexedFiles, ranges: Option[ColumnRanges])
    extends AskedAggregate {
  override def answers(file: Int): Boolean =
    ranges.forall(r => r.states(file) == ColumnRanges.OnlyNulls || r.nulls(file) >= 0)

  override def over(numbers: Seq[Int]): Any = numbers.map { f =>
    ranges match {
      case Some(r) if r.states(f) == ColumnRanges.OnlyNulls => 0L
      case Some(r) => files.rows(f) - r.nulls(f)
      case None => files.rows(f)
    }
  }.sum

  override def merged(known: Literal, other: Expression): Expression = Add(other, known)
}

/**
 * `min(c)` or `max(c)`. The ends of ranges are values of rows only for types of a fixed width: a bound of
 * text may be cut off, and one of floating-point numbers says nothing of NaN.
 */
final private case class AskedExtreme(ranges: ColumnRanges, least: Boolean)
    extends AskedAggregate {
  override def answers(file: Int): Boolean = ranges.states(file) match {
    case ColumnRanges.OnlyNulls => true
    case ColumnRanges.Bounded =>
      value(ranges.least(file)).isDefined && value(ranges.greatest(file)).isDefined
    case _ => false
  }

  override def over(numbers: Seq[Int]): Any = {
    val ends = numbers.filter(ranges.states(_) == ColumnRanges.Bounded)
      .map(f => if (least) ranges.least(f) else ranges.greatest(f))
    ends.reduceOption((a, b) => if (a < b == least) a else b).flatMap(value).orNull
  }

  override def merged(known: Literal, other: Expression): Expression =
    if (least) Least(Seq(other, known)) else Greatest(Seq(other, known))

  /** None for a number that the column's type cannot hold. */
  private def value(normalized: NormalizedValue): Option[Any] = normalized match {
    case _: NormalizedLong => ValueText.value(normalized, ranges.dataType)
        .filter(v => Normalization.of(ranges.dataType).exists(_.normalize(v) == normalized))
    case _ => None
  }
}

private object AskedExtreme {

  /** Types whose bounds in files are values of rows. */
  def exact(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType => true
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _ => false
  }
}

private object AskedAggregate {

  /**
   * None for an aggregate that no index answers.
   *
   * @param ranges
   *   of a column of the scan
   */
  def of(
      e: AggregateExpression,
      files: IndexedFiles,
      ranges: AttributeReference => Option[ColumnRanges]): Option[AskedAggregate] =
    if (e.isDistinct || e.filter.isDefined) None
    else
      e.aggregateFunction match {
        case Count(Seq(Literal(value, _))) if value != null => Some(AskedCount(files, None))
        case Count(Seq(a: AttributeReference)) => ranges(a).map(r => AskedCount(files, Some(r)))
        case Min(a: AttributeReference) if AskedExtreme.exact(a.dataType) =>
          ranges(a).map(AskedExtreme(_, least = true))
        case Max(a: AttributeReference) if AskedExtreme.exact(a.dataType) =>
          ranges(a).map(AskedExtreme(_, least = false))
        case _ => None
      }
}

/**
 * Filters that take or leave whole partitions, in the names of the scan.
 *
 * @param holds
 *   whether all of them are true for the values of a directory. A listing only promises to leave out no more
 *   than they do: it passes over a filter that it does not know.
 */
final private class WholePartitions private (
    val filters: Seq[Expression],
    val holds: InternalRow => Boolean)

private object WholePartitions {

  /** None where one of the filters is not on the values of directories alone. */
  def of(scan: IndexedScan, filters: Seq[Expression]): Option[WholePartitions] = {
    val same = scan.relation.conf.resolver
    val columns =
      scan.source.partitionSchema.fieldNames.toSeq.flatMap(n =>
        scan.relation.output.find(a => same(a.name, n)))
    val named = filters.map(scan.named)
    val all = named.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)
    val applied =
      named.forall(f =>
        PlanParts.appliedByScan(f) && f.references.nonEmpty && f.references.subsetOf(scan.partitionColumns))
    if (!applied || columns.length != scan.source.partitionSchema.length) None
    else {
      val test = Predicate.createInterpreted(BindReferences.bindReference(all, columns))
      Some(new WholePartitions(named, test.eval))
    }
  }
}

/**
 * The files of a scan as they are now. A session may hold a listing that is older than the last write to a
 * file, and an answer from the index opens no file that would show it: so the directories are listed once
 * more. Which files a query is about stays what the session's listing says.
 */
private object FreshListing {

  /** None if a file is gone, or a directory cannot be listed: Spark will say so, or not mind. */
  def of(scan: IndexedScan, whole: WholePartitions): Option[Seq[PartitionDirectory]] =
    try {
      val held = scan.index.wrapped.listFiles(whole.filters, Nil).filter(d => whole.holds(d.values))
      val directories = held.flatMap(_.files.map(_.getPath.getParent)).distinct
      val conf =
        Shims.classic(scan.source.sparkSession).sessionState.newHadoopConfWithOptions(scan.source.options)
      val now = DriverReads.each(directories, DriverReads.MostRequests)(listed(conf, _)).flatten.toMap
      val there = held.forall(_.files.forall(f => now.contains(f.getPath)))
      if (!there) None
      else Some(held.map(d =>
        d.copy(files = d.files.map { f =>
          val status = now(f.getPath)
          val same = status.getLen == f.getLen && status.getModificationTime == f.getModificationTime
          // the status that is held may know where the blocks of the file lie
          if (same) f else f.copy(fileStatus = status)
        })))
    } catch { case NonFatal(_) => None }

  private def listed(conf: Configuration, directory: Path): Seq[(Path, FileStatus)] =
    directory.getFileSystem(conf).listStatus(directory).toSeq.map(s => s.getPath -> s)
}

/**
 * The files of one listing whose rows an index does not count. The listing is the one by which the others
 * were counted, so that no file is counted twice or never; the partition filters were applied when it was
 * made.
 *
 * @param considered
 *   how many files were listed with those that the index counts
 */
final private[zorder] class RemainingFiles(
    val index: SkippingFileIndex,
    listed: Seq[PartitionDirectory],
    val considered: Long)
    extends FileIndex {
  private val of = index.wrapped
  private val paths = listed.flatMap(_.files.map(_.getPath))

  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] = listed

  override def rootPaths: Seq[Path] = of.rootPaths
  override def inputFiles: Array[String] = paths.map(_.toString).toArray
  override def refresh(): Unit = of.refresh()
  override def sizeInBytes: Long = listed.flatMap(_.files.map(_.getLen)).sum
  override def partitionSchema: StructType = of.partitionSchema

  private def identity: (FileIndex, Seq[Path]) = (of, paths)
  override def equals(that: Any): Boolean = that match {
    case r: RemainingFiles => identity == r.identity
    case _ => false
  }
  override def hashCode(): Int = identity.hashCode()
  override def toString: String = s"files of $of that its statistics index does not answer for"
}
