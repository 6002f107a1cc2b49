package org.apache.spark.sql.zorder.skip.aggregate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.PartitionDirectory
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.scan.{FileCounts, IndexedScan, SkippingUsage}
import org.apache.spark.sql.zorder.skip.scan.PlanParts._
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn

/**
 * Answers `min(c)`, `max(c)`, `count(*)` and `count(c)` over a whole table, or over whole partitions of it, from the
 * index: of those files whose entries are of the very files that are there now. The others are read. The answer is that
 * of the moment when the query is planned, as it is for a scan, which lists then.
 */
object AggregateRule extends PredicateHelper {

  /** Of an aggregate over the whole input. */
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
    def known(number: Int): Boolean =
      rowsKnown(index.index, number) && answers.forall(_.answers(number))
    val started = System.nanoTime()
    val entries = listed.flatMap(_.files.map(index.entryOf))
    val numbers = entries.flatMap(_.toOption).filter(known)
    val rest = listed.map(d => d.copy(files = d.files.filterNot(f => index.entryOf(f).exists(known))))
      .filter(_.files.nonEmpty)
    val values = answers.map(_.over(numbers))
    if (numbers.nonEmpty)
      SkippingUsage.scanned(
        index.root,
        index.columns(asked.map(inside(_, a.child, scan))),
        FileCounts(
          entries.length.toLong,
          numbers.length.toLong,
          entries.count(_.isLeft).toLong,
          System.nanoTime() - started))
    if (rest.isEmpty) Some(answeredInFull(a, asked, values))
    else if (numbers.isEmpty) None
    else Some(answeredInPart(a, asked, answers.zip(values), readOnly(a.child, scan, rest)))
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
      case p: Project => scan(p.child, filters.map(translated(_, p)))
      case Filter(condition, child) => scan(child, filters ++ splitConjunctivePredicates(condition))
      case IndexedScan(scan) if scan.readsAllListed => WholePartitions.of(scan, filters).map(scan -> _)
      case _ => None
    }

  /** The aggregate in terms of the scan's columns, and by their names. */
  private def inside(e: AggregateExpression, plan: LogicalPlan, scan: IndexedScan): AggregateExpression =
    plan match {
      case p: Project => inside(translated(e, p).asInstanceOf[AggregateExpression], p.child, scan)
      case Filter(_, child) => inside(e, child, scan)
      case _ => scan.named(e).asInstanceOf[AggregateExpression]
    }

  private def translated(e: Expression, p: Project): Expression = {
    val meaning = meanings(p)
    e.transform { case a: AttributeReference => meaning.getOrElse(a, a) }
  }

  private def ranges(a: AttributeReference, scan: IndexedScan): Option[ColumnRanges] =
    if (!scan.relation.outputSet.contains(a) || scan.index.isUnanswered(a)) None
    else BoxColumn.of(a).flatMap(c => scan.index.index.rangesOf(c.sql, c.dataType))

  private def readOnly(
      plan: LogicalPlan,
      scan: IndexedScan,
      files: Seq[PartitionDirectory]): LogicalPlan = plan.transformUp {
    case s if s eq scan.relation =>
      val location = new RemainingFiles(scan.index.wrapped, files)
      scan.relation.copy(relation = scan.files.copy(location = location)(scan.files.sparkSession))
  }

  /** A file whose types nobody could read has no rows in the index; one without rows has no values either. */
  private def rowsKnown(index: StatisticsIndex, file: Int): Boolean =
    index.files.rows(file) > 0 || index.columns.indices.headOption.flatMap(index.rangesAt)
      .exists(_.states(file) == ColumnRanges.OnlyNulls)
}
