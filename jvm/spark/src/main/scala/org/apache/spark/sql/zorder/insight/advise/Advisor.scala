package org.apache.spark.sql.zorder.insight.advise

import org.apache.spark.sql.Row
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.clustering.plan.FilePlan
import org.apache.spark.sql.zorder.clustering.request.{PinnedSession, Progress, TableOptions}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, ClusteredBy, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.querylog.QueryLog

/**
 * Advice on one table: footers and one pruned sampling job of 50,000 rows, or more where there are many files, nothing
 * written. A partitioned table is judged by its largest partition, since a run lays each one out by itself.
 *
 * @param log
 *   its queries on this table; None without a log
 */
final class Advisor private (
    user: ClassicSession,
    target: TableRef,
    table: ClusterTable,
    log: Option[QueryLog],
    options: RunOptions) {
  private val pinned = PinnedSession.of(user, table.settings)
  private val progress = Progress.of(user, table)

  /** One row a proposal, the best first. */
  def rows(): Seq[Row] =
    UnreadableFiles.reading(table)(advice().zipWithIndex.map { case (a, i) => allowed(a).row(i + 1) })

  /** A table whose format keeps its clustering columns is given the proposed ones first. */
  private def allowed(a: Advice): Advice = a.recommendation match {
    case Recommendation.Cluster | Recommendation.Sort =>
      a.copy(statement = table.reclustered(a.columns).orElse(a.statement))
    case _ => a
  }

  /** What a run by these columns can name as long as the table keeps its own. */
  private def runsBy(columns: Seq[String]): Seq[String] =
    if (table.reclustered(columns).isEmpty) columns else table.clusteredBy.getOrElse(columns)

  private def advice(): Seq[Advice] = {
    val files = table.files()
    if (files.isEmpty) refuse("ZORDER_CANNOT_ADVISE.NO_FILES", "table" -> table.name)
    val candidates = CandidateColumns.of(user, table, log)
    val considered = progress.step("footers") {
      val others = CandidateColumns.ordered(user, table)
      ScreenedCandidates(pinned, table, files, candidates.columns, others, options)
    }(_.input.summary)
    val partitions = considered.input.partitions
    val plan = FilePlan(
      partitions,
      partitions.map(_.bytes).sum,
      options,
      copy = false,
      full = false,
      considered.input.rows(_),
      grown = Set.empty)
    val kept = candidates.partitions.filter(_._2 >= PartitionColumns.MostQueries).map { case (name, weight) =>
      Advice(Recommendation.KeepPartitioning, Reasons.keepPartitioning(name, weight), Seq(name))
    }
    if (plan.partitions.isEmpty) {
      val reason = FilePlan.tooSmall(partitions, table.partitioned, partitions.map(_.bytes).sum, plan.target)
      Advice(Recommendation.LeaveIt, reason, files = Some(files.length)) +: kept
    } else if (considered.columns.isEmpty)
      Advice(Recommendation.LeaveIt, Reasons.nothingToClusterBy, files = Some(files.length)) +: kept
    else {
      val found = AdviceInput(pinned, user, table, considered, plan, log, progress)
      val laidOut = ClusteredBy.lastRunIfThere(table)
      new Proposals(
        target,
        table.hasOthersFiles,
        candidates,
        considered,
        plan,
        found,
        log,
        laidOut,
        runsBy,
        options).all(progress) ++ kept
    }
  }
}

object Advisor {

  /**
   * Opens the table and reads the log; the rest of the work is done by [[Advisor.rows]].
   *
   * @param log
   *   a table, a temporary view or a path; else the option `queryLog` of table or session, if there is one
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: the table may not be rewritten, or the log says nothing about it
   */
  def of(session: ClassicSession, target: TableRef, log: Option[String]): Advisor = {
    val table = TableResolver.locate(session, target)
    val options = TableOptions.of(table, Nil, session)
    val read = log.orElse(options.queryLog).map(QueryLog.onTable(session, _, table))
    new Advisor(session, target, table, read, options)
  }
}
