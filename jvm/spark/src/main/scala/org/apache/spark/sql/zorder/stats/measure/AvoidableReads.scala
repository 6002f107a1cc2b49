package org.apache.spark.sql.zorder.stats.measure

import sparkzorder.curve.Block

/**
 * The rows of one partition that look-ups read unnecessarily, file by file (docs/spec.md, section 8).
 *
 * @param files
 *   with a zone per column
 * @param paths
 *   of the files, which decide between files that are equally bad
 */
final private[zorder] class AvoidableReads private[zorder] (
    files: IndexedSeq[Block],
    paths: IndexedSeq[String],
    level: LevelMeasure) {

  /** The unnecessarily read rows of each file, as the mean over the values and columns. */
  private val excess: IndexedSeq[Long] = {
    val bound = Rounded(level.numbers.joint.reads.lookUpBound)
    files.indices.map { f =>
      math.floor(files(f).rows * math.max(0.0, Rounded(level.reach(f)) - bound) + 0.5).toLong
    }
  }

  val total: Long = excess.sum

  /** The numbers of the fewest files that hold that part of the total; none if no read is unnecessary. */
  def worst(share: Double): IndexedSeq[Int] = {
    val all = files.indices.filter(excess(_) > 0).sortBy(f => (-excess(f), paths(f)))
    val before = all.scanLeft(0L)((sum, f) => sum + excess(f))
    val wanted = BigDecimal(share) * total
    all.indices.takeWhile(i => BigDecimal(before(i)) < wanted).map(all)
  }
}

private[zorder] object AvoidableReads {

  /** The part of all unnecessary reads that an audit names files for. */
  val Most = 0.8

  def of(
      files: IndexedSeq[Block],
      paths: IndexedSeq[String],
      spacings: IndexedSeq[Spacing]): AvoidableReads =
    new AvoidableReads(files, paths, new LevelMeasure(LevelBlocks.ofFiles(files, spacings)))
}
