package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankBlocks

/** What look-ups of single values read, one column at a time. */
private[build] object LookUps {

  /**
   * By column, the mean share of the rows that look-ups of its sampled values read: exact for the sample,
   * where a draw of queries would leave something to chance. 0.0 for a column of NULLs.
   */
  def shares(sample: RankedSample, blocks: RankBlocks): IndexedSeq[Double] =
    (0 until sample.columns).map { c =>
      val each = (0 until blocks.size).map(b =>
        blocks.rows(b) * sample.shareOfValues(c, blocks.extent(c, b)))
      each.sum / math.max(1, sample.rows)
    }
}
