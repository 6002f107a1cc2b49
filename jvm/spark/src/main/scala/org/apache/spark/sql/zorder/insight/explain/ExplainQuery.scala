package org.apache.spark.sql.zorder.insight.explain

import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{Expression, IsNotNull, PlanExpression}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{
  CommandExecutionMode,
  FileSourceScanExec,
  SparkPlan,
  SubqueryAdaptiveBroadcastExec
}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, FileIndex, PartitioningAwareFileIndex}
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.{RemainingFiles, ScanIndexes}
import org.apache.spark.sql.zorder.skipping.index.StatisticsIndex
import org.apache.spark.sql.zorder.skipping.join.AfterKeysExec
import org.apache.spark.sql.zorder.skipping.make.IndexActions
import org.apache.spark.sql.zorder.skipping.scan.{
  NarrowedFileIndex,
  PruningFileIndex,
  ScansOfFormats,
  SkippingFileIndex,
  SkippingUsage
}
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.file.{DataFile, PathText}
import org.apache.spark.sql.zorder.querylog.PlansOfStatement

/** What the scans of a query skip, and why not more. The query is planned and not run. */
object ExplainQuery extends AdaptiveSparkPlanHelper {

  val schema: StructType = new StructType()
    .add("scan", IntegerType).add("table", StringType).add("filter", StringType)
    .add("considered", LongType).add("pruned", LongType).add("pruned_further", LongType)
    .add("kept", LongType).add("pruned_by", StringType).add("reason", StringType)
    .add("files", LongType).add("summary", StringType)

  private val NoScan = Row.fromSeq(schema.map(_.name match {
    case "summary" =>
      "The query opens no file: an index or the optimizer has the answer, or it reads no table of files."
    case _ => null
  }))

  private val SparksNodes = "org.apache.spark.sql.execution."
  private val HivesScan = "org.apache.spark.sql.hive.execution.HiveTableScanExec"
  private val CometsBroadcast = "org.apache.spark.sql.comet.CometBroadcastExchangeExec"

  /**
   * One row for each scan, filter NULL, and one behind it for each of its filters. A query without a scan has one row, with
   * a sentence alone.
   */
  def ofText(session: ClassicSession, text: String): Seq[Row] =
    of(session, session.sessionState.sqlParser.parsePlan(text))

  /**
   * The rows for a plan that is parsed or analysed.
   *
   * @param only
   *   rows of this table's scans only
   */
  def of(session: ClassicSession, plan: LogicalPlan, only: Option[TableRef] = None): Seq[Row] =
    SkippingUsage.uncounted(planned(session, plan, only))

  private def planned(session: ClassicSession, plan: LogicalPlan, only: Option[TableRef]): Seq[Row] = {
    val analyzed = session.sessionState.executePlan(plan, CommandExecutionMode.SKIP).analyzed
    val physical = PlansOfStatement(analyzed)
      .map(session.sessionState.executePlan(_, CommandExecutionMode.SKIP).executedPlan)
    val files = new FileScans(session, only.map(IndexActions.plain(session, _).root))
    val found = physical.flatMap(scans(files, _))
    if (found.isEmpty && only.isEmpty) Seq(NoScan)
    else
      found.zipWithIndex.flatMap { case (scan, i) =>
        rows(i + 1, scan, if (found.length == 1) "The query" else s"Scan ${i + 1}")
      }
  }

  private def scans(files: FileScans, plan: SparkPlan): Seq[ExplainedScan] = {
    // what another scan waits for stands in the plan a second time, and is read once
    val waitedFor = collectWithSubqueries(plan) {
      case a: AfterKeysExec => collectLeaves(a.right)
      case s: SubqueryAdaptiveBroadcastExec => collectLeaves(s.child)
    }.flatten
    val withoutKeys = if (files.isOff) Nil else besideComets(plan)
    collectWithSubqueries(plan) { case p if !waitedFor.exists(_ eq p) => p -> sparksOwn(p) }.flatMap {
      // the query that fills the cache reads what was asked to be cached
      case (_, s: InMemoryTableScanExec) if !s.relation.cacheBuilder.isCachedColumnBuffersLoaded =>
        scans(files, s.relation.cachedPlan)
      case (p, own) =>
        val found = explained(files).lift(own)
        if (withoutKeys.exists(_ eq p) && skips(own)) found.map(_.and(FileScans.KeysOfComet)) else found
    }
  }

  /**
   * The scans that are joined with a table which DataFusion Comet broadcasts. Its broadcasts hold no relation of
   * Spark's, whose keys `JoinKeysRule` could read.
   */
  private def besideComets(plan: SparkPlan): Seq[SparkPlan] = collectWithSubqueries(plan) {
    case join if join.children.exists(isCometsBroadcast) && hasKeys(join) =>
      join.children.filterNot(isCometsBroadcast).flatMap { side =>
        val broadcast = collect(side) { case b if isCometsBroadcast(b) => collectLeaves(b) }.flatten
        collectLeaves(side).filterNot(scan => broadcast.exists(_ eq scan))
      }
  }.flatten

  private def isCometsBroadcast(p: SparkPlan): Boolean = p.getClass.getName == CometsBroadcast

  /** Whether rows without a partner are left out. */
  private def hasKeys(join: SparkPlan): Boolean =
    join.productIterator.exists(t => t == Inner || t == LeftSemi)

  private def skips(scan: SparkPlan): Boolean = scan match {
    case s: FileSourceScanExec => s.relation.location.isInstanceOf[PruningFileIndex]
    case s: BatchScanExec => ScansOfFormats.explained(s.scan).isDefined
    case _ => false
  }

  /**
   * A scan as Spark planned it: an accelerator's node, such as Comet's, keeps the one that it stands for as a
   * field.
   */
  private def sparksOwn(p: SparkPlan): SparkPlan =
    if (p.children.nonEmpty || p.getClass.getName.startsWith(SparksNodes)) p
    else p.productIterator.collectFirst { case original: SparkPlan => sparksOwn(original) }.getOrElse(p)

  private def explained(files: FileScans): PartialFunction[SparkPlan, ExplainedScan] = {
    case s: FileSourceScanExec if files.wanted(s) => files.explained(s)
    case s: InMemoryTableScanExec if files.wantsAll =>
      ExplainedScan(
        s.relation.cacheBuilder.tableName.getOrElse("cached rows"),
        None,
        None,
        0,
        Nil,
        "cached: no file is read")
    case s: BatchScanExec if files.wantsAll => files.explained(s)
    case HivesTable(table) if files.wantsAll =>
      ExplainedScan(
        ColumnPath.sql(table.tableMeta.identifier.nameParts),
        None,
        None,
        0,
        Nil,
        FileScans.HivesReader)
  }

  /** The table that Hive's own reader scans. Its class is there only with spark-hive, so its name is asked. */
  private object HivesTable {
    def unapply(p: SparkPlan): Option[HiveTableRelation] =
      if (p.getClass.getName != HivesScan) None
      else p.productIterator.collectFirst { case table: HiveTableRelation => table }
  }

  /** @param who the subject of the sentence about the scan */
  private def rows(number: Int, scan: ExplainedScan, who: String): Seq[Row] = {
    def kept(pruned: Long): Any = scan.considered.map(c => Long.box(c - pruned)).orNull
    val considered: Any = scan.considered.map(Long.box).orNull
    val files: Any = scan.files.map(Long.box).orNull
    val whole = Row(
      number,
      scan.table,
      null,
      considered,
      scan.pruned,
      scan.pruned,
      kept(scan.pruned),
      by(scan.filters.flatMap(_.by).map(_._1).distinct.map(_.name)),
      scan.reason,
      files,
      scan.summary(who).orNull)
    val sums = scan.filters.scanLeft(0L)(_ + _.further).tail
    whole +: scan.filters.zip(sums).filterNot(_._1.isImplied).map { case (f, sum) =>
      Row(
        number,
        scan.table,
        f.filter,
        considered,
        f.pruned,
        f.further,
        kept(sum),
        by(f.by.map { case (cause, files) => s"${cause.name} ($files)" }),
        f.reason,
        files,
        null)
    }
  }

  private def by(causes: Seq[String]): String = causes.mkString(", ")
}

/**
 * What the filters of one scan leave out.
 *
 * @param table
 *   the name with its catalog, or the path
 * @param files
 *   of the table, or of the snapshot that is read; None where nobody has counted them
 * @param considered
 *   files of the partitions that the scan reads, or those that the format has planned; None where they are
 *   not listed by Spark
 * @param pruned
 *   left out by all filters together
 * @param reason
 *   what concerns the scan as a whole: why nothing is skipped, or that entries are stale
 * @param format
 *   the name of the format that has planned the files; None for plain Parquet
 * @param isAtMost
 *   whether the keys of a join leave out partitions when the query runs
 */
final private case class ExplainedScan(
    table: String,
    files: Option[Long],
    considered: Option[Long],
    pruned: Long,
    filters: Seq[FilterCounts],
    reason: String,
    format: Option[String] = None,
    isAtMost: Boolean = false) {

  def and(more: String): ExplainedScan =
    copy(reason = FilterReport.joined(reason, more))

  /**
   * How many files are opened, of how many, and who leaves out the others; None where files are not counted.
   */
  def summary(who: String): Option[String] = considered.map { before =>
    val kept = if (isAtMost) s"at most ${before - pruned}" else (before - pruned).toString
    files match {
      case None =>
        val planner = format.getOrElse("Spark")
        s"$who opens $kept of the ${FilterReport.count(before)} of $table that $planner has planned."
      case Some(all) =>
        val planner = format.getOrElse("partition pruning")
        val ours = if (pruned == 0) "" else s", spark-zorder $kept"
        val left = if (before == all) "" else s": $planner keeps $before of them$ours"
        s"$who opens $kept of ${FilterReport.count(all)} of $table$left."
    }
  }
}

/**
 * What one set of statistics makes of the files that a format has planned.
 *
 * @param left
 *   the files that it does not leave out
 * @param stale
 *   what is said of files that it has no entries of
 */
final private class ExplainedPart(
    counts: Seq[(Expression, FilterCounts)],
    val left: IndexedSeq[DataFile],
    val stale: String) {

  def of(filter: Expression): Option[FilterCounts] = counts.collectFirst { case (`filter`, found) => found }
}

/**
 * Explains the scans of files in a physical plan, from the very filters that they carry.
 *
 * @param only
 *   the root of the only table that is asked for
 */
final private class FileScans(session: ClassicSession, only: Option[Path]) {
  private val why = new MissingInIndex(session)

  def wantsAll: Boolean = only.isEmpty

  def wanted(scan: FileSourceScanExec): Boolean = only.forall { root =>
    val base = PathText.of(root)
    scan.relation.location match {
      case skipping: SkippingFileIndex => PathText.of(skipping.root) == base
      case other => other.rootPaths.exists(p => PathText.isWithin(PathText.of(p), base))
    }
  }

  /** Lists files as the scan would, and runs nothing. */
  def explained(scan: FileSourceScanExec): ExplainedScan = {
    val (laterFilters, partitionFilters) = scan.partitionFilters.partition(FileScans.dynamic)
    val found = planned(scan, partitionFilters)
    if (laterFilters.isEmpty) found
    else found.and(FileScans.LaterPartitions).copy(isAtMost = true)
  }

  private def planned(scan: FileSourceScanExec, partitionFilters: Seq[Expression]): ExplainedScan = {
    def below(skipping: SkippingFileIndex, listing: FileIndex): ScannedFiles = {
      val listed = listing.listFiles(partitionFilters, scan.dataFilters)
        .flatMap(_.files).map(f => DataFile(f.getPath.toString, f.getLen, f.getModificationTime, ""))
      ScannedFiles.below(skipping.root, skipping.index.files, listed.toIndexedSeq)
    }
    scan.relation.location match {
      case skipping: SkippingFileIndex =>
        val files = below(skipping, skipping.wrapped)
        val report = new FilterReport(skipping.index, files, skipping.isUnanswered, partitioning(scan), why)
        val (counts, kept) = report.of(scan.dataFilters)
        val filters = FileScans.marked(scan.dataFilters, counts)
        val reason =
          if (filters.isEmpty) FileScans.NoFilter
          else FilterReport.joined(report.stale, outdated(skipping.index))
        val considered = files.considered
        ExplainedScan(
          name(scan),
          allFiles(scan, skipping.wrapped, partitionFilters, considered),
          Some(considered),
          files.pruned(kept),
          filters,
          reason)
      case rest: RemainingFiles =>
        val files = below(rest.index, rest)
        ExplainedScan(
          name(scan),
          allFiles(scan, rest.index.wrapped, partitionFilters, rest.considered),
          Some(rest.considered),
          rest.considered - files.considered,
          Nil,
          FilterReport.joined(FileScans.Aggregated, files.stale(rest.index.index)))
      case narrowed: NarrowedFileIndex => ofFormat(scan, narrowed, partitionFilters)
      case other =>
        val listed =
          Try(other.listFiles(partitionFilters, scan.dataFilters).map(_.files.size.toLong).sum).toOption
        val format = ScansOfFormats.carriedBy(other)
        val all =
          if (format.isDefined) ScansOfFormats.files(other)
          else listed.flatMap(allFiles(scan, other, partitionFilters, _))
        ExplainedScan(name(scan), all, listed, 0, Nil, whyNot(scan), format.map(_.name))
    }
  }

  /** The files of a plain table; None where a catalog has listed only the partitions that the query reads. */
  private def allFiles(
      scan: FileSourceScanExec,
      index: FileIndex,
      partitionFilters: Seq[Expression],
      considered: Long): Option[Long] = index match {
    case _: PartitioningAwareFileIndex | _: CatalogFileIndex if partitionFilters.isEmpty => Some(considered)
    case listed: PartitioningAwareFileIndex if scan.tableIdentifier.isEmpty =>
      Some(listed.listFiles(Nil, Nil).map(_.files.size.toLong).sum)
    case _ => None
  }

  /** What a format has planned, and what is left of it. */
  private def ofFormat(
      scan: FileSourceScanExec,
      narrowed: NarrowedFileIndex,
      partitionFilters: Seq[Expression]): ExplainedScan = {
    val planned = narrowed.planned(partitionFilters, scan.dataFilters).toIndexedSeq
    val list = narrowed.list
    val ofBounds = list.index(scan.dataFilters).map { case (asked, statistics) =>
      val files = new ScannedFiles(statistics.files, planned, _.path)
      part(
        asked,
        files,
        new FilterReport(statistics, files, list.isUnanswered, partitioning(scan), MissingInFormat))
    }
    // of an index of ours, what it leaves out besides
    val left = ofBounds.fold[IndexedSeq[DataFile]](planned)(_.left)
    val ofIndex = list.own(scan.dataFilters).map { case (answered, own) =>
      val files = new ScannedFiles(own.index.files, left.map(_.copy(modified = 0L)), f => own.key(f.path))
      part(
        answered,
        files,
        new FilterReport(own.index, files, own.isUnanswered, partitioning(scan), MissingInIndexOfFormat))
    }
    val parts = ofBounds.toSeq ++ ofIndex
    val considered = planned.length.toLong
    val all = narrowed.files
    def row(pruned: Long, filters: Seq[FilterCounts], reason: String): ExplainedScan =
      ExplainedScan(name(scan), Some(all), Some(considered), pruned, filters, reason, Some(narrowed.format))
    if (parts.isEmpty) row(0, Nil, if (scan.dataFilters.isEmpty) FileScans.NoFilter else FileScans.OwnFilters)
    else {
      val counts = scan.dataFilters.map { f =>
        parts.flatMap(_.of(f)).reduceOption(_.and(_)).getOrElse(
          FilterCounts(ExplainedFilter.text(f), 0, 0, Nil, "left to the format's own skipping"))
      }
      row(
        considered - parts.last.left.length,
        FileScans.marked(scan.dataFilters, counts),
        FilterReport.joined(FileScans.leftOut(all - considered), ofIndex.fold("")(_.stale)))
    }
  }

  private def part(
      asked: Seq[Expression],
      files: ScannedFiles,
      report: FilterReport): ExplainedPart = {
    val (counts, kept) = report.of(asked)
    new ExplainedPart(asked.zip(counts), files.left(kept), report.stale)
  }

  /** A scan of DataSource V2 has been planned by its format, and then narrowed. */
  def explained(scan: BatchScanExec): ExplainedScan = {
    ScansOfFormats.explained(scan.scan) match {
      case None =>
        val reason = "a scan of DataSource V2, which skips by its own rules if at all"
        ExplainedScan(scan.table.name, None, None, 0, Nil, reason)
      case Some(counts) =>
        val reason =
          if (isOff) FileScans.Off
          else if (counts.by.isEmpty) FileScans.OwnFilters
          else {
            val others = counts.files.fold(0L)(_ - counts.planned)
            FilterReport.joined(FileScans.leftOut(others), s"left out by: ${counts.by.mkString("; ")}")
          }
        ExplainedScan(
          scan.table.name,
          counts.files,
          Some(counts.planned),
          counts.planned - counts.kept,
          Nil,
          reason,
          ScansOfFormats.carriedBy(scan.scan).map(_.name))
    }
  }

  private def partitioning(scan: FileSourceScanExec): Set[String] =
    scan.relation.partitionSchema.fieldNames.toSet

  def isOff: Boolean = !SessionKeys.SkippingEnabled.orDefault(session.sessionState.conf)

  private def outdated(index: StatisticsIndex): String = {
    val names = index.outdated.map(_.sql)
    if (names.isEmpty) ""
    else
      s"made by an older version of spark-zorder, and not used: ${names.mkString(", ")}: run ZORDER REFRESH INDEX"
  }

  private def whyNot(scan: FileSourceScanExec): String =
    if (isOff) FileScans.Off
    else ScansOfFormats.carriedBy(scan.relation.location).fold(notIndexed(scan)) { format =>
      s"the list is ${format.name}'s own: it stays so in a transaction of ${format.name}, and with a version of it that " +
        "we do not know"
    }

  private def notIndexed(scan: FileSourceScanExec): String = {
    val catalog = scan.tableIdentifier.flatMap(i =>
      Try(session.sessionState.catalog.getTableMetadata(i)).toOption.flatMap(_.storage.locationUri))
    session.withActive(new ScanIndexes(session).of(scan.relation, catalog)).fold(
      identity,
      _ => "the session is without the rule that skips files")
  }

  private def name(scan: FileSourceScanExec): String =
    scan.tableIdentifier.map(i => ColumnPath.sql(i.nameParts))
      .getOrElse(scan.relation.location.rootPaths.map((p: Path) => p.toString).mkString(", "))
}

private object FileScans {
  val NoFilter = "no filter on data columns reaches the scan"
  val Aggregated = "the index itself answers for the other files"
  val OwnFilters = "no filter that leaves out files beyond those that the format itself leaves out"
  val LaterPartitions = "the keys of a join or subquery leave out partitions when the query runs"
  val HivesReader: String =
    "read by Hive's reader, which leaves out no file of a partition; Spark's own is used for Parquet " +
      "where spark.sql.hive.convertMetastoreParquet is true"
  val KeysOfComet: String =
    "DataFusion Comet broadcasts the table that it is joined with, so that no keys are known: " +
      "spark.comet.exec.broadcastExchange.enabled = false gives the broadcast back to Spark"
  val Off: String = s"${SessionKeys.SkippingEnabled.key} is false"

  private def leftOut(files: Long): String =
    if (files <= 0) "" else s"the format itself leaves out ${FilterReport.count(files)}"

  /** Marks each `x IS NOT NULL` that leaves out no further file, where another filter names x. */
  private def marked(filters: Seq[Expression], counts: Seq[FilterCounts]): Seq[FilterCounts] = {
    def isNamed(x: Expression, by: Expression): Boolean =
      !by.isInstanceOf[IsNotNull] && by.exists(_.semanticEquals(x))
    filters.zip(counts).map {
      case (IsNotNull(x), f) if f.further == 0 && filters.exists(isNamed(x, _)) => f.copy(isImplied = true)
      case (_, f) => f
    }
  }

  /** Whether the filter is known only at run time. Spark lists files at planning without such filters. */
  private def dynamic(e: Expression): Boolean = e.exists(_.isInstanceOf[PlanExpression[_]])
}
