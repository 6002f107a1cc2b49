package org.apache.spark.sql.zorder.stats.measure

import sparkzorder.curve.{Block, Zone}
import sparkzorder.curve.cost.Bound

/**
 * What is found of one level of one scope, or of several.
 *
 * @param columns
 *   each by itself
 * @param sampled
 *   number of files
 */
final private[zorder] case class LevelNumbers(
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
final private[zorder] class LevelMeasure(blocks: LevelBlocks) {
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

  private lazy val measured = new MeasuredBlocks(ranked)

  private def bounds(count: Long): IndexedSeq[Double] =
    MetadataBound.of(measured, ranked, joint.map(_._2), count)

  /** The joint bound of look-ups if there were so many blocks. */
  def boundOf(count: Long): Double = bounds(count).sum / joint.length

  lazy val numbers: LevelNumbers = {
    val least = bounds(blocks.estimated)
    val own = single.indices.map { c =>
      val (column, reads) = single(c)
      Numbers(ColumnDepth.of(column), LevelMeasure.reads(reads, least(c)))
    }
    val depths = if (own.length == 1 && alike) own.head.depths else measured.depths
    LevelNumbers(
      blocks.level,
      Numbers(depths, LevelMeasure.mean(own.map(_.reads))),
      own,
      blocks.sampled.toLong)
  }

  /** The greatest mass of a value of a column. */
  def largestMass(column: Int): Double = {
    val (ranked, reads) = joint(column)
    reads.masses.foldLeft(MetadataBound.leastMass(ranked))(math.max)
  }
}

private[zorder] object LevelMeasure {
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

/**
 * The blocks of one level of one scope.
 *
 * @param joint
 *   with a zone per column
 * @param single
 *   per column the blocks of its own, rows and zone: the joint ones but for pages
 * @param sampled
 *   number of files that they are of
 * @param files
 *   the files of the scope, with a zone per column
 * @param spacings
 *   one a column
 */
final private[zorder] case class LevelBlocks(
    level: String,
    joint: IndexedSeq[Block],
    single: IndexedSeq[IndexedSeq[(Long, Zone)]],
    sampled: Int,
    files: IndexedSeq[Block],
    spacings: IndexedSeq[Spacing]) {

  /** Whether they are of some of the files only. */
  def isSample: Boolean = sampled < files.length

  /** Number of blocks that all files have. */
  def estimated: Long = if (sampled == 0) 0L else joint.length.toLong * files.length / sampled
}

private[zorder] object LevelBlocks {
  val File = "file"
  val RowGroup = "row group"
  val Page = "page"

  /** A level whose blocks are the same for all columns. */
  def of(
      level: String,
      blocks: IndexedSeq[Block],
      sampled: Int,
      files: IndexedSeq[Block],
      spacings: IndexedSeq[Spacing]): LevelBlocks =
    LevelBlocks(
      level,
      blocks,
      spacings.indices.map(c => blocks.map(b => (b.rows, b.zones(c)))),
      sampled,
      files,
      spacings)

  def ofFiles(files: IndexedSeq[Block], spacings: IndexedSeq[Spacing]): LevelBlocks =
    of(File, files, files.length, files, spacings)
}

/**
 * What is read of some blocks, and the least that could be.
 *
 * @param rows
 *   of the blocks; shares of several sets of blocks are put together by it
 */
final private[zorder] case class Reads(
    rows: Double,
    lookUp: Double,
    range: Double,
    lookUpBound: Double,
    rangeBound: Double) {

  /** Adds the reads of two sets of blocks that are asked for their own values. */
  def ++(that: Reads): Reads = {
    val all = rows + that.rows
    def mean(of: Reads => Double) = if (all == 0.0) 0.0 else (rows * of(this) + that.rows * of(that)) / all
    Reads(all, mean(_.lookUp), mean(_.range), mean(_.lookUpBound), mean(_.rangeBound))
  }

  /** The bound of look-ups; None where less is read. */
  def leastLookUp: Option[Double] = Reads.unlessBeaten(lookUpBound, lookUp)

  /** The bound of ranges; None where less is read. */
  def leastRange: Option[Double] = Reads.unlessBeaten(rangeBound, range)

  /** None where nothing is read, nothing is there, or no bound is known. */
  def efficiency: Option[Double] = {
    val share = Rounded(lookUp)
    if (rows == 0.0 || share == 0.0) None else leastLookUp.map(Rounded(_) / share)
  }
}

private[zorder] object Reads {
  val none: Reads = Reads(0.0, 0.0, 0.0, 0.0, 0.0)

  /**
   * The bound, unless less than it is read: then the columns depend on each other, and there is none. Less by no
   * more than what metadata is off by, what is read is the bound itself.
   */
  def unlessBeaten(bound: Double, read: Double): Option[Double] =
    if (Rounded(read) < Noise * Rounded(bound)) None else Some(math.min(bound, read))

  private val Noise = 0.97
}

/** One level, jointly or of one column. */
final private[zorder] case class Numbers(depths: Depths, reads: Reads) {
  def ++(that: Numbers): Numbers = Numbers(depths ++ that.depths, reads ++ that.reads)
}

private[zorder] object Rounded {

  /** To nine decimals: the order of additions does not show. */
  def apply(x: Double): Double = math.floor(x * 1e9 + 0.5) / 1e9
}

/** The bound of ADR 6 where no row is known, only zones (ADR 38). */
private object MetadataBound {

  /** A range of this part of the rows is the least that a range share is of. */
  private val RangePart = 0.01

  /**
   * @param blocks
   *   number of blocks of the whole scope
   * @return
   *   per column, for look-ups
   */
  def of(
      measured: MeasuredBlocks,
      columns: IndexedSeq[RankedColumn],
      reads: IndexedSeq[ColumnReads],
      blocks: Long): IndexedSeq[Double] = {
    val mass = columns.indices.map { c =>
      val found = reads(c).masses
      val least = leastMass(columns(c))
      Array.tabulate(measured.size) { i =>
        val at = measured.middle(i, c)
        if (columns(c).scale.size == 0 || at % 2 == 1) least else math.max(least, found(at / 2))
      }
    }
    val isNull =
      columns.indices.map(c => Array.tabulate(measured.size)(i => columns(c).isOnlyNull(measured.block(i))))
    Bound.perColumn(mass.toArray, isNull.toArray, blocks.toDouble).toIndexedSeq
  }

  /** Whole numbers in a range of k values have at least 1/k of the rows each, in the mean. */
  def leastMass(column: RankedColumn): Double = column.scale.span.fold(0.0)(1.0 / _)

  def ofRange(lookUp: Double): Double = if (lookUp == 0.0) 0.0 else math.max(lookUp, RangePart)
}
