package org.apache.spark.sql.zorder.skip.explain

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.plans.logical.{Command, LogicalPlan}
import org.apache.spark.sql.execution.{CommandExecutionMode, FileSourceScanExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.IndexStatements
import org.apache.spark.sql.zorder.skip.scan.SkippingUsage
import org.apache.spark.sql.zorder.table.TableRef

/** What the scans of a query skip, and why not more. The query is planned and not run. */
object ExplainQuery extends AdaptiveSparkPlanHelper {

  val schema: StructType = new StructType()
    .add("scan", IntegerType).add("table", StringType).add("filter", StringType)
    .add("considered", LongType).add("pruned", LongType).add("pruned_further", LongType)
    .add("kept", LongType).add("pruned_by", StringType).add("reason", StringType)

  /** One row for each scan, filter NULL, and one behind it for each of its filters. */
  def ofText(session: ClassicSession, text: String): Seq[Row] =
    of(session, session.sessionState.sqlParser.parsePlan(text))

  /**
   * The same of a plan that is parsed or analysed.
   *
   * @param only
   *   rows of this table's scans only
   */
  def of(session: ClassicSession, plan: LogicalPlan, only: Option[TableRef] = None): Seq[Row] =
    SkippingUsage.uncounted(planned(session, plan, only))

  private def planned(session: ClassicSession, plan: LogicalPlan, only: Option[TableRef]): Seq[Row] = {
    val analyzed = session.sessionState.executePlan(plan, CommandExecutionMode.SKIP).analyzed
    // the query of CREATE TABLE ... AS SELECT and the like is no child of the command
    val inside = analyzed match {
      case command: Command => command.innerChildren.collect { case query: LogicalPlan => query }
      case _ => Nil
    }
    val physical =
      (analyzed +: inside).map(session.sessionState.executePlan(_, CommandExecutionMode.SKIP).executedPlan)
    val files = new FileScans(session, only.map(IndexStatements.plain(session, _).root))
    physical.flatMap(scans(files, _)).zipWithIndex.flatMap { case (scan, i) => rows(i + 1, scan) }
  }

  private def scans(files: FileScans, plan: SparkPlan): Seq[ExplainedScan] = collectWithSubqueries(plan) {
    case s: FileSourceScanExec if files.wanted(s) => files.explained(s)
    case s: InMemoryTableScanExec if files.wantsAll =>
      ExplainedScan(
        s.relation.cacheBuilder.tableName.getOrElse("cached rows"),
        None,
        0,
        Nil,
        "cached: no file is read")
    case s: BatchScanExec if files.wantsAll =>
      ExplainedScan(
        s.table.name,
        None,
        0,
        Nil,
        "a scan of DataSource V2, which skips by its own rules if at all")
  }

  private def rows(number: Int, scan: ExplainedScan): Seq[Row] = {
    def kept(pruned: Long): Any = scan.considered.map(c => Long.box(c - pruned)).orNull
    val considered: Any = scan.considered.map(Long.box).orNull
    val whole = Row(
      number,
      scan.table,
      null,
      considered,
      scan.pruned,
      scan.pruned,
      kept(scan.pruned),
      by(scan.filters.flatMap(_.by).map(_._1).distinct.map(_.name)),
      scan.reason)
    val sums = scan.filters.scanLeft(0L)(_ + _.further).tail
    whole +: scan.filters.zip(sums).map { case (f, sum) =>
      Row(
        number,
        scan.table,
        f.filter,
        considered,
        f.pruned,
        f.further,
        kept(sum),
        by(f.by.map { case (cause, files) => s"${cause.name} ($files)" }),
        f.reason)
    }
  }

  private def by(causes: Seq[String]): String = causes.mkString(", ")
}
