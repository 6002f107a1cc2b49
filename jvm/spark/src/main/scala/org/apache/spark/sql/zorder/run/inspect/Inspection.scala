package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.run.plan.FilePlan
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, PinnedSession}
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, InputProperties, StatColumn}
import org.apache.spark.sql.zorder.stats.schema.{SchemaUnion, TruncatedTimestamps}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/** What the footers of the selected files say: schema, sizes, statistics. Read once, in one job. */
final class Inspection(
    session: ClassicSession,
    table: ClusterTable,
    val footers: Seq[FileFooter],
    val statistics: RunStatistics,
    union: SchemaUnion,
    losses: Seq[String],
    val traits: InputProperties) {

  /** The columns of all files together. */
  val dataSchema: StructType = union.schema

  /**
   * Whether a column may come back as this type: what was asked for, losses that were forced, and whatever a
   * format that knows how to read its older types writes.
   */
  def mayBecome(column: String, written: String): Boolean =
    table.managed.isDefined || union.becomes.get(column).contains(written)

  /** What is not as it was in the files of other writers, to end the reason of a result with. */
  def changesSaid: String = {
    val accepted = if (losses.isEmpty) "" else s" Accepted by force: ${losses.mkString(" ")}"
    val relaxed =
      if (union.relaxed.isEmpty) ""
      else s" A rewrite makes required columns optional: ${union.relaxed.mkString(", ")}."
    accepted + relaxed
  }

  /** Bytes of a row group to write: what the input has, else Parquet's own default. */
  def rowGroupBytes: Long = traits.rowGroupBytes.getOrElse(128L << 20)

  /** Codec to write: what the input has, else the session's. */
  def codec: Option[String] = traits.codec

  val partitions: IndexedSeq[PinnedPartition] =
    footers.map(_.file).groupBy(_.partition).toIndexedSeq.sortBy(_._1).map { case (directory, files) =>
      PinnedPartition(directory, files.sortBy(_.path))
    }

  private lazy val rowsByPath: Map[String, Long] =
    footers.map(f => f.file.path -> (f.rows - f.file.deleted.getOrElse(0L))).toMap

  def rows(plan: FilePlan): Long = plan.files.map(f => rowsByPath(f.path)).sum

  def rows(partition: PinnedPartition): Long = partition.files.map(f => rowsByPath(f.path)).sum

  def rows(files: Seq[DataFile]): Long = files.map(f => rowsByPath(f.path)).sum

  /** Files without rows are a table to wait for, not one to refuse. */
  def isEmpty: Boolean = partitions.forall(rows(_) == 0)

  def footersOf(plan: FilePlan): Seq[FileFooter] = {
    val chosen = plan.files.map(_.path).toSet
    footers.filter(f => chosen(f.file.path))
  }

  /** The rows of the planned partitions, numbered in the plan's order. */
  def relation(plan: FilePlan): InputRelation =
    table.rows(session, plan.partitions.map(_.partition), dataSchema)

  def said: String =
    s"${HumanReadable.count(footers.map(_.rows).sum, "row")} in ${HumanReadable.count(footers.length.toLong, "file")}, " +
      HumanReadable.count(dataSchema.length.toLong, "column")
}

object Inspection {

  /** Statistics of the clustering columns, good enough for a forecast. */
  def statColumns(schema: StructType, columns: Seq[ClusterColumn]): Seq[StatColumn] =
    columns.flatMap(_.path).map(StatColumn.in(schema, _).copy(overlookNaN = true))

  /** With the statistics of the clustering columns alone. */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      schema: StructType,
      selected: Selection,
      columns: Seq[ClusterColumn],
      options: RunOptions): Inspection = {
    val stats = statColumns(schema, columns)
    apply(session, table, selected, RunStatistics(stats, stats.length, 0), options)
  }

  /**
   * @param statistics
   *   to read; if the selection has footers, they begin with these
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      selected: Selection,
      statistics: RunStatistics,
      options: RunOptions): Inspection = {
    val footers = selected.footers.getOrElse(Footers.read(session, selected.files, statistics.columns))
    val traits = InputProperties.of(footers)
    if (table.managed.isEmpty) ColumnSpelling.problem(footers).foreach(refuse)
    traits.refusals.headOption.foreach(refuse)
    val union = table.managed.flatMap(_ => table.declared) match {
      case Some(columns) => SchemaUnion.managed(footers, columns, options.timestampType)
      case None => SchemaUnion.of(footers, table.declared, caseSensitive = true, options.timestampType)
    }
    first(union.refusals).foreach(refuse)
    val losses =
      if (table.managed.isDefined) Nil
      else {
        DisabledTypes.problem(session, union.schema).foreach(refuse)
        TrialRead.problem(session, table, union, footers).foreach(refuse)
        union.losses ++ TruncatedTimestamps.losses(session, footers)
      }
    if (!options.force && losses.nonEmpty)
      refuse(
        s"${losses.mkString(" ")} WITH (force = true) accepts ${if (losses.length == 1) "it" else "all this"}.")
    BloomFilters.paths(session, table.name, union.schema, options.bloom)
    session.conf.set(PinnedSession.TimestampType, union.timestamps)
    val int96 =
      statistics.columns.take(statistics.clustering).filter(c => traits.int96.contains(c.path.mkString(".")))
    if (union.timestamps == "INT96") int96.headOption.foreach { c =>
      refuse(
        s"Timestamp column ${c.path.mkString(".")} is stored as INT96, which has no statistics, so nothing " +
          "could skip by it: add WITH (timestampType = 'micros').")
    }
    new Inspection(session, table, footers, statistics, union, losses, traits)
  }

  private def first(sentences: Seq[String]): Option[String] =
    sentences.headOption.map(_ + (if (sentences.length > 1) s" (And ${sentences.length - 1} more like it.)"
                                  else ""))
}
