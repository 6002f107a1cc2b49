package org.apache.spark.sql.zorder.audit

import java.sql.Timestamp

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.audit.measure.Rounded
import org.apache.spark.sql.zorder.skip.scan.{SkippingUsage, TimedScan}
import org.apache.spark.sql.zorder.table.{ClusterTable, Operation}

/**
 * What the scans of this application skipped between one run of a table and the next, beside what the run wrote.
 *
 * @param written
 *   bytes of the files that the run wrote
 */
final private[audit] case class PaidRun(number: Int, runId: String, finishedMs: Long, written: Long)

/** Rows of `clustering_payback`: the time before the first run, then each run with the time after it. */
private[zorder] object Payback {
  val schema: StructType = new StructType()
    .add("run", IntegerType).add("run_id", StringType).add("finished", TimestampType)
    .add("bytes_written", LongType).add("scans", LongType)
    .add("files_considered", LongType).add("files_pruned", LongType)
    .add("bytes_considered", LongType).add("bytes_pruned", LongType).add("pruned_share", DoubleType)
    .add("bytes_saved", LongType).add("paid_off", BooleanType)

  private[audit] def of(table: ClusterTable): Seq[Row] =
    rows(runs(table), (table.root +: table.roots).distinct.flatMap(SkippingUsage.recent).sortBy(_.at))

  /** A run in batches is one run. */
  private def runs(table: ClusterTable): Seq[PaidRun] = {
    val commits = table.state.standing()
      .filter(r => r.operation == Operation.Optimize && r.branch == table.state.branch)
    commits.map(_.runId).distinct.map { id =>
      val own = commits.filter(_.runId == id)
      PaidRun(own.last.number, id, own.last.finishedMs, own.flatMap(_.files).map(_.length).sum)
    }
  }

  /**
   * @param runs
   *   oldest first
   * @param scans
   *   oldest first
   */
  private[audit] def rows(runs: Seq[PaidRun], scans: Seq[TimedScan]): Seq[Row] = {
    val ends = runs.map(_.finishedMs) :+ Long.MaxValue
    val periods = (None +: runs.map(Option(_))).zip((0L +: runs.map(_.finishedMs)).zip(ends))
      .map { case (run, (from, until)) => run -> scans.filter(s => s.at >= from && s.at < until) }
    periods.indices.map { i =>
      val (run, own) = periods(i)
      row(run, new Skipped(own), if (i == 0) None else new Skipped(periods(i - 1)._2).share)
    }
  }

  final private class Skipped(scans: Seq[TimedScan]) {
    val count: Long = scans.length.toLong
    val considered: Long = scans.map(_.considered).sum
    val pruned: Long = scans.map(_.pruned).sum
    val bytes: Long = scans.map(_.bytes.considered).sum
    val bytesPruned: Long = scans.map(_.bytes.pruned).sum

    /** None if nothing was scanned. */
    def share: Option[Double] = if (bytes == 0) None else Some(bytesPruned.toDouble / bytes)
  }

  /** @param before the share that was skipped in the time before the run */
  private def row(run: Option[PaidRun], now: Skipped, before: Option[Double]): Row = {
    val saved = before.filter(_ => now.bytes > 0).map(b => now.bytesPruned - math.round(b * now.bytes))
    Row(
      run.map(r => Int.box(r.number)).orNull,
      run.map(_.runId).orNull,
      run.map(r => new Timestamp(r.finishedMs)).orNull,
      run.map(r => Long.box(r.written)).orNull,
      now.count,
      now.considered,
      now.pruned,
      now.bytes,
      now.bytesPruned,
      now.share.map(s => Double.box(Rounded(s))).orNull,
      saved.map(Long.box).orNull,
      saved.flatMap(s => run.map(r => Boolean.box(s >= r.written))).orNull)
  }
}
