package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.Zone

/**
 * What is found of one level of one scope, or of several.
 *
 * @param columns
 *   each by itself
 * @param sampled
 *   number of files
 */
final private[audit] case class LevelNumbers(
    level: String,
    joint: Numbers,
    columns: IndexedSeq[Numbers],
    sampled: Long) {
  def ++(that: LevelNumbers): LevelNumbers = LevelNumbers(
    level,
    joint ++ that.joint,
    columns.zip(that.columns).map { case (a, b) => a ++ b },
    sampled + that.sampled)
}

/** Measures a level; what it keeps beside the numbers is asked about files. */
final private[audit] class LevelMeasure(blocks: LevelBlocks) {
  private val columns = blocks.single.indices
  private val alike = blocks.level != LevelBlocks.Page

  /** Per column, its blocks with what they are compared with. */
  private def reading(c: Int, zones: IndexedSeq[(Long, Zone)]): (RankedColumn, ColumnReads) = {
    val own = zones.map(_._2)
    val others = if (blocks.isSample) blocks.files.map(b => (b.rows, b.zones(c))) else zones
    val scale = RankScale.of(if (blocks.isSample) own ++ others.map(_._2) else own, blocks.spacings(c))
    val ranked = RankedColumn.of(own, scale)
    val valued = if (blocks.isSample) RankedColumn.of(others.map(_._2), scale) else ranked
    (ranked, new ColumnReads(ranked, zones.map(_._1).toArray, valued, others.map(_._1).toArray))
  }

  private val single: IndexedSeq[(RankedColumn, ColumnReads)] =
    columns.map(c => reading(c, blocks.single(c)))
  private val joint: IndexedSeq[(RankedColumn, ColumnReads)] =
    if (alike) single
    else columns.map(c => reading(c, blocks.joint.map(b => (b.rows, b.zones(c)))))

  /** Per column, the ranked zones of the blocks. */
  def ranked: IndexedSeq[RankedColumn] = joint.map(_._1)

  /** The mean over the columns of the part of the values for which a block is read. */
  def reach(block: Int): Double = joint.map(_._2.reach(block)).sum / joint.length

  lazy val numbers: LevelNumbers = {
    val boxes = new MeasuredBoxes(ranked)
    val bounds = MetadataBound.of(boxes, ranked, joint.map(_._2), blocks.estimated)
    val own = single.indices.map { c =>
      val (column, reads) = single(c)
      Numbers(ColumnDepth.of(column), LevelMeasure.reads(reads, bounds(c)))
    }
    val depths = if (own.length == 1 && alike) own.head.depths else boxes.depths
    LevelNumbers(
      blocks.level,
      Numbers(depths, LevelMeasure.mean(own.map(_.reads))),
      own,
      blocks.sampled.toLong)
  }

  /** The greatest part of the rows that are in files of one value of a column. */
  def largestMass(column: Int): Double = joint(column)._2.masses.foldLeft(0.0)(math.max)
}

private[audit] object LevelMeasure {
  private def reads(of: ColumnReads, bound: Double): Reads = Reads(
    of.total,
    of.lookUpShare.getOrElse(0.0),
    of.rangeShare.getOrElse(0.0),
    bound,
    MetadataBound.ofRange(bound))

  private def mean(all: IndexedSeq[Reads]): Reads =
    if (all.isEmpty) Reads.none
    else {
      def of(x: Reads => Double) = all.map(x).sum / all.length
      Reads(all.head.rows, of(_.lookUp), of(_.range), of(_.lookUpBound), of(_.rangeBound))
    }
}
