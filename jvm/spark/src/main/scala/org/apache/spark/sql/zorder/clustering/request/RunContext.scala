package org.apache.spark.sql.zorder.clustering.request

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}
import org.apache.spark.sql.zorder.conf.{OptionSetting, RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunMetrics, RunReport, RunStatus}
import org.apache.spark.sql.zorder.clustering.select.{Selection, WhereCondition}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.querylog.QueryLog
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{Footers, StatColumn}
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.{ClusterTable, ClusteredBy}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.build.CurveRegistry

/**
 * What every step of one batch needs to know: the statement, resolved against the snapshot of the table that
 * the batch works on.
 *
 * @param user
 *   the session of the statement; reading and writing is done in `pinned`
 * @param by
 *   the clustering columns as the statement or the table names them
 * @param log
 *   the queries of the query log on this table, read once in a statement
 * @param startedMs
 *   when the batch began
 * @param files
 *   all files of the snapshot
 * @param columns
 *   the clustering columns, bound to the schema
 * @param statistics
 *   what to read from footers
 */
final private[clustering] case class RunContext(
    user: ClassicSession,
    request: ClusterRequest,
    table: ClusterTable,
    options: RunOptions,
    progress: Progress,
    by: Seq[String],
    log: Option[QueryLog],
    startedMs: Long,
    files: Seq[DataFile],
    schema: StructType,
    columns: Seq[ClusterColumn],
    where: Option[WhereCondition],
    statistics: RunStatistics) {

  lazy val pinned: ClassicSession = PinnedSession.of(user, table.settings)

  /**
   * The clustering columns, bound to the rows of some files. Where the files have a column by another name or
   * of another type than the table, they are analysed anew.
   */
  def columnsOf(rows: LogicalPlan): Seq[ClusterColumn] = {
    val bound = columns.map(_.boundTo(rows.output))
    if (bound.forall(_.isDefined)) bound.flatten
    else ColumnResolver.on(user, table.name, rows, table.constantColumns, by)
  }

  /**
   * The result row as far as it is known when files are selected.
   *
   * @param layout
   *   what it says about the layout
   * @param partitions
   *   number of partitions that are clustered when the batch is committed
   */
  def report(selected: Selection, layout: String = "", partitions: Int = 0): RunReport = {
    val metrics = RunMetrics(
      partitionsOptimized = if (table.partitioned) partitions.toLong else 0,
      filesConsidered = selected.considered.toLong,
      filesSkipped = selected.leftAlone.toLong,
      startTimeMs = startedMs)
    RunReport(table.root.toString, RunStatus.NothingToDo, "", progress.runId, layout, metrics)
  }

  /** A table without rows is no failure: a nightly job on it ends without an error. */
  def tooSmall(lacks: String, selected: Selection): RunReport = report(selected).copy(
    status = RunStatus.TooSmall,
    reason = s"${table.name} has no $lacks: there is nothing to cluster yet.")

  /** The name of the curve that the layout is made by. */
  def curve: String = request.curve.getOrElse(CurveRegistry.Auto.name)

  /** Of all files of the snapshot: they decide how large a file is by default. */
  lazy val tableBytes: Long = files.map(_.length).sum

  /** Whether WHERE also takes files that only overlap the condition. */
  def overlap: Boolean = options.overlap == "include"
}

private[clustering] object RunContext {

  /**
   * Resolves the statement against the table as a batch finds it.
   *
   * @param before
   *   the condition of the batch before
   */
  def on(
      table: ClusterTable,
      user: ClassicSession,
      request: ClusterRequest,
      options: RunOptions,
      progress: Progress,
      log: => Option[QueryLog],
      before: Option[WhereCondition]): RunContext = {
    val by = columnsNamed(request, table)
    val queries = log
    val startedMs = System.currentTimeMillis()
    // without WHERE, and in a copy, what the looser list lacks would be left out without a word
    val files = if (request.where.isDefined && request.into.isEmpty) table.selectable() else table.files()
    if (request.changes) table.recover()
    val asked = queries.fold(Set.empty[String])(_.columns.toSet)
    def resolved(schema: StructType): RunContext = {
      val columns = ColumnResolver.resolve(user, table, schema, by)
      if (request.into.isEmpty) table.refusalOfColumns(columns.map(_.sql)).foreach(refused => throw refused)
      if (!options.force && request.into.isEmpty) {
        ColumnResolver.refuseElements(columns)
        table.refusalOfBounds(columns.flatMap(_.path)).foreach(refused => throw refused)
      }
      val partitionColumns = table.partitionSchema.fieldNames.toSeq
      val where = before.flatMap(_.over(schema, partitionColumns)).orElse(
        request.where.map(WhereCondition.resolve(user, table.name, schema, partitionColumns, _)))
      val statistics = RunStatistics.of(schema, table.constantColumns, columns, asked, files.length)
      RunContext(
        user,
        request,
        table,
        options,
        progress,
        by,
        queries,
        startedMs,
        files,
        schema,
        columns,
        where,
        statistics)
    }
    progress.step("schema") {
      try resolved(table.schema)
      catch {
        case e: ZOrderException if table.declared.isEmpty =>
          resolved(wholeSchema(user, table, files).getOrElse(throw e))
      }
    }(c => HumanReadable.count(c.schema.length.toLong, "column"))
  }

  /** The statement's list, else the columns that the table itself names. */
  private def columnsNamed(request: ClusterRequest, table: ClusterTable): Seq[String] =
    if (request.by.nonEmpty) request.by
    else
      ClusteredBy.of(table).getOrElse(
        refuse(
          "ZORDER_INVALID_COLUMNS.NONE_OF_THE_TABLE",
          "table" -> table.name,
          "clause" -> request.columnsClause,
          "property" -> ClusteredBy.Property))

  /**
   * The schema of a path is taken from one file: a column that this one lacks may be in others. None if the
   * others have no further column.
   */
  private def wholeSchema(
      session: ClassicSession,
      table: ClusterTable,
      files: Seq[DataFile]): Option[StructType] = {
    val union = SchemaUnion.of(Footers.read(session, files), None, caseSensitive = true)
    val whole = StructType(union.schema ++ table.partitionSchema)
    if (paths(whole).toSet.subsetOf(paths(table.schema).toSet)) None else Some(whole)
  }

  /** The paths of all columns and of the fields inside them, at any depth. */
  private def paths(dataType: DataType, above: Seq[String] = Nil): Seq[Seq[String]] = dataType match {
    case s: StructType => s.fields.toSeq.flatMap(f => (above :+ f.name) +: paths(f.dataType, above :+ f.name))
    case a: ArrayType => paths(a.elementType, above :+ "element")
    case m: MapType => paths(m.keyType, above :+ "key") ++ paths(m.valueType, above :+ "value")
    case _ => Nil
  }
}

/**
 * The columns whose statistics a run reads from footers: first the clustering columns, then the columns that
 * clustering expressions are computed from, then others.
 *
 * @param clustering
 *   how many are of the first kind
 * @param bases
 *   how many are of the second kind
 */
final private[zorder] case class RunStatistics(columns: Seq[StatColumn], clustering: Int, bases: Int) {
  def baseNumbers: Range = clustering until clustering + bases
  def otherNumbers: Range = baseNumbers.end until columns.length

  /** How many of the columns a run shows pages of, the first ones. */
  def paged: Int = clustering + bases
}

private[zorder] object RunStatistics {

  /** The most other columns that are read. */
  private val MostColumns = 64

  /** The most statistics of other columns that the driver holds. */
  private val MostZones = 1000000

  /**
   * @param asked
   *   columns of the query log, as SQL text: they come first among the others
   * @param files
   *   number of files whose footers are read
   */
  def of(
      schema: StructType,
      partitionColumns: Seq[String],
      columns: Seq[ClusterColumn],
      asked: Set[String],
      files: Int): RunStatistics = {
    val clustering = columns.flatMap(_.path)
    val leaves = ColumnResolver.orderedPaths(schema.filterNot(f => partitionColumns.contains(f.name)))
    // a column without an order, such as an array, has no statistics
    val bases = columns.flatMap(c => ColumnPath.within(c.expression)).distinct.diff(clustering)
      .filter(leaves.contains)
    val (first, last) = leaves.partition(p => asked(ColumnPath.sql(p)))
    val room = math.min(MostColumns, mostColumns(files))
    val others = (first ++ last).filterNot((clustering ++ bases).contains).take(room)
    RunStatistics(statColumns(schema, clustering ++ bases ++ others), clustering.length, bases.length)
  }

  /** How many columns' statistics of so many files the driver holds. */
  def mostColumns(files: Int): Int = MostZones / math.max(1, files)

  /** The statistics of the clustering columns alone. */
  def ofClustering(schema: StructType, columns: Seq[ClusterColumn]): RunStatistics = {
    val stats = statColumns(schema, columns.flatMap(_.path))
    RunStatistics(stats, stats.length, 0)
  }

  private def statColumns(schema: StructType, paths: Seq[Seq[String]]): Seq[StatColumn] =
    paths.map(StatColumn.in(schema, _).copy(overlookNaN = true))
}

/** The options of a run on a table. Advice uses the same ones, since it is about such a run. */
private[zorder] object TableOptions {

  /** Statement over table property over session over the format's own property over default. */
  def of(table: ClusterTable, statement: Seq[OptionSetting], session: ClassicSession): RunOptions = {
    val formats = for {
      (property, name) <- table.formatOptions.toSeq.sorted
      text <- table.properties.get(property)
    } yield ZOrderOption.ofFormat(name, property, text)
    RunOptions.merge(statement, table.properties, session.conf.getAll, formats)
  }
}
