package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, RepartitionByExpression, Sort}
import org.apache.spark.sql.types.{DataType, MapType}
import org.apache.spark.sql.zorder.expr.layout.{
  PartitionLayouts,
  ToPartition,
  ZOrderFile,
  ZOrderKey,
  ZOrderPages
}
import org.apache.spark.sql.zorder.run.plan.OutputFiles
import sparkzorder.curve.page.PageCut

/** The one full scan: every row goes straight to the task that writes its file, and is sorted there. */
object RewriteQuery {

  /**
   * Rows in layout order: shuffle partition p holds exactly the rows of file p.
   *
   * @param output
   *   columns to keep
   * @param outputs
   *   which file numbers are written, and by which shuffle partition
   * @param partitionColumns
   *   those of `output` that become directories; the write would sort by them, so the order starts with them
   * @param pages
   *   where the writer will end pages, for the rows of a file to be cut there too
   */
  def plan(
      child: LogicalPlan,
      output: Seq[Attribute],
      partitionColumns: Seq[Attribute],
      columns: Seq[Expression],
      route: Option[Expression],
      routes: PartitionLayouts,
      outputs: OutputFiles,
      pages: Option[PageCut] = None): LogicalPlan = {
    val spread =
      if (outputs.spread) ZOrderFile.spreadBy(output.filter(a => canBeHashed(a.dataType))) else None
    val file = ZOrderFile(routes, route, columns, spread)
    val shuffled =
      RepartitionByExpression(Seq(ToPartition(file, outputs.preImages)), child, outputs.count)
    val key = ZOrderKey(routes, route, columns)
    val order = partitionColumns :+ pages.fold[Expression](key)(ZOrderPages(key, _))
    Project(output, Sort(order.map(SortOrder(_, Ascending)), global = false, shuffled))
  }

  /** Spark's hash refuses maps, because equal maps may be stored in unlike order. */
  private def canBeHashed(t: DataType): Boolean = !t.existsRecursively {
    case _: MapType => true
    case other => other.typeName.startsWith("variant")
  }
}
