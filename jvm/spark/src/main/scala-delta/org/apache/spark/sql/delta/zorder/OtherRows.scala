package org.apache.spark.sql.delta.zorder

import org.apache.spark.sql.delta.deletionvectors.RoaringBitmapArray

/** Delta lets only its own packages add a range of rows at once. */
object OtherRows {

  /** The first `n` rows but for these. */
  def of(rows: RoaringBitmapArray, n: Long): RoaringBitmapArray = {
    val others = new RoaringBitmapArray()
    others.addRange(0L until n)
    others.andNot(rows)
    others
  }
}
