package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.fit.Sample
import org.apache.spark.sql.zorder.run.forecast.Sampling
import org.apache.spark.sql.zorder.run.plan.{FilePlan, SizedPartition}
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.run.request.{ClusterColumns, Progress}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, PageIndex}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.draw.LogBoxes
import org.apache.spark.sql.zorder.workload.log.QueryLog
import sparkzorder.curve.Block
import sparkzorder.curve.cost.Query

/**
 * The sampled rows that the advice on a table is based on, and the queries on them.
 *
 * @param judged
 *   the partition; the whole table where it has none
 * @param columns
 *   numbers among the considered columns: those with more than one value in the sample
 * @param sample
 *   of these columns
 * @param sampledShare
 *   share of the partition's rows
 * @param queries
 *   of the log, over these columns; empty without one
 */
final private[advise] case class AdviceInput(
    judged: SizedPartition,
    rows: Long,
    columns: IndexedSeq[Int],
    sample: Sample,
    sampledShare: Double,
    queries: Seq[Query],
    private val footers: Seq[FileFooter],
    private val pages: Seq[FilePages]) {

  /** The same for some of these columns, and for some of the queries. */
  def of(chosen: IndexedSeq[Int], keep: Query => Boolean): AdviceInput = copy(
    columns = chosen.map(columns(_)),
    sample = sample.select(chosen),
    queries = queries.filter(keep).map(_.over(chosen)))

  /** The files as they are, with the zones of these columns. */
  def files: Seq[Block] = footers.map { f =>
    val nullFree = columns.indices.filter(i => f.rowGroups.forall(_.nullFree(columns(i))))
    Block(f.rows, columns.map(f.zone(_)), nullFree.toSet)
  }

  /** Rows as the pages of these columns part them, of a part of the files. */
  def pageBlocks: Seq[Block] = pages.flatMap(_.runs(columns.map(Some(_))))
}

private[advise] object AdviceInput {
  private val SampledRows = 50000L

  /** Page indexes of this many files represent the pages of the table. */
  private val PageIndexFiles = 200

  /** @param pinned the session to read in */
  def apply(
      pinned: ClassicSession,
      user: ClassicSession,
      table: ClusterTable,
      considered: ScreenedCandidates,
      plan: FilePlan,
      log: Option[QueryLog],
      progress: Progress): AdviceInput = {
    val input = considered.input
    val judged = plan.partitions.maxBy(p => input.rows(p.partition))
    val one = plan.copy(partitions = IndexedSeq(judged))
    val rows = input.rows(one)
    val source = input.relation(one)
    val names = considered.columns.map(_.sql)
    val columns =
      ClusterColumns.on(user, table.name, source.plan, table.constantColumns, names)
    val sampled = progress.step("sample") {
      Sampling.about(SampledRows, pinned, source, columns, one, rows)
    }(_.summary)
    val sample = sampled.partitions.head
    val pages = progress.step("pages") {
      PageIndex.ofSome(pinned, judged.partition.files, considered.statColumns, PageIndexFiles)
    }(p => s"page indexes of ${HumanReadable.count(p.length.toLong, "file")}")
    val all = AdviceInput(
      judged,
      rows,
      names.indices,
      sample,
      sampled.share,
      log.fold(Seq.empty[Query])(LogBoxes.of(user, table.schema, _, names, sample).queries),
      input.footersOf(one),
      pages)
    val varying = names.indices.filter { c =>
      val counts = ValueCounts.of(sample.columns(c))
      counts.distinct > 1 || counts.distinct == 1 && counts.values < sample.rows
    }
    all.of(if (log.isDefined) varying else mostDistinct(sample, varying), _ => true)
  }

  private def mostDistinct(sample: Sample, columns: IndexedSeq[Int]): IndexedSeq[Int] =
    columns.sortBy(c => -ValueCounts.of(sample.columns(c)).distinct).take(Candidates.MostAsked).sorted
}
