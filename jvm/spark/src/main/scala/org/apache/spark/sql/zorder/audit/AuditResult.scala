package org.apache.spark.sql.zorder.audit

import org.apache.spark.sql.zorder.audit.measure.LevelNumbers
import org.apache.spark.sql.zorder.audit.read.AuditedFile

/**
 * One row of the result: the table, or a partition of it.
 *
 * @param levels
 *   that of files first
 * @param sinceLastRun
 *   files that came after the last run; None for a table that was never clustered
 */
final private[audit] case class AuditResult(
    partition: Option[String],
    judgement: Judgement,
    statement: Option[String],
    levels: IndexedSeq[LevelNumbers],
    files: IndexedSeq[AuditedFile],
    avoidable: IndexedSeq[AuditedFile],
    excess: Long,
    sinceLastRun: Option[IndexedSeq[AuditedFile]])

private[audit] object AuditResult {

  /** One result a level of the whole table: the sum over its partitions. */
  def levels(scopes: IndexedSeq[Scope]): IndexedSeq[LevelNumbers] = {
    val all = scopes.flatMap(_.levels)
    all.map(_.level).distinct.map(level => all.filter(_.level == level).reduce(_ ++ _))
  }
}
