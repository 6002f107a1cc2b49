package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.fit.{Fit, LayoutForecast, Sample}
import org.apache.spark.sql.zorder.run.inspect.{Inspection, Probes, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.{FileCount, FilePlan, SizedPartition}
import org.apache.spark.sql.zorder.run.report.HumanReadable
import sparkzorder.curve.Block
import sparkzorder.curve.cost.{Query, ShareRead, SortedWords}
import sparkzorder.curve.page.PageCut

/**
 * How many files partitions become by default where that is fewer than they have (SPEC 2, ADR 0028): no fewer
 * than it takes for look-ups in the clustering columns to read no more of the files than now, but for `minGain`.
 */
final private[run] class EnoughFiles(
    input: Inspection,
    tracked: TrackedColumns,
    curve: String,
    options: RunOptions) {
  private val clustering = tracked.clustering.indices

  /** What look-ups can skip files by. */
  private val judged = clustering.filter(tracked.bounded(_))

  private lazy val footers = input.footers.map(f => f.file.path -> f).toMap

  /** The plan to sample for: it keeps the present number of files where, by the footers, so many may be needed. */
  def most(plan: FilePlan): FilePlan = plan.copy(partitions = plan.partitions.map { sized =>
    if (!isFewer(sized)) sized
    else {
      val blocks = present(sized)
      val probes = tracked.all.indices.map(c =>
        SortedWords.of(blocks.map(_.zones(c)).flatMap(Probes.of)))
      val ideal = math.pow(sized.files.toDouble, -1.0 / judged.length)
      if (allowed(blocks, probes) > EnoughFiles.Near * ideal) sized
      else sized.copy(files = sized.partition.files.length)
    }
  })

  /** The plan with enough files. */
  def of(plan: FilePlan, sampled: Sampled, queries: Sample => Seq[Query]): FilePlan = {
    val raised = plan.partitions.zip(sampled.partitions).map { case (sized, sample) =>
      if (isFewer(sized) && sample.rows > 0) sized.copy(files = enough(sized, sample, queries)) else sized
    }
    val more = plan.partitions.zip(raised).filter { case (before, after) => after.files > before.files }
    if (more.isEmpty) plan
    else {
      val files = raised.map(_.files).sum
      plan.copy(
        partitions = raised,
        target = raised.map(_.partition.bytes).sum / files,
        count = EnoughFiles.note(more.map { case (before, after) => (before.files, after.files) }))
    }
  }

  private def isFewer(sized: SizedPartition): Boolean =
    !FileCount.isAsked(options) && judged.nonEmpty && sized.files < sized.partition.files.length

  private def enough(sized: SizedPartition, sample: Sample, queries: Sample => Seq[Query]): Int = {
    val (fitting, heldOut) = sample.halves
    val values = heldOut.columns.map(_.sorted)
    val most = allowed(present(sized), values)
    val columns = heldOut.select(clustering)
    def bound(files: Int) = mean(LayoutForecast.bound(columns, Seq(files.toDouble)).head(_))
    def share(files: Int): Double = {
      val asked = queries(fitting).map(_.over(clustering))
      val pages = input.rows(sized.partition).toDouble / files / options.pageRowLimit
      val layout = Fit.choose(
        fitting.select(clustering),
        tracked.clustering.map(_.fit),
        files,
        curve,
        asked,
        math.max(1.0, pages)).layout
      val rows = input.rows(sized.partition)
      read(LayoutForecast.blocks(columns, layout, rows, PageCut.Whole).files, values)
    }
    val all = sized.partition.files.length
    val counts = Iterator.iterate(sized.files)(_ * 2).takeWhile(_ < all).toSeq :+ all
    // the bound is cheap and a fit is not, and most tables that become fewer files are in no order at all
    counts.find(n => EnoughFiles.Near * bound(n) <= most || bound(n) <= most && share(n) <= most).getOrElse(
      all)
  }

  private def allowed(blocks: Seq[Block], values: IndexedSeq[SortedWords]): Double =
    read(blocks, values) * (1.0 + options.minGain)

  private def present(sized: SizedPartition): Seq[Block] =
    tracked.levels(sized.partition.files.map(f => footers(f.path)), input.statistics.columns, Nil).files

  private def read(blocks: Seq[Block], values: IndexedSeq[SortedWords]): Double =
    mean(c => ShareRead.of(blocks.map(b => (b.rows, b.zones(c))), values(c)))

  private def mean(share: Int => Double): Double = judged.map(share).sum / judged.length
}

private[run] object EnoughFiles {

  /** Layouts read no more than this many times the bound. */
  private val Near = 1.5

  private def note(raised: Seq[(Int, Int)]): String = {
    val what = raised match {
      case Seq((before, after)) =>
        s"By its size it would become ${HumanReadable.count(before.toLong, "file")}, but look-ups would read more of " +
          s"them than of the present files: it becomes $after."
      case _ =>
        val (before, after) = (raised.map(_._1).sum, raised.map(_._2).sum.toLong)
        s"By their sizes ${HumanReadable.count(raised.length.toLong, "partition")} would become $before files, but " +
          s"look-ups would read more of them than of the present files: they become ${HumanReadable.count(after, "file")}."
    }
    s" $what Set fileCount or targetFileSize for another number."
  }
}
