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
 *   SQL expressions that identify a row by its file and its place in it, for sampling and to spread heavy values. They
 *   must not change when the same files are read again; none if the format does not show them
 * @param own
 *   names in `output` of columns that the format keeps for itself, such as row ids. They are not part of a copy
 */
final class InputRelation(
    val plan: LogicalPlan,
    val output: Seq[Attribute],
    val place: Seq[String],
    own: Set[String] = Set.empty) {

  /** The table's own columns, which a copy in another format has. */
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

  /** The place of a row in its file, in relations that show it. */
  val PositionColumn = "_zorder_position"

  /** The path of a row's file, in relations that show it. */
  val PathColumn = "_zorder_path"

  /** A hash of the place of a row, where a rewrite asks for it. */
  val PlaceColumn = "_zorder_place"

  val OwnColumns: Seq[String] = Seq(RouteColumn, SeedColumn)

  /** The first of these names, of a table's columns, that a column of some relation has. */
  def taken(names: Seq[String]): Option[String] =
    names.find(n => (OwnColumns ++ Seq(PositionColumn, PathColumn)).exists(_.equalsIgnoreCase(n)))
}

/** Marks the file index of a clustering run's own scan, which is no query of the user and is never logged. */
trait OwnScan
