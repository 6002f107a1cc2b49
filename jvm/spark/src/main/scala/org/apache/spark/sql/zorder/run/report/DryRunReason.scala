package org.apache.spark.sql.zorder.run.report

/**
 * What a dry run says of how the run would end. One that would change nothing has the status and the reason of
 * that run; of one that would, the status is DRY_RUN and the reason begins with the status to come.
 */
private[run] object DryRunReason {

  /**
   * @param limit
   *   why the run would end before its last batch
   * @param reason
   *   what the run would do
   */
  def reason(limit: Option[String], reason: String): String = limit match {
    case None => s"The run would end as ${RunStatus.Done.name}: $reason"
    case Some(why) => s"The run would end as ${RunStatus.Partial.name}, since $why: $reason"
  }
}
