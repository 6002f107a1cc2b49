package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.layout.Layout

/**
 * One commit of a partition that is too large for a batch.
 *
 * @param files
 *   which are replaced
 * @param settles
 *   whether their rows are then in the files of the layout; otherwise they are gathered by region
 */
final private[run] case class PartitionStep(files: Seq[DataFile], outputs: OutputFiles, settles: Boolean)

private[run] object PartitionStep {

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
          PartitionStep(files, OutputFiles.appended(placed.directory, part), settles = true)
        }
      case _ =>
        val regions =
          if (placed.gathered.nonEmpty) Regions.between(placed.gathered.keys, layout.files)
          else Regions.of(layout, count(placed, layout, most))
        val gathers =
          taken.map(PartitionStep(_, regions.gather(placed.directory), settles = false))
        gathers ++ settling(placed, growth, layout, most)
    }
  }

  private def settling(
      placed: PlacedPartition,
      growth: GrowthPlan,
      layout: Layout,
      most: Long): Seq[PartitionStep] = {
    val spans = placed.gathered.toSeq.sortBy(_._1).map { case (span @ (from, until), files) =>
      span -> (files ++ inPlace(placed, growth, from until until))
    }
    chunks[((Int, Int), Seq[DataFile])](spans, _._2.map(_.length).sum, most).map { group =>
      val ((from, _), (_, until)) = (group.head._1, group.last._1)
      PartitionStep(
        group.flatMap(_._2),
        // as they were counted: a heavy value grows in the first of its files
        Regions.settle(placed.directory, from, until, layout.files, spread = growth == GrowthPlan.Refit),
        settles = true)
    }
  }

  /** About how many follow the first of these; what they gather will be settled, with what lies there. */
  def afterFirst(ahead: Seq[PartitionStep], placed: PlacedPartition, growth: GrowthPlan, most: Long): Int = {
    val gathering = ahead.filterNot(_.settles).flatMap(_.files)
    val settling = if (gathering.isEmpty) Nil else gathering ++ inPlace(placed, growth, placed.settled.keys)
    ahead.length - 1 + math.ceil(settling.map(_.length).sum.toDouble / most).toInt
  }

  /** The files of these numbers that new rows may come to. */
  private def inPlace(placed: PlacedPartition, growth: GrowthPlan, numbers: Iterable[Int]): Seq[DataFile] =
    numbers.toSeq.filter(growth.touches).flatMap(placed.settled.getOrElse(_, Nil))

  private def count(placed: PlacedPartition, layout: Layout, most: Long): Int = {
    val bytes = placed.all.map(_.length).sum.toDouble
    math.min(layout.files, math.max(2, math.ceil(RegionsPerStep * bytes / most).toInt))
  }

  /** In their order, each of at most `most` bytes or of one item. */
  private def chunks[A](items: Seq[A], bytes: A => Long, most: Long): Seq[Seq[A]] =
    items.foldLeft(Vector.empty[(Vector[A], Long)]) { (out, item) =>
      val size = bytes(item)
      out.lastOption match {
        case Some((chunk, sum)) if sum + size <= most => out.init :+ ((chunk :+ item, sum + size))
        case _ => out :+ ((Vector(item), size))
      }
    }.map(_._1)
}
