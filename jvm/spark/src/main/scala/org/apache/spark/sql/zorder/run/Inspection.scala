package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, InputTraits, SchemaUnion, StatColumn}
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile}

/** What the footers of the selected files say: schema, sizes, statistics. Read once, in one job. */
final class Inspection(
    session: ClassicSession,
    table: ClusterTable,
    columns: Seq[ClusterColumn],
    val footers: Seq[FileFooter],
    val statColumns: Seq[StatColumn],
    val dataSchema: StructType,
    val traits: InputTraits) {

  val partitions: IndexedSeq[PinnedPartition] =
    footers.map(_.file).groupBy(_.partition).toIndexedSeq.sortBy(_._1).map { case (directory, files) =>
      PinnedPartition(directory, files.sortBy(_.path))
    }

  /** Number of the statistics of clustering column `c`; None for an expression. */
  def statColumnOf(c: Int): Option[Int] =
    if (columns(c).path.isEmpty) None else Some(columns.take(c).count(_.path.nonEmpty))

  private lazy val rowsByPath: Map[String, Long] = footers.map(f => f.file.path -> f.rows).toMap

  def rows(plan: FilePlan): Long = plan.files.map(f => rowsByPath(f.path)).sum

  def rows(partition: PinnedPartition): Long = partition.files.map(f => rowsByPath(f.path)).sum

  def footersOf(plan: FilePlan): Seq[FileFooter] = {
    val chosen = plan.files.map(_.path).toSet
    footers.filter(f => chosen(f.file.path))
  }

  /** The rows of the planned partitions, numbered in the plan's order. */
  def relation(plan: FilePlan): InputRelation = {
    val pinned = new PinnedFiles(
      table.root,
      plan.partitions.map(_.partition),
      table.partitionSchema,
      session.sessionState.conf.sessionLocalTimeZone)
    InputRelation(session, pinned, dataSchema)
  }

  def said: String =
    s"${Said.count(footers.map(_.rows).sum, "row")} in ${Said.count(footers.length.toLong, "file")}, " +
      Said.count(dataSchema.length.toLong, "column")
}

object Inspection {
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      files: Seq[DataFile],
      columns: Seq[ClusterColumn],
      options: RunOptions): Inspection = {
    val statColumns = columns.flatMap(_.path).map(StatColumn.in(table.schema, _).copy(overlookNaN = true))
    val footers = Footers.read(session, files, statColumns)
    val traits = InputTraits.of(footers)
    traits.refusal.foreach(refuse)
    val catalog = StructType(table.schema.filterNot(f => table.partitionSchema.exists(_.name == f.name)))
    val union = SchemaUnion.of(footers, catalog, options.timestampType)
    if (union.losses.nonEmpty && !options.force)
      refuse(union.losses.head + (if (union.losses.length > 1) s" (and ${union.losses.length - 1} more like it)" else ""))
    if (footers.map(_.rows).sum == 0) refuse(s"${table.name} has no rows: there is nothing to cluster.")
    val int96 = statColumns.filter(c => traits.int96Columns.contains(c.path.mkString(".")))
    if (options.timestampType == "keep") int96.headOption.foreach { c =>
      refuse(s"Timestamp column ${c.path.mkString(".")} is stored as INT96, which has no statistics, so nothing " +
        "could skip by it: add WITH (timestampType = 'micros').")
    }
    new Inspection(session, table, columns, footers, statColumns, union.schema, traits)
  }
}
