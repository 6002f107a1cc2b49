package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.table.DataFile
import sparkzorder.curve.layout.Layout

/**
 * One commit of a partition that is too large for a batch.
 *
 * @param files
 *   which are replaced
 * @param settles
 *   whether their rows are then where the layout wants them; else they are gathered by region
 */
final private[run] case class PartitionStep(files: Seq[DataFile], tasks: Tasks, settles: Boolean)

private[run] object PartitionStep {

  /** Regions are so much smaller than a batch that several of them fill it well. */
  private val RegionsPerStep = 4

  /**
   * The steps that are left; the first of them is the next to be taken. New files are gathered as long as no
   * region is settled; after that they wait until all regions are, and then grow in.
   *
   * @param most
   *   bytes of a step
   */
  def ahead(placed: PlacedPartition, layout: Layout, most: Long): Seq[PartitionStep] = {
    val gathering = if (placed.settled.isEmpty) placed.fresh else Nil
    val regions =
      if (placed.gathered.nonEmpty) Regions.between(placed.gathered.keys, layout.files)
      else Regions.of(layout, count(placed, layout, most))
    val gathers = chunks[DataFile](gathering, _.length, most).map(files =>
      PartitionStep(files, regions.gather(placed.directory), settles = false))
    val spans = placed.gathered.toSeq.sortBy(_._1)
    val settles = chunks[((Int, Int), Seq[DataFile])](spans, _._2.map(_.length).sum, most).map { group =>
      val ((from, _), (_, until)) = (group.head._1, group.last._1)
      PartitionStep(
        group.flatMap(_._2),
        Regions.settle(placed.directory, from, until, layout.files),
        settles = true)
    }
    gathers ++ settles
  }

  /** About how many follow the first of these; what it gathers will be settled, too. */
  def afterFirst(ahead: Seq[PartitionStep], most: Long): Int = {
    val gathering = ahead.filterNot(_.settles).flatMap(_.files).map(_.length).sum
    ahead.length - 1 + math.ceil(gathering.toDouble / most).toInt
  }

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
