package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.log.QueryLog

/**
 * What every step of one batch needs to know: who asked for what, and on which snapshot of which table.
 *
 * @param user
 *   the session of the statement; reading and writing is done in `pinned`
 * @param startedMs
 *   when the batch began
 */
final private[run] case class RunContext(
    user: ClassicSession,
    request: ClusterRequest,
    table: ClusterTable,
    options: RunOptions,
    progress: Progress,
    startedMs: Long = System.currentTimeMillis()) {

  /** The clustering columns as the statement or the table has them. */
  val by: Seq[String] = ClusteredBy.of(request, table)
  val curve: String = CurveNames.checked(request.curve)
  val log: Option[QueryLog] = QueryLog.of(user, options).map(_.on(user, table))
  lazy val pinned: ClassicSession = PinnedSession.of(user)

  /** The clustering columns, bound to rows. */
  def columnsOf(rows: org.apache.spark.sql.catalyst.plans.logical.LogicalPlan): Seq[ClusterColumn] =
    ClusterColumns.on(user, table.name, rows, table.constantColumns, by)

  /** WHERE takes whole files, also such as lie only partly inside it. */
  def overlap: Boolean = options.overlap == "include"
}
