package org.apache.spark.sql.zorder.clustering.plan

import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.layout.{CutTree, Layout}

/**
 * One commit of a partition that is too large for a batch.
 *
 * @param files
 *   which are replaced
 * @param finishes
 *   whether their rows are then in the files of the layout; otherwise they are gathered by region
 */
final private[clustering] case class PartitionStep(
    files: Seq[DataFile],
    outputs: OutputPlan,
    finishes: Boolean)

private[clustering] object PartitionStep {

  /** Regions are so much smaller than a batch that several of them fill it well. */
  private val RegionsPerStep = 4

  /**
   * The steps that are left; the first of them is the next to be taken. Rows are gathered by region, or
   * appended in layout order; then each region that rows were gathered for becomes its files.
   *
   * @param moving
   *   the files whose rows are to be taken to their places
   * @param growth
   *   how their rows come to files that are in place already
   * @param most
   *   bytes of a step
   */
  def ahead(
      placed: PlacedPartition,
      moving: Seq[DataFile],
      growth: GrowthPlan,
      layout: Layout,
      most: Long): Seq[PartitionStep] = {
    val taken = chunks[DataFile](moving, _.length, most)
    growth match {
      case append: GrowthPlan.Append =>
        taken.map { files =>
          val part = append.part(files.map(_.length).sum)
          PartitionStep(files, OutputPlan.sortedRun(placed.directory, part), finishes = true)
        }
      case _ =>
        val regions =
          if (placed.byRegion.nonEmpty) Regions.between(placed.byRegion.keys, layout.files)
          else Regions.of(layout, count(placed, layout, most))
        val gathers =
          taken.map(PartitionStep(_, regions.gather(placed.directory), finishes = false))
        gathers ++ finishing(placed, growth, layout, most)
    }
  }

  private def finishing(
      placed: PlacedPartition,
      growth: GrowthPlan,
      layout: Layout,
      most: Long): Seq[PartitionStep] = {
    val spans = placed.byRegion.toSeq.sortBy(_._1).map { case (span @ (from, until), files) =>
      span -> (files ++ inLayout(placed, growth, from until until))
    }
    chunks[((Int, Int), Seq[DataFile])](spans, _._2.map(_.length).sum, most).map { group =>
      val ((from, _), (_, until)) = (group.head._1, group.last._1)
      PartitionStep(
        group.flatMap(_._2),
        // as they were counted: a heavy value grows in the first of its files
        Regions.finish(placed.directory, from, until, layout.files, spread = growth == GrowthPlan.Refit),
        finishes = true)
    }
  }

  /** About how many steps follow the first one: the others, and those that put gathered rows in place. */
  def afterFirst(ahead: Seq[PartitionStep], placed: PlacedPartition, growth: GrowthPlan, most: Long): Int = {
    val gathering = ahead.filterNot(_.finishes).flatMap(_.files)
    val finishing =
      if (gathering.isEmpty) Nil else gathering ++ inLayout(placed, growth, placed.inLayout.keys)
    ahead.length - 1 + math.ceil(finishing.map(_.length).sum.toDouble / most).toInt
  }

  /** The files of these numbers that new rows may come to. */
  private def inLayout(placed: PlacedPartition, growth: GrowthPlan, numbers: Iterable[Int]): Seq[DataFile] =
    numbers.toSeq.filter(growth.touches).flatMap(placed.inLayout.getOrElse(_, Nil))

  private def count(placed: PlacedPartition, layout: Layout, most: Long): Int = {
    val bytes = placed.all.map(_.length).sum.toDouble
    math.min(layout.files, math.max(2, math.ceil(RegionsPerStep * bytes / most).toInt))
  }

  /** Splits the items, in their order, into chunks of at most `most` bytes or of one item. */
  private def chunks[A](items: Seq[A], bytes: A => Long, most: Long): Seq[Seq[A]] =
    items.foldLeft(Vector.empty[(Vector[A], Long)]) { (out, item) =>
      val size = bytes(item)
      out.lastOption match {
        case Some((chunk, sum)) if sum + size <= most => out.init :+ ((chunk :+ item, sum + size))
        case _ => out :+ ((Vector(item), size))
      }
    }.map(_._1)
}

/**
 * The file numbers of a layout, cut into runs: a partition that is too large for one batch is brought
 * together by region first.
 *
 * @param starts
 *   the first file number of each region, rising from 0
 * @param files
 *   of the layout
 */
final private case class Regions(starts: IndexedSeq[Int], files: Int) {
  def spans: IndexedSeq[(Int, Int)] = starts.zip(starts.tail :+ files)

  /** One file for each region, its rows in layout order. */
  def gather(directory: String): OutputPlan = OutputPlan.some(
    spans.map { case (from, until) => OutputFile(directory, OutputPlan.InRegion, from, until) },
    (0 until files).map(f => starts.lastIndexWhere(_ <= f)),
    spread = true)
}

private object Regions {

  /** About `wanted` regions of as many files. A cell that fills several files is never cut. */
  def of(layout: Layout, wanted: Int): Regions = {
    val cells = CutTree.cells(layout.tree, layout.columns.length).map(_.firstFile)
    val even = (0 until wanted).map(r => (r.toLong * layout.files / wanted).toInt)
    Regions(even.map(e => cells.filter(_ <= e).max).distinct, layout.files)
  }

  /** The regions that files were gathered by: what lies between them had no rows so far. */
  def between(spans: Iterable[(Int, Int)], files: Int): Regions = {
    val cuts = spans.flatMap { case (from, until) => Seq(from, until) }.toSeq :+ 0
    Regions(cuts.distinct.sorted.filter(_ < files).toIndexedSeq, files)
  }

  /** The files of one region, or of several that follow each other. */
  def finish(directory: String, from: Int, until: Int, files: Int, spread: Boolean): OutputPlan =
    OutputPlan.some(
      (from until until).map(OutputPlan.inLayout(directory, _)),
      OutputPlan.nearest(from until until, files),
      spread)
}
