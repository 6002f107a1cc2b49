package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.stats.FilePages
import sparkzorder.curve.Block

/**
 * The pages of several columns as blocks of rows. Pages of different columns begin at different rows; a reader
 * takes the rows that no column's pages rule out, so a block ends wherever a page of one of them does.
 */
private[advise] object PageBlocks {

  def of(file: FilePages): IndexedSeq[Block] = {
    val ends = file.columns.map(_.map(_.rows).scanLeft(0L)(_ + _).tail)
    val cuts = ends.flatten.distinct.sorted
    val page = new Array[Int](ends.length)
    (0L +: cuts).zip(cuts).map { case (from, until) =>
      ends.indices.foreach(c => while (page(c) < ends(c).length - 1 && ends(c)(page(c)) <= from) page(c) += 1)
      Block(until - from, ends.indices.map(c => file.columns(c)(page(c)).zones.head))
    }
  }
}
