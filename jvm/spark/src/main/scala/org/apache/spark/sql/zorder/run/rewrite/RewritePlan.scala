package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.zorder.expr.layout.PartitionLayouts
import org.apache.spark.sql.zorder.fit.Levels
import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.inspect.Inspection
import org.apache.spark.sql.zorder.run.plan.{FilePlan, OutputFiles}
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.table.file.InputRelation

/**
 * Everything that the steps before the rewrite found out.
 *
 * @param plan
 *   the files to rewrite
 * @param layout
 *   what the result says of the layout
 * @param kept
 *   blocks that stay beside those that are written, where a run changes a part of a partition
 */
final private[run] case class RewritePlan(
    input: Inspection,
    plan: FilePlan,
    source: InputRelation,
    columns: Seq[ClusterColumn],
    routes: PartitionLayouts,
    tasks: OutputFiles,
    layout: String,
    outlook: Forecast,
    curve: String,
    kept: Option[Levels] = None)
