package org.apache.spark.sql.zorder.table.file

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{StructField, StructType}

/**
 * The rows of the files that a run listed at its start, and of no other.
 *
 * @param output
 *   what is written back: data columns, then partition columns
 * @param place
 *   SQL expressions that tell a row by its file and its place in it, for sampling: not by anything that a
 *   second reading of the same files would change; none where the format does not show them
 * @param own
 *   names in `output` of what the format keeps for itself, such as numbers of rows: no part of a copy
 */
final class InputRelation(
    val plan: LogicalPlan,
    val output: Seq[Attribute],
    val place: Seq[String],
    own: Set[String] = Set.empty) {

  /** The columns that are the table's: what a copy in another format holds. */
  def copied: Seq[Attribute] = output.filterNot(a => own(a.name))

  /** Names and types of what is written back. */
  def schema: StructType =
    StructType(output.map(a => StructField(a.name, a.dataType, a.nullable, a.metadata)))

  /** The number of the row's partition. */
  val route: Attribute = plan.output.find(_.name == InputRelation.RouteColumn).get
}

object InputRelation {

  /** An INT column of `plan`; not a name that a user's column would have. */
  val RouteColumn = "_zorder_route"

  /** An INT that is the same for all rows of a file, in relations that have one. */
  val SeedColumn = "_zorder_seed"

  val OwnColumns: Seq[String] = Seq(RouteColumn, SeedColumn)
}
