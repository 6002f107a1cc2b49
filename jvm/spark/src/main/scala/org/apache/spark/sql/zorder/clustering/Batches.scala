package org.apache.spark.sql.zorder.clustering

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.clustering.forecast.Forecast
import org.apache.spark.sql.zorder.clustering.inspect.Inspection
import org.apache.spark.sql.zorder.clustering.plan.{FileCount, GrowthPlan, PlacedPartition}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunReport, RunStatus}
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.clustering.rewrite.RewritePlan
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}

/**
 * The commits of one statement. A batch is some whole partitions of the table, or a step of one that is too
 * large for a batch; a statement that dies loses the batch in flight, and the next one finds the others in
 * place.
 *
 * @param freeDisk
 *   bytes that are free where executors keep shuffle files; None if they are kept elsewhere
 * @param done
 *   partitions of earlier batches
 * @param underway
 *   the partition whose steps come next
 * @param deletesRewritten
 *   partitions in which earlier batches have rewritten the files that had lost many rows
 */
final private[clustering] class Batches(
    options: RunOptions,
    startedMs: Long,
    freeDisk: => Option[Long] = None,
    done: Set[String] = Set.empty,
    val underway: Option[StepsUnderway] = None,
    val deletesRewritten: Set[String] = Set.empty) {

  /** Whether a partition was brought to its end by an earlier batch. */
  def isDone(directory: String): Boolean = done(directory)

  /**
   * The partitions of the next batch.
   *
   * @param partitions
   *   in the order in which they are taken
   * @param tableBytes
   *   of all files of the table, these and others
   */
  def next(partitions: Seq[WaitingPartition], tableBytes: Long): Batch = {
    val target = FileCount.target(tableBytes, options.targetFileSize)
    val waiting = partitions.filterNot(p => done(p.directory))
    // sums no further than they are asked: a statement may have thousands of batches
    val bytes = waiting.iterator.scanLeft(0L)(_ + _.bytes).drop(1)
    val files = waiting.iterator.scanLeft(0L)((n, p) => n + FileCount.of(p.bytes, target, options)).drop(1)
    val most = mostBytes(partitions.map(_.bytes).sum)
    val fit = bytes.zip(files).takeWhile { case (b, f) => b <= most && f <= Batches.MostFiles }.length
    // a partition that does not fit is cut by its own steps, where its format can
    val taken = math.max(1, fit)
    Batch(waiting.take(taken).map(_.directory).toSet, waiting.drop(taken).map(_.directory))
  }

  /** Bytes of a step of a partition that has `bytes` and becomes `files`; None if it is one batch. */
  def stepBytes(bytes: Long, files: Int): Option[Long] = {
    val steps = math.max(1, (files + Batches.MostFiles - 1) / Batches.MostFiles)
    Some(math.min(mostBytes(bytes), (bytes + steps - 1) / steps)).filter(_ < bytes)
  }

  /** The free bytes that make batches of so many bytes smaller, if it is the disks that do. */
  def diskLimit(bytes: Long): Option[Long] =
    if (options.maxBytesInFlight.isEmpty && mostBytes(bytes) < bytes) freeDisk else None

  /**
   * Which limit would end a statement before its last batch.
   *
   * @param read
   *   bytes that are read of a partition: several numbers for one that is clustered in steps
   * @param before
   *   bytes that batches read before those of the partitions
   */
  def limitAhead(
      partitions: => Seq[WaitingPartition],
      tableBytes: Long,
      read: String => Seq[Long],
      before: Seq[Long] = Nil): Option[String] =
    if (options.maxInputBytes.isEmpty && options.maxDurationMs > 0) None
    else limitByReads(before ++ ahead(partitions, tableBytes).flatMap { batch =>
      val each = batch.finished.toSeq.map(read)
      if (each.length == 1) each.head else Seq(each.flatten.sum)
    })

  /** The limit by the bytes that each batch would read; one that leaves its files as they are reads none. */
  def limitByReads(reads: Seq[Long]): Option[String] =
    if (reads.length < 2) None
    else if (options.maxInputBytes.exists(_ <= reads.init.sum)) Some(Batches.InputIsRead)
    else if (options.maxDurationMs == 0 && reads.init.exists(_ > 0)) Some(Batches.TimeIsOver)
    else None

  /** The batches of a statement, if each brings its partitions to their end; without what is left behind each. */
  @tailrec
  def ahead(
      partitions: Seq[WaitingPartition],
      tableBytes: Long,
      before: Vector[Batch] = Vector.empty): Seq[Batch] = {
    val batch = next(partitions, tableBytes)
    if (batch.finished.isEmpty) before
    else after(batch).ahead(partitions, tableBytes, before :+ batch.copy(left = Nil))
  }

  /** Bytes of the files of a batch, for a statement or a partition of so many. */
  private def mostBytes(bytes: Long): Long = options.maxBytesInFlight.getOrElse {
    if (bytes <= Batches.FitAnywhere) Long.MaxValue
    else freeDisk.fold(Long.MaxValue)(free => math.max(Batches.FitAnywhere, free / Batches.DiskPerByte))
  }

  def after(batch: Batch): Batches =
    new Batches(
      options,
      startedMs,
      freeDisk,
      done ++ batch.finished,
      batch.underway,
      deletesRewritten ++ batch.deletesRewritten)

  /**
   * Which limit keeps the statement from a further batch; None if there is none. No limit does so before a batch was
   * committed: the next statement would begin with the same partitions, and never come to those behind them.
   */
  def limitReached(soFar: RunReport): Option[String] =
    if (soFar.status != RunStatus.Done) None
    else if (options.maxInputBytes.exists(soFar.metrics.inputBytes >= _)) Some(Batches.InputIsRead)
    else if (System.currentTimeMillis() - startedMs >= options.maxDurationMs) Some(Batches.TimeIsOver)
    else None
}

private[clustering] object Batches {

  /** Files that one commit writes; a larger statement is several batches whatever its options say. */
  val MostFiles = 10000

  /** Bytes of files for which nobody asks how much disk executors have. */
  private val FitAnywhere = 1L << 30

  /** Local disk for a byte of a file: about two of rows in the shuffle, and as much for spills. */
  private val DiskPerByte = 4

  private val InputIsRead = "maxInputBytes is reached"
  private val TimeIsOver = "maxDuration is over"
}

/** A partition that a batch may take, and the bytes of its files. */
final private[clustering] case class WaitingPartition(directory: String, bytes: Long)

private[clustering] object WaitingPartition {
  def apply(directory: String, files: Seq[DataFile]): WaitingPartition =
    WaitingPartition(directory, files.map(_.length).sum)

  /**
   * Partitions that are clustered anew, in the order in which batches take them: by directory. FULL takes those first
   * that have waited longest since a run has written all their files; where a limit ends it, it would begin with the
   * same ones each time that it is said.
   */
  def inOrder(context: RunContext, partitions: Seq[PinnedPartition]): Seq[WaitingPartition] = {
    val byDirectory = partitions.sortBy(_.directory)
    val ordered =
      if (!context.request.full || partitions.length < 2) byDirectory
      else {
        val written = lastWritten(context.table, partitions.flatMap(_.files))
        // new files do not count; a partition that no run has written comes first
        def oldest(p: PinnedPartition): Int = {
          val runs = p.files.flatMap(f => written.get(key(context.table, f)))
          if (runs.isEmpty) -1 else runs.min
        }
        byDirectory.sortBy(oldest)
      }
    ordered.map(p => WaitingPartition(p.directory, p.files))
  }

  /** The places among all runs of those that have written these files. */
  private def lastWritten(table: ClusterTable, files: Seq[DataFile]): collection.Map[(String, Long), Int] = {
    val present = files.map(key(table, _)).toSet
    val last = mutable.HashMap.empty[(String, Long), Int]
    for {
      (run, n) <- table.state.standing().zipWithIndex
      file <- run.files
    } {
      val name = (file.path, file.length)
      if (present(name)) last(name) = n
    }
    last
  }

  /** By what a record names a file. */
  private def key(table: ClusterTable, file: DataFile): (String, Long) = (table.recorded(file), file.length)
}

/**
 * What a batch does for its statement.
 *
 * @param finished
 *   partitions that it brings to their end
 * @param left
 *   partitions for later batches
 * @param underway
 *   the partition that it brings a step further
 * @param deletesRewritten
 *   partitions in which it rewrites only the files that had lost many rows
 */
final private[clustering] case class Batch(
    finished: Set[String] = Set.empty,
    left: Seq[String] = Nil,
    underway: Option[StepsUnderway] = None,
    deletesRewritten: Set[String] = Set.empty) {

  def isLast: Boolean = left.isEmpty && underway.isEmpty

  /** What waits for later batches. */
  def remaining: String = {
    val n = left.length.toLong
    val partitions = HumanReadable.count(n, "partition")
    underway match {
      case None => s"$partitions ${HumanReadable.are(n)} left"
      case Some(u) =>
        val count = HumanReadable.count(u.stepsLeft.toLong, "step")
        val steps = s"about $count of ${u.partitionName} ${HumanReadable.are(u.stepsLeft.toLong)} left"
        if (left.isEmpty) steps else s"$steps, and $partitions"
    }
  }

  /** How a statement that a limit has ended goes on: the end of a sentence. */
  def goesOn(full: Boolean): String =
    if (!full) "run the same statement again to continue"
    else if (underway.isDefined)
      "the same statement without FULL continues the steps, and with FULL they begin anew"
    else "the same statement continues with them, as those that have waited longest come first"
}

/**
 * A partition that is clustered in several commits. A planner begins it, and each step makes that of the next
 * batch.
 *
 * @param placed
 *   its files, as the batch has found them
 * @param ref
 *   the layout of all steps
 * @param waiting
 *   paths of the files whose rows this statement has yet to move. Files that others append meanwhile are left
 *   to the next statement; otherwise one on a table that grows all the time would never end
 * @param growth
 *   how these rows come to files that are in place already
 * @param input
 *   what was read last, so that a statement reads each footer once
 * @param forecast
 *   made when its layout was fitted
 * @param layout
 *   what the result says about the layout
 * @param deletesFirst
 *   whether only files that have lost many rows are written again, and new files come after them
 * @param stored
 *   whether its layout was stored before the statement
 * @param stepsLeft
 *   about how many follow the last one that was taken
 */
final private[clustering] case class StepsUnderway(
    placed: PlacedPartition,
    ref: LayoutRef,
    waiting: Set[String],
    growth: GrowthPlan,
    input: Inspection,
    forecast: Forecast,
    layout: String,
    deletesFirst: Boolean = false,
    stored: Boolean = false,
    stepsLeft: Int = 0) {
  def directory: String = placed.directory

  /** The files whose rows are to be moved, where they are now. */
  def moving: Seq[DataFile] = (placed.newFiles ++ placed.sortedRunFiles).filter(f => waiting(f.path))

  /** The new files whose turn comes after the last step. */
  def after: Seq[DataFile] =
    if (!deletesFirst) Nil
    else placed.newFilesAfter.getOrElse(placed.newFiles.filterNot(f => waiting(f.path)))

  def partitionName: String = if (directory.isEmpty) "the table" else directory
}

private[clustering] object StepsUnderway {

  /**
   * The steps of the only partition of a plan.
   *
   * @param moving
   *   files whose rows are to be moved
   */
  def begin(
      placed: PlacedPartition,
      moving: Seq[DataFile],
      growth: GrowthPlan,
      whole: RewritePlan): StepsUnderway =
    StepsUnderway(
      placed,
      whole.layouts.refs.head,
      moving.map(_.path).toSet,
      growth,
      whole.input,
      whole.forecast,
      whole.report.layoutChosen,
      deletesFirst = placed.newFilesAfter.isDefined,
      stored = whole.recorded.isDefined)
}

/**
 * How a batch ended.
 *
 * @param report
 *   what the statement returns if this was its only batch; the times are entered at the very end
 * @param batch
 *   where the statement goes on
 */
final private[clustering] case class BatchResult(report: RunReport, batch: Batch = Batch())
