package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types._

/** The one result row of a run and of its dry run. */
final case class RunReport(
    path: String,
    status: RunStatus,
    reason: String,
    runId: String,
    layoutChosen: String,
    metrics: RunMetrics,
    reads: Option[ReadReport]) {
  def row: Row = new GenericRowWithSchema(
    Array[Any](
      path,
      status.name,
      reason,
      runId,
      layoutChosen,
      metrics.row,
      shown.columns.map(_.row),
      shown.queries.map(_.row),
      shown.others.map(_.row),
      shown.alternatives.map(_.row)),
    RunReport.schema)

  def json: String = row.json

  /** This one and a later batch of the same statement: what was written counts, if anything was. */
  def and(later: RunReport): RunReport =
    if (later.status == RunStatus.NothingToDo) this
    else {
      val done = Seq(this, later).find(_.status == RunStatus.Done).map(_.status)
      val shown = if (later.reads.isDefined) later else this
      shown.copy(
        status = done.getOrElse(later.status),
        reason = Seq(reason, later.reason).filter(_.nonEmpty).mkString(" "),
        metrics = metrics.and(later.metrics))
    }

  /** The statement ended before all batches were begun. */
  def partial(why: String): RunReport = copy(status = RunStatus.Partial, reason = s"$reason PARTIAL: $why")

  private def shown: ReadReport = reads.getOrElse(ReadReport())
}

object RunReport {
  val schema: StructType = new StructType()
    .add("path", StringType)
    .add("status", StringType)
    .add("reason", StringType)
    .add("run_id", StringType)
    .add("layout_chosen", StringType)
    .add("metrics", RunMetrics.schema)
    .add("columns", ArrayType(ColumnReport.schema))
    .add("queries", ArrayType(QueryReport.schema))
    .add("others", ArrayType(OtherReport.schema))
    .add("alternatives", ArrayType(AlternativeReport.schema))
}
