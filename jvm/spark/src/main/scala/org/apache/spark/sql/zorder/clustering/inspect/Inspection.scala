package org.apache.spark.sql.zorder.clustering.inspect

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.{RunOptions, SessionKeys}
import org.apache.spark.sql.zorder.errors.ZOrderException.{refuse, firstLine}
import org.apache.spark.sql.zorder.clustering.plan.FilePlan
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{PinnedSession, RunContext, RunStatistics}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{
  FileFooter,
  FilePages,
  Footers,
  InputProperties,
  StatColumn,
  UnreadableColumnHints
}
import org.apache.spark.sql.zorder.stats.schema.{FileSpelling, SchemaUnion, TruncatedTimestamps}
import org.apache.spark.sql.zorder.table.{ClusterTable, ManagedColumns}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.storage.Cancellation

/**
 * What the footers of the selected files contain: schema, sizes, statistics.
 *
 * @param blooms
 *   paths in the files of the columns that get Bloom filters
 * @param pages
 *   of some of the files, if they were read with the footers: those of the first columns (`RunStatistics.paged`)
 */
final class Inspection private (
    session: ClassicSession,
    table: ClusterTable,
    val footers: Seq[FileFooter],
    val statistics: RunStatistics,
    union: SchemaUnion,
    val inputProperties: InputProperties,
    val blooms: Seq[Seq[String]],
    options: RunOptions,
    val pages: Seq[FilePages]) {

  /** The columns of all files together. */
  val dataSchema: StructType = union.schema

  /**
   * Whether the rewrite may write a column as this type: because an option asks for it, because `force`
   * accepts the loss, or because the format knows how to read its older types.
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
    val kept = statistics.columns.take(statistics.clustering).filter(staysInt96).map(_.path.mkString("."))
    if (kept.isEmpty) ""
    else
      s" Timestamp column ${kept.mkString(", ")} stays INT96, so that its pages have no bounds; " +
        "WITH (timestampType = 'micros') gives them some."
  }

  /**
   * Whether files have the column as INT96 and get it so again: then their row groups and pages have no
   * bounds of it.
   */
  def staysInt96(column: StatColumn): Boolean =
    table.writesInt96 && union.timestamps == "INT96" && Inspection.isInt96(column, inputProperties)

  /** Bytes of a row group to write: as asked, else as in the input, else Parquet's default. */
  def rowGroupBytes: Long =
    options.rowGroupSize.orElse(inputProperties.rowGroupBytes).getOrElse(128L << 20)

  /** Whether the rows of a file are ordered by its pages. */
  def ordersPages: Boolean =
    table.writesPagesInOrder && SessionKeys.PagesEnabled.orDefault(session.sessionState.conf)

  /** Whether the writer can end a row group after a number of rows. */
  def countsRowGroups: Boolean = table.countsRowGroups

  /** Codec to write: as asked, else as in the input; None for the session's. */
  def codec: Option[String] = options.codec.orElse(inputProperties.codec)

  val partitions: IndexedSeq[PinnedPartition] =
    footers.map(_.file).groupBy(_.partition).toIndexedSeq.sortBy(_._1).map { case (directory, files) =>
      PinnedPartition(directory, files.sortBy(_.path))
    }

  /** The footers by the paths of their files. */
  lazy val byPath: Map[String, FileFooter] = footers.map(f => f.file.path -> f).toMap

  /** These footers, of files that others have deleted rows of since. */
  def changed(now: Map[String, DataFile]): Inspection = new Inspection(
    session,
    table,
    footers.map(f => now.get(f.file.path).fold(f)(file => f.copy(file = file))),
    statistics,
    union,
    inputProperties,
    blooms,
    options,
    pages)

  def rows(plan: FilePlan): Long = rows(plan.files)

  def rows(partition: PinnedPartition): Long = rows(partition.files)

  /** The rows that are not deleted. */
  def rows(files: Seq[DataFile]): Long =
    files.map(f => byPath(f.path)).map(f => f.rows - f.file.deleted.getOrElse(0L)).sum

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

  /** Reads the footers of these files, and pages of some of them. */
  def read(context: RunContext, files: Seq[DataFile]): Inspection = {
    import context.{options, pinned, statistics, table}
    val (footers, pages) =
      Footers.readWithSomePages(pinned, files, statistics.columns, statistics.paged)
    Inspection(pinned, table, footers, statistics, options, pages)
  }

  /**
   * Refuses files that a run cannot rewrite.
   *
   * @param statistics
   *   with which those of the footers begin
   * @param pages
   *   of some of the files, of the first of these columns
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      footers: Seq[FileFooter],
      statistics: RunStatistics,
      options: RunOptions,
      pages: Seq[FilePages] = Nil): Inspection = {
    val inputProperties = InputProperties.of(footers)
    inputProperties.refusals.headOption.foreach(refused => throw refused)
    // Spark's vectorized reader does not know decimals of few digits as byte strings, its other one does
    if (inputProperties.shortBinaryDecimals)
      session.conf.set(SQLConf.PARQUET_VECTORIZED_READER_ENABLED.key, "false")
    val union = InputSchema.of(session, table, footers, options)
    InputRelation.taken(union.schema.fieldNames.toSeq ++ table.partitionSchema.fieldNames).foreach {
      own =>
        refuse("ZORDER_COLUMN_REFUSED.RESERVED_NAME", "column" -> own, "table" -> table.name)
    }
    val asked = WrittenBloomFilters.paths(session, table.name, union.schema, options.bloom)
    // Iceberg's properties say which columns get some; of Delta and Hudi, the option alone
    val kept = if (table.managed.isDefined) Nil
    else WrittenBloomFilters.kept(table.name, union.schema, inputProperties.blooms)
    val blooms = (asked ++ kept).distinct
    session.conf.set(PinnedSession.TimestampType, union.timestamps)
    if (union.timestamps == "INT96" && !table.boundsBesideFiles) int96(statistics, inputProperties).foreach {
      column =>
        refuse("ZORDER_COLUMN_REFUSED.INT96", "column" -> column)
    }
    new Inspection(session, table, footers, statistics, union, inputProperties, blooms, options, pages)
  }

  /** The clustering columns that files store as INT96. */
  private def int96(statistics: RunStatistics, inputProperties: InputProperties): Seq[String] =
    statistics.columns.take(statistics.clustering).filter(isInt96(
      _,
      inputProperties)).map(_.path.mkString("."))

  private def isInt96(column: StatColumn, inputProperties: InputProperties): Boolean =
    inputProperties.int96.exists(_.isOf(column))
}

/**
 * Unites the schemas of the files and refuses what this Spark cannot rewrite; every refusal is one sentence.
 */
private object InputSchema {

  /** The schema of all files together; its `losses` are those that `force` has accepted. */
  def of(
      session: ClassicSession,
      table: ClusterTable,
      footers: Seq[FileFooter],
      options: RunOptions): SchemaUnion = table.managed match {
    case Some(columns) =>
      if (!table.caseSensitive) refuseTwoForOne(table, columns, footers)
      managed(table, footers, options).copy(losses = Nil)
    case None =>
      if (table.caseSensitive) {
        refuseTwoSpellings(footers)
        table.declared.flatMap(FileSpelling.problem(_, footers)).foreach(refused => throw refused)
      }
      val union =
        accepted(SchemaUnion.of(footers, table.declared, table.caseSensitive, options.timestampType))
      refuseUnwritable(session, union.schema)
      TrialRead(session, table, union, footers)
      val losses = union.losses ++ TruncatedTimestamps.losses(session, footers)
      if (!options.force && losses.nonEmpty)
        refuse(
          if (losses.length == 1) "ZORDER_CHOICE_NEEDED.LOSS" else "ZORDER_CHOICE_NEEDED.LOSSES",
          "losses" -> losses.mkString(" "))
      union.copy(losses = losses)
  }

  /** A format that keeps its own schema knows how to read its older files. */
  private def managed(table: ClusterTable, footers: Seq[FileFooter], options: RunOptions): SchemaUnion =
    accepted(table.declared match {
      case Some(columns) => SchemaUnion.managed(footers, columns, options.timestampType)
      case None => SchemaUnion.of(footers, None, caseSensitive = true, options.timestampType)
    })

  /** A file with two columns that the table takes for one: a rewrite could keep only one of them. */
  private def refuseTwoForOne(table: ClusterTable, columns: ManagedColumns, footers: Seq[FileFooter]): Unit =
    footers.groupBy(_.schema).values.map(_.head).toSeq.sortBy(_.file.path).foreach { footer =>
      val named = footer.schema.leaves.flatMap { leaf =>
        // by name there is a part of the key for each part of the path, by id there is one id
        columns.stored(leaf).toSeq.filter(_.length == leaf.column.length)
          .flatMap(key => key.inits.toSeq.zip(leaf.column.inits.toSeq)).filter(_._1.nonEmpty)
      }
      named.groupBy(_._1).values.map(_.map(_._2.mkString(".")).distinct.sorted).filter(_.length > 1)
        .toSeq.sortBy(_.head).headOption.foreach { same =>
          refuse(
            "ZORDER_SCHEMA_CONFLICT.TWO_FOR_ONE",
            "file" -> footer.file.path,
            "columns" -> same.mkString(" and "),
            "table" -> table.name)
        }
    }

  /** Refuses the files by the first problem; the others are suppressed errors of it. */
  private def accepted(union: SchemaUnion): SchemaUnion = {
    union.refusals.headOption.foreach { first =>
      union.refusals.tail.foreach(first.addSuppressed)
      throw first
    }
    union
  }

  /**
   * Columns of different files that differ in case only: Spark could not read a table with both. A file that
   * contains both means two columns.
   */
  private def refuseTwoSpellings(footers: Seq[FileFooter]): Unit = {
    val perSchema = footers.groupBy(_.schema).toSeq.map { case (schema, files) =>
      schema.leaves.flatMap(l => l.column.inits.filter(_.nonEmpty)).distinct -> files.head.file.path
    }
    val spellings = perSchema.flatMap(_._1).distinct.groupBy(_.map(_.toLowerCase(Locale.ROOT)))
    spellings.values.filter(_.length > 1)
      .find(same => !perSchema.exists { case (columns, _) => columns.count(same.contains) > 1 })
      .foreach { same =>
        val all = same.map(c => s"${c.mkString(".")} in ${perSchema.find(_._1.contains(c)).get._2}").sorted
        refuse("ZORDER_SCHEMA_CONFLICT.TWO_SPELLINGS", "spellings" -> all.take(2).mkString(" and "))
      }
  }

  private val TimeType = "spark.sql.timeType.enabled"

  /** TIME columns: newer Spark versions always read them, but write them only if a setting allows it. */
  private def refuseUnwritable(session: ClassicSession, schema: StructType): Unit =
    if (session.conf.getOption(TimeType).contains("false"))
      schema.find(_.dataType.existsRecursively(_.typeName.startsWith("time("))).foreach { f =>
        refuse(
          "ZORDER_SESSION_REFUSED.TIME_TYPE",
          "column" -> f.name,
          "type" -> f.dataType.catalogString,
          "setting" -> TimeType)
      }
}

/**
 * Whether this Spark can read columns that not every Spark reads: those with rare codecs or encodings, and
 * those that are wider in other files. Spark is asked to read one file of each kind, and those columns alone;
 * of the files that Spark itself writes, none is in doubt, so no job is run for them.
 */
private object TrialRead {

  /** A column in doubt, and what a failure would be owed to: a codec, an encoding, or (empty) its type. */
  final private case class DoubtfulColumn(column: String, packing: String)

  /** Refuses the first column that cannot be read. */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      union: SchemaUnion,
      footers: Seq[FileFooter]): Unit = {
    val doubtful = footers.map(f => f -> doubts(f, union)).filter(_._2.nonEmpty)
    val oneOfEach = doubtful.groupBy { case (f, d) => (f.schema, d) }.values
      .map(_.minBy { case (f, _) => (f.file.length, f.file.path) }).toSeq.sortBy(_._1.file.path)
    def failed(footer: FileFooter, of: Set[DoubtfulColumn]): Option[Throwable] = {
      val columns = StructType(union.schema.filter(f => of.exists(_.column == f.name)))
      failure(session, table, footer, columns)
    }
    oneOfEach.foreach { case (footer, doubts) =>
      failed(footer, doubts).foreach { why =>
        val (culprit, cause) =
          if (doubts.size == 1) (doubts.head, why)
          else
            doubts.toSeq.sortBy(d => (d.column, d.packing)).iterator.map(d =>
              failed(footer, Set(d)).map(d -> _))
              .collectFirst { case Some(found) => found }.getOrElse(doubts.head -> why)
        refuseColumn(footer, culprit, union, cause, session.sessionState.conf.parquetVectorizedReaderEnabled)
      }
    }
  }

  private def doubts(footer: FileFooter, union: SchemaUnion): Set[DoubtfulColumn] =
    footer.packed.map { case (column, packing) => DoubtfulColumn(column, packing) } ++
      widened(footer, union).map(DoubtfulColumn(_, ""))

  private def widened(footer: FileFooter, union: SchemaUnion): Set[String] =
    if (union.widened.isEmpty) Set.empty else union.widened.getOrElse(footer.schema, Set.empty)

  /** What came of reading the columns of the file. */
  private def failure(
      session: ClassicSession,
      table: ClusterTable,
      footer: FileFooter,
      columns: StructType): Option[Throwable] =
    try {
      val file = PinnedPartition(footer.file.partition, Seq(footer.file))
      val rows = table.rows(session, IndexedSeq(file), columns)
      val wanted = rows.output.filter(a => columns.fieldNames.contains(a.name))
      Shims.ofRows(session, Project(wanted, rows.plan)).queryExecution.toRdd.foreach(_ => ())
      None
    } catch { case NonFatal(e) if !Cancellation.ofJob(e) && !UnreadableFiles.isNotOpened(e) => Some(e) }

  private def refuseColumn(
      footer: FileFooter,
      doubt: DoubtfulColumn,
      union: SchemaUnion,
      e: Throwable,
      vectorized: Boolean): Nothing =
    if (doubt.packing.nonEmpty)
      refuse(
        "ZORDER_FILE_REFUSED.PACKING",
        "column" -> doubt.column,
        "file" -> footer.file.path,
        "packing" -> doubt.packing,
        "cause" -> firstLine(ExceptionUtils.getThrowables(e).last),
        "instead" -> UnreadableColumnHints.otherPacking(doubt.packing, vectorized))
    else
      refuse(
        "ZORDER_SCHEMA_CONFLICT.NOT_READ_AS_WIDER",
        "column" -> doubt.column,
        "file" -> footer.file.path,
        "type" -> footer.schema.spark(doubt.column).dataType.catalogString,
        "otherType" -> union.schema(doubt.column).dataType.catalogString)
}
