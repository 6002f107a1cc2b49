package org.apache.spark.sql.zorder.sql.statement

import java.util.Locale

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.run.ClusteringRun
import org.apache.spark.sql.zorder.run.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.run.request.ClusterRequest
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.{IndexStatements, IndexUpkeep}
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}
import org.apache.spark.sql.zorder.table.resolve.Maintenance

/** A command with a fixed schema and a readable name in plans. */
abstract class ZOrderCommand(title: String, schema: StructType) extends LeafRunnableCommand {
  override val output: Seq[Attribute] = DataTypeUtils.toAttributes(schema)

  override def nodeName: String = title

  override def simpleString(maxFields: Int): String = s"$title $detail"

  /** The text after the title in a plan. */
  protected def detail: String

  protected def show(table: TableRef): String = table match {
    case TableRef.Name(parts) => parts.mkString(".")
    case TableRef.Location(path) => s"'$path'"
  }
}

/** `OPTIMIZE ...` and `ZORDER TABLE ...`: one row. */
final case class OptimizeCommand(request: ClusterRequest)
    extends ZOrderCommand("ZOrderTable", ClusteringRun.resultSchema) {

  override protected def detail: String = {
    val by = if (request.by.isEmpty) "" else request.by.mkString(" by (", ", ", ")")
    val where = request.where.fold("")(p => s" where $p")
    val curve = request.curve.fold("")(c => s" using $c")
    val into = request.into.fold("")(p => s" into '$p'")
    val flags = (if (request.full) " full" else "") + (if (request.dryRun) " dry run" else "")
    val options = if (request.options.isEmpty) ""
    else request.options.toSeq.sorted.map { case (k, v) => s"$k=$v" }.mkString(" with (", ", ", ")")
    s"${show(request.target)}$where$by$curve$options$into$flags"
  }

  override def run(session: SparkSession): Seq[Row] = Seq(ClusteringRun.run(session, request))
}

/** `ZORDER VACUUM`: one row for each directory it looked at. */
final case class VacuumCommand(
    table: TableRef,
    retainHours: Option[Double],
    late: Option[LateChoice],
    dryRun: Boolean)
    extends ZOrderCommand("ZOrderVacuum", Maintenance.vacuumSchema) {
  override protected def detail: String =
    show(table) + retainHours.fold("")(h => s" retain $h hours") +
      late.fold("")(c => s" late files ${c.word.toLowerCase(Locale.ROOT)}") + (if (dryRun) " dry run" else "")

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table))(
      Maintenance.vacuum(Shims.classic(session), table, retainHours, dryRun, late))
}

/** `ZORDER ROLLBACK`: brings back the state before the newest run. */
final case class RollbackCommand(table: TableRef)
    extends ZOrderCommand("ZOrderRollback", Maintenance.rollbackSchema) {
  override protected def detail: String = show(table)

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table)) {
      val classic = Shims.classic(session)
      val index = IndexUpkeep.before(classic, table)
      val row = Maintenance.rollback(classic, table)
      index.foreach { i =>
        i.committed()
        i.afterCommits(table)
      }
      Seq(row)
    }
}

/** `ZORDER REMOVE`: deletes our state and leaves the table as it is. */
final case class RemoveCommand(table: TableRef, home: Option[HomeChoice])
    extends ZOrderCommand("ZOrderRemove", Maintenance.removeSchema) {
  override protected def detail: String =
    show(table) + home.fold("")(h => s" ${h.words.toLowerCase(Locale.ROOT)}")

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table)) {
      val classic = Shims.classic(session)
      IndexStatements.dropElsewhere(classic, table)
      Seq(Maintenance.remove(classic, table, home))
    }
}
