package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.conf.RunOptions
import sparkzorder.curve.build.Curves
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.log.QueryLog

/**
 * What every step of one batch needs to know: the statement, and the snapshot of the table that it works on.
 *
 * @param user
 *   the session of the statement; reading and writing is done in `pinned`
 * @param by
 *   the clustering columns as the statement or the table names them
 * @param log
 *   the queries of the query log on this table, read once in a statement
 * @param startedMs
 *   when the batch began
 */
final private[run] case class RunContext(
    user: ClassicSession,
    request: ClusterRequest,
    table: ClusterTable,
    options: RunOptions,
    progress: Progress,
    by: Seq[String],
    log: Option[QueryLog],
    startedMs: Long) {

  lazy val pinned: ClassicSession = PinnedSession.of(user, table.settings)

  /** For the next batch, on the table as the last one left it. */
  def next(snapshot: ClusterTable): RunContext =
    copy(
      table = snapshot,
      by = ClusteredBy.of(request, snapshot),
      startedMs = System.currentTimeMillis())

  /** The clustering columns, bound to rows. */
  def columnsOf(rows: LogicalPlan): Seq[ClusterColumn] =
    ClusterColumns.on(user, table.name, rows, table.constantColumns, by)

  /** The name of the curve that the layout is made by. */
  def curve: String = request.curve.getOrElse(Curves.Auto.name)

  /** Whether WHERE also takes files that only overlap the condition. */
  def overlap: Boolean = options.overlap == "include"
}

private[run] object RunContext {

  def of(
      user: ClassicSession,
      request: ClusterRequest,
      table: ClusterTable,
      options: RunOptions,
      progress: Progress): RunContext = new RunContext(
    user,
    request,
    table,
    options,
    progress,
    ClusteredBy.of(request, table),
    QueryLog.of(user, options).map(_.on(user, table)),
    System.currentTimeMillis())
}
