package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, InputTraits, SchemaUnion, StatColumn}
import org.apache.spark.sql.zorder.table.{ClusterTable, InputRelation, PinnedPartition}

/** What the footers of the selected files say: schema, sizes, statistics. Read once, in one job. */
final class Inspection(
    session: ClassicSession,
    table: ClusterTable,
    val footers: Seq[FileFooter],
    val statistics: RunStatistics,
    union: SchemaUnion,
    val traits: InputTraits) {

  /** The columns of all files together. */
  val dataSchema: StructType = union.schema

  /**
   * Columns that may come back with another type: what was asked for, losses that were forced, and all of a
   * format that knows how to read its older types.
   */
  def mayChange: Set[String] = {
    val leaves = footers.map(_.schema).distinct.flatMap(_.leaves)
    if (table.managed.isDefined || union.losses.nonEmpty) leaves.map(_.name).toSet
    else leaves.filter(l => l.physical == "INT96" || l.logical.startsWith("TIMESTAMP")).map(_.name).toSet
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

  def footersOf(plan: FilePlan): Seq[FileFooter] = {
    val chosen = plan.files.map(_.path).toSet
    footers.filter(f => chosen(f.file.path))
  }

  /** The rows of the planned partitions, numbered in the plan's order. */
  def relation(plan: FilePlan): InputRelation =
    table.rows(session, plan.partitions.map(_.partition), dataSchema)

  def said: String =
    s"${Said.count(footers.map(_.rows).sum, "row")} in ${Said.count(footers.length.toLong, "file")}, " +
      Said.count(dataSchema.length.toLong, "column")
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
    val traits = InputTraits.of(footers)
    if (table.managed.isEmpty) Spelling.problem(footers).foreach(refuse)
    traits.refusals.headOption.foreach(refuse)
    val union = table.managed.flatMap(_ => table.declared) match {
      case Some(columns) => SchemaUnion.managed(footers, columns, options.timestampType)
      case None => SchemaUnion.of(footers, table.declared, caseSensitive = true, options.timestampType)
    }
    first(union.refusals).foreach(refuse)
    if (!options.force) first(union.losses).foreach { sentence =>
      refuse(s"$sentence WITH (force = true) accepts it.")
    }
    BloomFilters.paths(session, table.name, union.schema, options.bloom)
    session.conf.set(PinnedSession.TimestampType, union.timestamps)
    if (footers.map(_.rows).sum == 0) refuse(s"${table.name} has no rows: there is nothing to cluster.")
    val int96 =
      statistics.columns.take(statistics.clustering).filter(c => traits.int96.contains(c.path.mkString(".")))
    if (union.timestamps == "INT96") int96.headOption.foreach { c =>
      refuse(
        s"Timestamp column ${c.path.mkString(".")} is stored as INT96, which has no statistics, so nothing " +
          "could skip by it: add WITH (timestampType = 'micros').")
    }
    new Inspection(session, table, footers, statistics, union, traits)
  }

  private def first(sentences: Seq[String]): Option[String] =
    sentences.headOption.map(_ + (if (sentences.length > 1) s" (And ${sentences.length - 1} more like it.)"
                                  else ""))
}
