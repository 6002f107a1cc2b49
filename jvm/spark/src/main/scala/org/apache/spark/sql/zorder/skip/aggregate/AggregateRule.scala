package org.apache.spark.sql.zorder.skip.aggregate

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation, PartitionDirectory}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, StatisticsIndex}
import org.apache.spark.sql.zorder.skip.scan.{FileCounts, IndexedScan, SkippingFileIndex, SkippingUsage}
import org.apache.spark.sql.zorder.skip.scan.PlanParts._
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn

/**
 * Answers `min(c)`, `max(c)`, `count(*)` and `count(c)` over a whole table, or over whole partitions of it, from the
 * index: of those files whose entries are of the very files that are listed now. The others are read, from the same
 * listing. The answer is that of the moment when the query is planned, as it is for a scan, which lists then.
 */
object AggregateRule extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf) || !IndexedScan.in(plan)) plan
    else
      plan.transformUp {
        case a: Aggregate if a.groupingExpressions.isEmpty && a.resolved => answered(a).getOrElse(a)
      }

  private def answered(a: Aggregate): Option[LogicalPlan] =
    for {
      found <- scan(a.child, Nil)
      (l, r, index) = found._1
      asked = distinctOf(a)
      if asked.nonEmpty
      answers = asked.map(e => AskedAggregate.of(inside(e, a.child), index.index.files, ranges(_, l, index)))
      if answers.forall(_.isDefined)
      result <- split(a, asked, answers.flatten, l, r, index, found._2)
    } yield result

  private def split(
      a: Aggregate,
      asked: Seq[AggregateExpression],
      answers: Seq[AskedAggregate],
      l: LogicalRelation,
      r: HadoopFsRelation,
      index: SkippingFileIndex,
      partitionFilters: Seq[Expression]): Option[LogicalPlan] = {
    def known(number: Int): Boolean =
      number >= 0 && rowsKnown(index.index, number) && answers.forall(_.answers(number))
    val started = System.nanoTime()
    val listed = index.wrapped.listFiles(partitionFilters, Nil)
    val entries = listed.flatMap(_.files.map(index.entryOf))
    val numbers = entries.filter(known)
    val rest = listed.map(d => d.copy(files = d.files.filterNot(f => known(index.entryOf(f))))).filter(
      _.files.nonEmpty)
    val values = answers.map(_.over(numbers))
    if (numbers.nonEmpty)
      SkippingUsage.scanned(
        index.root,
        index.columns(asked.map(inside(_, a.child))),
        FileCounts(
          entries.length.toLong,
          numbers.length.toLong,
          entries.count(_ < 0).toLong,
          System.nanoTime() - started))
    if (rest.isEmpty) Some(answeredInFull(a, asked, values))
    else if (numbers.isEmpty) None
    else Some(answeredInPart(a, asked, answers.zip(values), readOnly(a.child, l, r, index, rest)))
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

  /** The scan below renamings and filters on partition columns alone, with these filters. */
  private def scan(plan: LogicalPlan, filters: Seq[Expression])
      : Option[((LogicalRelation, HadoopFsRelation, SkippingFileIndex), Seq[Expression])] = plan match {
    case p: Project => scan(p.child, filters.map(translated(_, p)))
    case Filter(condition, child) => scan(child, filters ++ conjuncts(condition))
    case IndexedScan(l, r, index) if IndexedScan.readsAllListed(r) =>
      val partitioning = IndexedScan.partitionColumns(l, r)
      val applied = filters.forall(f =>
        settled(f) && f.references.nonEmpty && f.references.subsetOf(partitioning))
      if (applied) Some(((l, r, index), filters)) else None
    case _ => None
  }

  /** The aggregate in terms of the scan's columns. */
  private def inside(e: AggregateExpression, plan: LogicalPlan): AggregateExpression = plan match {
    case p: Project => inside(translated(e, p).asInstanceOf[AggregateExpression], p.child)
    case Filter(_, child) => inside(e, child)
    case _ => e
  }

  private def translated(e: Expression, p: Project): Expression = {
    val meaning = meanings(p)
    e.transform { case a: AttributeReference => meaning.getOrElse(a, a) }
  }

  private def ranges(
      a: AttributeReference,
      l: LogicalRelation,
      index: SkippingFileIndex): Option[ColumnRanges] =
    if (!l.outputSet.contains(a) || index.isUnanswered(a)) None
    else BoxColumn.of(a).flatMap(c => index.index.rangesOf(c.sql, c.dataType))

  private def readOnly(
      plan: LogicalPlan,
      l: LogicalRelation,
      r: HadoopFsRelation,
      index: SkippingFileIndex,
      files: Seq[PartitionDirectory]): LogicalPlan = plan.transformUp {
    case s if s eq l =>
      l.copy(relation = r.copy(location = new RemainingFiles(index.wrapped, files))(r.sparkSession))
  }

  /** A file whose types nobody could read has no rows in the index; one without rows has no values either. */
  private def rowsKnown(index: StatisticsIndex, file: Int): Boolean =
    index.files.rows(file) > 0 || index.columns.indices.headOption.flatMap(index.rangesAt)
      .exists(_.states(file) == ColumnRanges.OnlyNulls)
}
