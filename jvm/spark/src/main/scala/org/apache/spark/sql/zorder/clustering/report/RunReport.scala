package org.apache.spark.sql.zorder.clustering.report

import java.util.concurrent.atomic.AtomicReference

import com.codahale.metrics.{Gauge, MetricRegistry}
import org.apache.hadoop.fs.Path
import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * The one result row of a run and of its dry run. What look-ups and queries read before a run and after it is
 * empty where no layout was fitted.
 *
 * @param reason
 *   of a dry run, without what it begins with
 * @param rebased
 *   what the reason says of rows that others removed meanwhile
 * @param limit
 *   of a dry run that would change the table: why the run would end before its last batch
 */
final case class RunReport(
    path: String,
    status: RunStatus,
    reason: String,
    runId: String,
    layoutChosen: String,
    metrics: RunMetrics,
    columns: Seq[ColumnReport] = Nil,
    queries: Seq[QueryReport] = Nil,
    others: Seq[OtherReport] = Nil,
    alternatives: Seq[AlternativeReport] = Nil,
    rebased: String = "",
    limit: Option[String] = None) {
  def row: Row = new GenericRowWithSchema(
    Array[Any](
      path,
      status.name,
      fullReason,
      runId,
      layoutChosen,
      metrics.row,
      columns.map(_.row),
      queries.map(_.row),
      others.map(_.row),
      alternatives.map(_.row)),
    RunReport.schema)

  def json: String = row.json

  /** This one and a later batch of the same statement: what was written counts, if anything was. */
  def and(later: RunReport): RunReport =
    if (later.status == RunStatus.NothingToDo) this
    else {
      val done = Seq(this, later).map(_.status).find(s => s == RunStatus.Done || s == RunStatus.DryRun)
      // a batch that leaves its files as they are has written nothing
      val counted = Seq(this, later).filter(r => done.forall(_ == r.status))
      val shown = (counted.reverse :+ later :+ this).find(_.columns.nonEmpty).getOrElse(this)
      shown.copy(
        status = done.getOrElse(later.status),
        reason = Seq(reason, later.reason).filter(_.nonEmpty).mkString(" "),
        limit = limit.orElse(later.limit),
        metrics = counted.map(_.metrics).reduce((a, b) =>
          a.and(b, isDry = done.contains(RunStatus.DryRun))).copy(endTimeMs = later.metrics.endTimeMs))
    }

  /** The row of a batch that leaves all files alone. */
  def nothingToDo(why: String): RunReport =
    copy(
      status = RunStatus.NothingToDo,
      reason = why,
      metrics = metrics.copy(filesSkipped = metrics.filesConsidered))

  /** The row of one that was planned, and would gain too little: no row was read to be written. */
  def leftAsItIs: RunReport = copy(
    status = RunStatus.NoGain,
    metrics = metrics.copy(inputBytes = 0, filesSkipped = metrics.filesConsidered))

  /**
   * The row of a dry run that would change the table. (One that would change nothing has the status and the reason of
   * that run.)
   *
   * @param limit
   *   why the run would end before its last batch
   * @param text
   *   what the run would do
   */
  def dryRun(limit: Option[String], text: String): RunReport =
    copy(status = RunStatus.DryRun, reason = text, limit = limit)

  /** The reason in full: that of a dry run begins, once, with the status that the run would have. */
  def fullReason: String =
    if (status != RunStatus.DryRun) reason
    else {
      val end = limit.fold(RunStatus.Done.name)(why => s"${RunStatus.Partial.name}, since $why")
      s"The run would end as $end: $reason"
    }

  /** Adds the times so far: before the commit for the run's record, at the end for the result row. */
  def timed(stepMs: Map[String, Long]): RunReport =
    copy(metrics = metrics.copy(endTimeMs = System.currentTimeMillis(), stepMs = stepMs))

  /** The statement ended before all batches were begun. */
  def partial(why: String): RunReport = copy(status = RunStatus.Partial, reason = s"$reason PARTIAL: $why")
}

object RunReport {
  val schema: StructType = new StructType()
    .add("path", StringType)
    .add("status", StringType)
    .add("reason", StringType)
    .add("run_id", StringType)
    .add("layout_chosen", StringType)
    .add("metrics", RunMetrics.schema)
    .add("columns", ArrayType(ColumnReport.schema))
    .add("queries", ArrayType(QueryReport.schema))
    .add("others", ArrayType(OtherReport.schema))
    .add("alternatives", ArrayType(AlternativeReport.schema))
}

/** How a run ended. Only a conflict and real failures are errors: a no-op is green in a scheduler. */
sealed abstract class RunStatus(val name: String)

object RunStatus {
  case object Done extends RunStatus("DONE")
  case object Partial extends RunStatus("PARTIAL")
  case object DryRun extends RunStatus("DRY_RUN")
  case object NothingToDo extends RunStatus("NOTHING_TO_DO")
  case object NoGain extends RunStatus("NO_GAIN")
  case object TooSmall extends RunStatus("TOO_SMALL")
}

/** What a run did, in numbers: Delta's names first. */
final case class RunMetrics(
    added: Seq[DataFile] = Nil,
    removed: Seq[DataFile] = Nil,
    partitionsOptimized: Long = 0,
    batches: Long = 0,
    filesConsidered: Long = 0,
    filesSkipped: Long = 0,
    startTimeMs: Long = 0,
    endTimeMs: Long = 0,
    rows: Long = 0,
    inputBytes: Long = 0,
    targetFileSize: Long = 0,
    targetFiles: Long = 0,
    sampledRows: Long = 0,
    rowGroups: Long = 0,
    pages: Long = 0,
    cost: RunCost = RunCost(),
    stepMs: Map[String, Long] = Map.empty) {

  /**
   * The metrics of two batches of one statement, which has considered the same files twice. Files that the
   * first added and the second removed count for neither.
   */
  def and(later: RunMetrics, isDry: Boolean): RunMetrics = {
    val (before, after) = (added.map(RunMetrics.place).toSet, later.removed.map(RunMetrics.place).toSet)
    val allRemoved = removed ++ later.removed.filterNot(f => before(RunMetrics.place(f)))
    copy(
      added = added.filterNot(f => after(RunMetrics.place(f))) ++ later.added,
      removed = allRemoved,
      partitionsOptimized = partitionsOptimized + later.partitionsOptimized,
      batches = batches + later.batches,
      filesSkipped =
        math.max(0L, filesConsidered - (if (isDry) planned(later) else allRemoved.length.toLong)),
      endTimeMs = later.endTimeMs,
      rows = rows + later.rows,
      inputBytes = inputBytes + later.inputBytes,
      targetFiles = targetFiles + later.targetFiles,
      sampledRows = sampledRows + later.sampledRows,
      rowGroups = rowGroups + later.rowGroups,
      pages = pages + later.pages,
      cost = cost.and(later.cost),
      stepMs = later.stepMs)
  }

  /** The files that two parts of a dry run would rewrite. */
  private def planned(later: RunMetrics): Long =
    Seq(this, later).map(m => m.filesConsidered - m.filesSkipped).sum

  def row: Row = Row(
    added.length.toLong,
    removed.length.toLong,
    RunMetrics.sizes(added),
    RunMetrics.sizes(removed),
    partitionsOptimized,
    batches,
    filesConsidered,
    filesSkipped,
    startTimeMs,
    endTimeMs,
    rows,
    inputBytes,
    targetFileSize,
    targetFiles,
    sampledRows,
    rowGroups,
    pages,
    cost.bytesToRead,
    cost.bytesToShuffle,
    cost.localDiskBytes,
    stepMs)
}

object RunMetrics {
  private val sizesType = new StructType()
    .add("min", LongType)
    .add("max", LongType)
    .add("avg", DoubleType)
    .add("totalFiles", LongType)
    .add("totalSize", LongType)

  val schema: StructType = new StructType()
    .add("numFilesAdded", LongType)
    .add("numFilesRemoved", LongType)
    .add("filesAdded", sizesType)
    .add("filesRemoved", sizesType)
    .add("partitionsOptimized", LongType)
    .add("numBatches", LongType)
    .add("totalConsideredFiles", LongType)
    .add("totalFilesSkipped", LongType)
    .add("startTimeMs", LongType)
    .add("endTimeMs", LongType)
    .add("rows", LongType)
    .add("inputBytes", LongType)
    .add("targetFileSize", LongType)
    .add("targetFiles", LongType)
    .add("sampledRows", LongType)
    .add("rowGroups", LongType)
    .add("pages", LongType)
    .add("bytesToRead", LongType)
    .add("bytesToShuffle", LongType)
    .add("localDiskBytes", LongType)
    .add("stepMs", MapType(StringType, LongType))

  /** Formats write the scheme or leave it out. */
  private def place(file: DataFile): String = new Path(file.path).toUri.getPath

  private def sizes(files: Seq[DataFile]): Row =
    if (files.isEmpty) Row(null, null, 0.0, 0L, 0L)
    else {
      val bytes = files.map(_.length)
      Row(bytes.min, bytes.max, bytes.sum.toDouble / bytes.length, bytes.length.toLong, bytes.sum)
    }
}

/**
 * What a run will need, estimated before it starts.
 *
 * @param bytesToRead
 *   the files once, and the sampled columns once more; with `verify = 'checksum'` the files twice more
 * @param bytesToShuffle
 *   an estimate to within a factor of two: rows times the width of one in Spark's row format, less what LZ4
 *   saves on neighbouring rows, which are the bytes that the min and max of a column have in common. Nothing
 *   is subtracted if `spark.shuffle.compress` is off
 * @param localDiskBytes
 *   of all executors together: the shuffle files, and as much again for spills that are merged into them
 */
final case class RunCost(bytesToRead: Long = 0, bytesToShuffle: Long = 0, localDiskBytes: Long = 0) {

  /** The cost of two batches that run one after the other. The shuffle files of both may exist at once. */
  def and(later: RunCost): RunCost = RunCost(
    bytesToRead + later.bytesToRead,
    bytesToShuffle + later.bytesToShuffle,
    localDiskBytes + later.localDiskBytes)
}

/** One clustering column in the result. */
final case class ColumnReport(name: String, files: Shares, rowGroups: Shares, pages: Shares) {
  def row: Row = Row(name, files.row, rowGroups.row, pages.row)
}

object ColumnReport {
  val schema: StructType = new StructType()
    .add("name", StringType)
    .add("files", Shares.schema)
    .add("row_groups", Shares.schema)
    .add("pages", Shares.schema)
}

/**
 * The queries of a log that ask the same columns in the same way, in the result.
 *
 * @param query
 *   their filter without values, as `a = ? AND b BETWEEN ? AND ?`
 * @param weight
 *   their part of the log, 0 to 1
 */
final case class QueryReport(query: String, weight: Double, files: Shares, rowGroups: Shares, pages: Shares) {
  def row: Row = Row(query, weight, files.row, rowGroups.row, pages.row)
}

object QueryReport {

  /** So many of the heaviest are shown; all of them count. */
  val Most = 100

  val schema: StructType = new StructType()
    .add("query", StringType)
    .add("weight", DoubleType)
    .add("files", Shares.schema)
    .add("row_groups", Shares.schema)
    .add("pages", Shares.schema)
}

/**
 * A column that the table is not clustered by and that files skip by today, in the result.
 *
 * @param asOneMoreColumn
 *   the share of files that its look-ups would read if it were one more clustering column; for those that get
 *   worse
 */
final case class OtherReport(name: String, files: Shares, asOneMoreColumn: Option[Double]) {
  def row: Row = Row(name, files.row, asOneMoreColumn.orNull, verdict)

  def getsWorse: Boolean = verdict == OtherReport.Worse

  def verdict: String = files.forecast.zip(files.now).headOption.fold("") { case (forecast, now) =>
    if (OtherReport.getsWorse(now, forecast)) OtherReport.Worse
    else if (now - forecast > OtherReport.Step) OtherReport.Better
    else OtherReport.Same
  }

  /** What the reason of a run says about a column that gets worse. */
  def text: String = s"$name ${files.sentence}" +
    asOneMoreColumn.fold("")(share =>
      s" (${HumanReadable.percent(share)} if they were clustered by $name, too)")
}

object OtherReport {
  val Worse = "GETS WORSE"
  private val Better = "GETS BETTER"
  private val Same = "STAYS"

  /** A smaller change counts as none. */
  private val Step = 0.1

  /** Whether a share of the files rises by so much that it counts. */
  def getsWorse(now: Double, expected: Double): Boolean = expected - now > Step

  val schema: StructType = new StructType()
    .add("name", StringType)
    .add("files", Shares.schema)
    .add("as_one_more_column", DoubleType)
    .add("verdict", StringType)
}

/** A layout that a run compared: the mean shares of files and of pages that the queries read of it. */
final case class AlternativeReport(layout: String, files: Double, pages: Double) {
  def row: Row = Row(layout, files, pages)
}

object AlternativeReport {
  val schema: StructType = new StructType()
    .add("layout", StringType)
    .add("files", DoubleType)
    .add("pages", DoubleType)
}

/**
 * Share of the rows that is read at one level (files, row groups or pages): by a look-up of one value,
 * averaged over the non-NULL rows of a column, or by the queries of one shape. None where it is not known,
 * e.g. measured in a dry run.
 */
final case class Shares(
    now: Option[Double] = None,
    forecast: Option[Double] = None,
    measured: Option[Double] = None,
    bound: Option[Double] = None) {
  def row: Row = Row(now.orNull, forecast.orNull, measured.orNull, bound.orNull)

  def text: String = s"${Shares.text(now)} -> ${Shares.text(forecast)}"

  /** What is read now and afterwards, as a sentence about files. */
  def sentence: String =
    s"read ${Shares.percent(now)} of the files now and ${Shares.percent(forecast)} afterwards"

  /** Whether more is read than now, by more than the error of a forecast. */
  def rises: Boolean = now.exists(n => forecast.exists(f => f - n > math.max(Shares.Noise, Shares.Tenth * n)))
}

object Shares {
  private val Noise = 0.002
  private val Tenth = 0.1

  val schema: StructType = new StructType()
    .add("now", DoubleType)
    .add("forecast", DoubleType)
    .add("measured", DoubleType)
    .add("bound", DoubleType)

  private def text(share: Option[Double]): String = share.fold("?")(HumanReadable.share)

  private def percent(share: Option[Double]): String = share.fold("an unknown part")(HumanReadable.percent)
}

/**
 * Runs as a source of Spark's metrics system, `<application>.driver.zorder.*`: counters over the runs of this
 * driver (`runs.DONE`, `runs.NO_GAIN`, ..., `bytesRead`, `bytesWritten`, `filesAdded`, `filesRemoved`), and
 * of the newest run that wrote something the mean share of files that a look-up reads (`shareRead`) and how
 * near that is to the bound (`efficiency`, 1 at best).
 */
private[clustering] object RunSource extends Source {
  override val sourceName: String = "zorder"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val shareRead = gauge("shareRead")
  private val efficiency = gauge("efficiency")
  private val registeredIn = new AtomicReference[SparkEnv]

  /** Counts a run that has ended, however many batches it had. */
  def ended(status: RunStatus): Unit = {
    register()
    count(s"runs.${status.name}", 1)
  }

  /** Counts what a batch has committed: it stays written though a later batch of the run may fail. */
  def wrote(report: RunReport): Unit =
    if (report.status == RunStatus.Done) {
      register()
      count("bytesRead", report.metrics.inputBytes)
      count("bytesWritten", report.metrics.added.map(_.length).sum)
      count("filesAdded", report.metrics.added.length.toLong)
      count("filesRemoved", report.metrics.removed.length.toLong)
      val files = report.columns.map(_.files)
      val measured = files.flatMap(_.measured)
      if (measured.nonEmpty) {
        shareRead.set(measured.sum / measured.length)
        // a table whose columns depend on each other has no bound, and files say nothing of an expression
        val both = for {
          shares <- files
          bound <- shares.bound
          read <- shares.measured
        } yield (bound, read)
        if (both.nonEmpty) efficiency.set(both.map(_._1).sum / math.max(1e-9, both.map(_._2).sum))
      }
    }

  /** Once in each application of this JVM. */
  private def register(): Unit = {
    val env = SparkEnv.get
    if (env != null && registeredIn.getAndSet(env) != env) env.metricsSystem.registerSource(this)
  }

  private def count(name: String, n: Long): Unit = metricRegistry.counter(name).inc(n)

  private def gauge(name: String): AtomicReference[Double] = {
    val value = new AtomicReference[Double](0.0)
    metricRegistry.register(name, new Gauge[Double] { override def getValue: Double = value.get })
    value
  }
}
