package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.Routes
import org.apache.spark.sql.zorder.fit.Levels
import org.apache.spark.sql.zorder.table.InputRelation

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
final private[run] case class Work(
    input: Inspection,
    plan: FilePlan,
    source: InputRelation,
    columns: Seq[ClusterColumn],
    routes: Routes,
    tasks: Tasks,
    layout: String,
    outlook: Outlook,
    curve: String,
    kept: Option[Levels] = None)
