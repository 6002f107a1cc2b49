package org.apache.spark.sql.zorder.clustering.forecast

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts}
import org.apache.spark.sql.zorder.clustering.fit.{Choice, Fit, LayoutForecast, Sample, Sampler}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, Probes, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.{FileCount, FilePlan, SizedPartition}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, RunStatistics}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.FileFooter
import org.apache.spark.sql.zorder.table.file.InputRelation
import sparkzorder.curve.Block
import sparkzorder.curve.cost.{Query, SortedValues}
import sparkzorder.curve.page.PageCut

/**
 * The sampled rows of every partition, in the plan's order.
 *
 * @param shares
 *   of each partition's rows
 */
final case class SampledPartitions(partitions: IndexedSeq[Sample], shares: IndexedSeq[Double]) {

  /** The share of nearly all partitions: a larger one is the exception. */
  def share: Double = shares.min

  /** How many rows of the most densely sampled partition a sampled row of this one stands for. */
  def rowsPerRow(partition: Int): Double = shares.max / shares(partition)

  /** Those that no layout is fitted on, of every partition at the same share: the values of the whole table. */
  lazy val ofTable: Sample = Sample.concat(heldOut.zip(shares).map { case (held, ofHeld) =>
    held.thinned(math.round(held.rows * share / ofHeld).toInt)
  })

  /** The rows of each partition that layouts are fitted on, and those that they are not. */
  lazy val (fitting: IndexedSeq[Sample], heldOut: IndexedSeq[Sample]) = partitions.map(_.halves).unzip

  def rows: Int = partitions.map(_.rows).sum
  def summary: String = s"${HumanReadable.count(rows.toLong, "row")} (share ${HumanReadable.share(share)})"
}

/** The one pruned job: clustering and watched columns only, rows by a hash of their place in their file. */
object Sampling {

  /** Sampled rows a file: the mass of a file is then known to about 3 % (one half of them fits the layout). */
  private val RowsPerFile = 2000L

  /** Rows a file of a partition of few, wide rows, in those of a file in the mean. */
  private val LeastPerFile = 0.2

  /** So many rows more at most: those of such a partition may have longer values than the others. */
  private val MostMore = 100000.0
  private val AtLeast = 200000L
  private val AtMost = 4000000L

  /** The most sampled values that the driver holds, and their bytes: tasks may send 1 GiB in all by default. */
  private val MostValues = 16000000L
  private[clustering] val MostBytes = 256L << 20
  private val Buckets = 1 << 30

  /** The rows of a plan's partitions, as many as its files need. */
  def apply(
      session: ClassicSession,
      source: InputRelation,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      input: Inspection): SampledPartitions = {
    val rowBytes = CostForecast.ofSampledRow(input.footersOf(plan), columns, input.statistics)
    val rows = plan.partitions.map(p => input.rows(p.partition))
    about(wanted(plan.outputFiles, columns.length, rowBytes), session, source, columns, plan, rows)
  }

  /** How many rows to sample for so many files. */
  private[forecast] def wanted(files: Int, columns: Int, rowBytes: Double): Long =
    math.min(math.min(AtMost, most(columns, rowBytes)), math.max(AtLeast, files * RowsPerFile))

  /** So many rows of these files, or as many as the driver holds with their values of these columns. */
  private[zorder] def withinMemory(
      wanted: Long,
      columns: Seq[ClusterColumn],
      footers: Seq[FileFooter],
      statistics: RunStatistics): Long =
    math.min(wanted, most(columns.length, CostForecast.ofSampledRow(footers, columns, statistics)))

  private def most(columns: Int, rowBytes: Double): Long =
    math.min(MostValues / math.max(1, columns), (MostBytes / math.max(1.0, rowBytes)).toLong)

  /**
   * The share of each partition's rows: the same of all, but for those that would have too few rows for their files.
   *
   * @param rows
   *   of each partition
   * @param files
   *   that each is planned to become
   */
  private[forecast] def shares(
      wanted: Long,
      rows: IndexedSeq[Long],
      files: IndexedSeq[Int]): IndexedSeq[Double] = {
    val ofAll = math.min(1.0, wanted.toDouble / math.max(1L, rows.sum))
    val least = math.min(LeastPerFile * wanted, MostMore) / math.max(1, files.sum)
    rows.zip(files).map { case (r, f) =>
      if (r == 0) ofAll else math.min(1.0, math.max(ofAll, f * least / r))
    }
  }

  /**
   * @param wanted
   *   number of rows
   * @param rows
   *   of each planned partition
   */
  def about(
      wanted: Long,
      session: ClassicSession,
      source: InputRelation,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      rows: IndexedSeq[Long]): SampledPartitions = {
    val ofEach = shares(wanted, rows, plan.partitions.map(_.files))
    val byColumns = ofEach.min < 1.0 && source.place.nonEmpty
    val shareTaken = if (byColumns) ofEach.map(taken) else ofEach
    // by the place and not by the value, so that frequent values stay frequent in the sample
    def place = s"pmod(xxhash64(${source.place.mkString(", ")}), $Buckets) < ${limit(shareTaken)}"
    val all = Shims.ofRows(session, source.plan)
    val chosen = (if (byColumns) all.where(expr(place)) else all).queryExecution.analyzed
    val list: Seq[NamedExpression] =
      columns.zipWithIndex.map { case (c, i) => Alias(c.expression, s"c$i")() } :+ source.route
    val pruned = Shims.ofRows(session, Project(list, chosen))
    val keep = if (byColumns) Sampler.byPlace(1.0) else Sampler.byPlace(shareTaken)
    SampledPartitions(Sampler.collect(pruned, plan.partitions.length, keep), shareTaken)
  }

  /** The share that a filter by hashes takes: a whole number of buckets. */
  private[forecast] def taken(share: Double): Double = math.max(1, (share * Buckets).toInt).toDouble / Buckets

  /** The hashes below which rows are sampled, as SQL: one number, or one for each partition. */
  private def limit(shares: IndexedSeq[Double]): String = {
    val limits = shares.map(s => (s * Buckets).toInt)
    if (limits.distinct.length == 1) limits.head.toString
    else limits.mkString("array(", ", ", s")[${InputRelation.RouteColumn}]")
  }
}

/**
 * Fits layouts of sampled partitions. The last one of each is at hand if it is asked for again.
 *
 * @param rows
 *   of each partition
 * @param queries
 *   makes the log's queries from sampled rows, over the columns of these
 */
final private[clustering] class PartitionFits(
    sampled: SampledPartitions,
    rows: IndexedSeq[Long],
    columns: Seq[ClusterColumn],
    curve: String,
    pageRows: Int,
    queries: Sample => Seq[Query]) {
  private val places = columns.indices
  private val last = mutable.HashMap.empty[Int, (Int, Choice)]

  /** The layout of a partition, by its place, for so many files. */
  def apply(partition: Int, files: Int): Choice = last.get(partition) match {
    case Some((`files`, choice)) => choice
    case _ =>
      val fitting = sampled.fitting(partition)
      val pagesPerFile = rows(partition).toDouble / files / pageRows
      val asked = queries(fitting).map(_.over(places))
      val choice =
        Fit.choose(fitting.select(places), columns.map(_.fit), files, curve, asked, pagesPerFile)
      last(partition) = (files, choice)
      choice
  }
}

/**
 * How many files partitions become by default where that is fewer than they have (docs/spec.md, section 2, ADR 28):
 * no fewer than it takes for look-ups in the clustering columns to read no more of the files than now, but for
 * `minGain`.
 *
 * @param mostFiles
 *   of all partitions together
 */
final private[clustering] class EnoughFiles(
    input: Inspection,
    tracked: TrackedColumns,
    options: RunOptions,
    mostFiles: Long) {
  private val clustering = tracked.clustering.indices

  /** The plan to sample for: it keeps the present number of files where the footers say it may be needed. */
  def most(plan: FilePlan): FilePlan = plan.copy(partitions = plan.partitions.map { sized =>
    if (!isFewer(sized)) sized
    else {
      val blocks = present(sized)
      val probes = tracked.all.indices.map(c =>
        SortedValues.of(blocks.map(_.zones(c)).flatMap(Probes.of)))
      val ideal = math.pow(sized.files.toDouble, -1.0 / tracked.boundedClustering.length)
      if (allowed(blocks, probes) > EnoughFiles.Near * ideal) sized
      else sized.copy(files = sized.partition.files.length)
    }
  })

  /** The plan with enough files. A partition for which no room is left keeps the number by its size. */
  def of(plan: FilePlan, sampled: SampledPartitions, fits: PartitionFits): FilePlan = {
    var room = mostFiles - plan.partitions.map(_.files.toLong).sum
    val raised = plan.partitions.zipWithIndex.map { case (sized, p) =>
      val files =
        if (room > 0 && isFewer(sized) && sampled.partitions(p).rows > 0)
          enough(sized, sampled.heldOut(p), fits(p, _))
        else sized.files
      if (files - sized.files > room) sized
      else {
        room -= files - sized.files
        sized.copy(files = files)
      }
    }
    val more = plan.partitions.zip(raised).filter { case (before, after) => after.files > before.files }
    if (more.isEmpty) plan
    else {
      val files = raised.map(_.files).sum
      plan.copy(
        partitions = raised,
        target = raised.map(_.partition.bytes).sum / files,
        countNote = EnoughFiles.note(more.map { case (before, after) => (before.files, after.files) }))
    }
  }

  private def isFewer(sized: SizedPartition): Boolean =
    !FileCount.isAsked(options) && tracked.boundedClustering.nonEmpty &&
      sized.files < sized.partition.files.length

  private def enough(sized: SizedPartition, heldOut: Sample, fit: Int => Choice): Int = {
    val values = heldOut.columns.map(_.sorted)
    val most = allowed(present(sized), values)
    val columns = heldOut.select(clustering)
    val boundOf = LayoutForecast.bound(columns)
    def bound(files: Int): Double = {
      val least = boundOf(files.toDouble)
      tracked.meanShare(least(_))
    }
    def share(files: Int): Double = {
      val rows = input.rows(sized.partition)
      val blocks = LayoutForecast.blocks(columns, fit(files).layout, rows, PageCut.Whole)
      tracked.meanShareRead(blocks.files, values)
    }
    val all = sized.partition.files.length
    val counts = Iterator.iterate(sized.files)(_ * 2).takeWhile(_ < all).toSeq :+ all
    // the bound is cheap and a fit is not, and most tables that become fewer files are in no order at all
    counts.find(n => EnoughFiles.Near * bound(n) <= most || bound(n) <= most && share(n) <= most).getOrElse(
      all)
  }

  private def allowed(blocks: Seq[Block], values: IndexedSeq[SortedValues]): Double =
    tracked.meanShareRead(blocks, values) * (1.0 + options.minGain)

  private def present(sized: SizedPartition): Seq[Block] =
    tracked.levels(sized.partition.files.map(f => input.byPath(f.path)), input.statistics.columns).files
}

private[clustering] object EnoughFiles {

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

/**
 * The layouts of a run, one a partition in the plan's order, and the sampled rows. The columns of the rows
 * are those of the layout, then those that are watched.
 *
 * @param first
 *   how the layout of the first partition was chosen
 */
final case class FittedLayouts(
    layouts: PartitionLayouts,
    sampled: SampledPartitions,
    first: Choice) {
  def refs: IndexedSeq[LayoutRef] = layouts.refs

  /**
   * Those of some partitions, by their places.
   *
   * @param firstOfThem
   *   how the layout of the first of these was chosen
   */
  def only(places: IndexedSeq[Int], firstOfThem: Choice): FittedLayouts = FittedLayouts(
    PartitionLayouts(places.map(p => refs(p))),
    SampledPartitions(places.map(p => sampled.partitions(p)), places.map(p => sampled.shares(p))),
    firstOfThem)

  /** The builders of the layouts, each once. */
  def curves: String = refs.map(_.layout.curve).distinct.mkString(", ")

  def summary: String = {
    val columns = refs.head.layout.columns.map(_.sql).mkString(", ")
    val which = if (refs.length == 1) s"layout ${refs.head.id}" else s"${refs.length} layouts"
    s"$curves on ($columns), ${HumanReadable.count(layouts.files.toLong, "file")}, " +
      s"${refs.head.layout.inFile.name} inside files, $which"
  }
}

object FittedLayouts {

  def apply(plan: FilePlan, sampled: SampledPartitions, fits: PartitionFits): FittedLayouts = {
    val choices = plan.partitions.indices.map(p => fits(p, plan.partitions(p).files))
    FittedLayouts(PartitionLayouts(choices.map(c => Fit.ref(c.layout))), sampled, choices.head)
  }
}
