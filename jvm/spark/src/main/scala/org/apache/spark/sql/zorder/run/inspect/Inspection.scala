package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.{RunOptions, SessionKeys}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.run.plan.FilePlan
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.run.request.PinnedSession
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, InputProperties, StoredAs}
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * What the footers of the selected files contain: schema, sizes, statistics. Read once, in one job.
 *
 * @param blooms
 *   paths in the files of the columns that get Bloom filters
 */
final class Inspection private (
    session: ClassicSession,
    table: ClusterTable,
    val footers: Seq[FileFooter],
    val statistics: RunStatistics,
    union: SchemaUnion,
    val traits: InputProperties,
    val blooms: Seq[Seq[String]]) {

  /** The columns of all files together. */
  val dataSchema: StructType = union.schema

  /**
   * Whether the rewrite may write a column as this type: because an option asks for it, because `force` accepts
   * the loss, or because the format knows how to read its older types.
   */
  def mayBecome(column: String, written: String): Boolean =
    table.managed.isDefined || union.becomes.get(column).contains(written)

  /** What a rewrite changes in files of other writers; ends the reason of a result. */
  def changesSummary: String = {
    val accepted = if (union.losses.isEmpty) "" else s" Accepted by force: ${union.losses.mkString(" ")}"
    val relaxed =
      if (union.relaxed.isEmpty) ""
      else s" A rewrite makes required columns optional: ${union.relaxed.mkString(", ")}."
    accepted + relaxed + int96
  }

  /** Bounds beside the files serve files alone. */
  private def int96: String = {
    val kept = if (union.timestamps == "INT96") Inspection.int96(statistics, traits) else Nil
    if (kept.isEmpty) ""
    else
      s" Timestamp column ${kept.mkString(", ")} stays INT96, so that its pages have no bounds; " +
        "WITH (timestampType = 'micros') gives them some."
  }

  /** Bytes of a row group to write: as in the input, else Parquet's default. */
  def rowGroupBytes: Long = traits.rowGroupBytes.getOrElse(128L << 20)

  /** Whether the rows of a file are ordered by its pages. */
  def ordersPages: Boolean =
    table.writesPagesInOrder && SessionKeys.PagesEnabled.orDefault(session.sessionState.conf)

  /** Whether the writer can end a row group after a number of rows. */
  def countsRowGroups: Boolean = table.countsRowGroups

  /** Codec to write: as in the input, else the session's. */
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

  /** No file has rows: such a table waits for its first rows and is not refused. */
  def isEmpty: Boolean = partitions.forall(rows(_) == 0)

  def footersOf(plan: FilePlan): Seq[FileFooter] = {
    val chosen = plan.files.map(_.path).toSet
    footers.filter(f => chosen(f.file.path))
  }

  /** The rows of the planned partitions, numbered in the plan's order. */
  def relation(plan: FilePlan): InputRelation =
    table.rows(session, plan.partitions.map(_.partition), dataSchema)

  def summary: String =
    s"${HumanReadable.count(footers.map(_.rows).sum, "row")} in ${HumanReadable.count(footers.length.toLong, "file")}, " +
      HumanReadable.count(dataSchema.length.toLong, "column")
}

object Inspection {

  /**
   * Reads the footers and refuses files that a run cannot rewrite.
   *
   * @param statistics
   *   to read; if the selection has footers already, their statistics begin with these
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      selected: Selection,
      statistics: RunStatistics,
      options: RunOptions): Inspection = {
    val footers = selected.footers.getOrElse(Footers.read(session, selected.files, statistics.columns))
    val traits = InputProperties.of(footers)
    traits.refusals.headOption.foreach(refuse)
    // Spark's vectorized reader does not know decimals of few digits as byte strings, its other one does
    if (traits.shortBinaryDecimals) session.conf.set(SQLConf.PARQUET_VECTORIZED_READER_ENABLED.key, "false")
    val union = InputSchema.of(session, table, footers, options)
    InputRelation.taken(union.schema.fieldNames.toSeq ++ table.partitionSchema.fieldNames).foreach {
      own =>
        refuse(
          s"Column $own of ${table.name} has a name that a run needs for a column of its own: rename it.")
    }
    val blooms = BloomFilters.paths(session, table.name, union.schema, options.bloom)
    session.conf.set(PinnedSession.TimestampType, union.timestamps)
    if (union.timestamps == "INT96" && !table.boundsBesideFiles) int96(statistics, traits).foreach {
      column =>
        refuse(
          s"Timestamp column $column is stored as INT96, which has no statistics, so nothing " +
            "could skip by it: add WITH (timestampType = 'micros').")
    }
    new Inspection(session, table, footers, statistics, union, traits, blooms)
  }

  /** The clustering columns that files store as INT96. */
  private def int96(statistics: RunStatistics, traits: InputProperties): Seq[String] =
    statistics.columns.take(statistics.clustering).filter(_.stored match {
      case StoredAs.Named(path) => traits.int96.contains(path.mkString("."))
      case _ => false
    }).map(_.path.mkString("."))
}
