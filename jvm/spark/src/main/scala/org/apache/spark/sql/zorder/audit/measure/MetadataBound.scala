package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.cost.Bound

/** The bound of ADR 6 where no row is known, only zones (ADR 38). */
private[audit] object MetadataBound {

  /** A range of this part of the rows is the least that a range share is of. */
  private val RangePart = 0.01

  /**
   * @param blocks
   *   number of blocks of the whole scope
   * @return
   *   per column, for look-ups
   */
  def of(
      boxes: MeasuredBoxes,
      columns: IndexedSeq[RankedColumn],
      reads: IndexedSeq[ColumnReads],
      blocks: Long): IndexedSeq[Double] = {
    val mass = columns.indices.map { c =>
      val found = reads(c).masses
      val least = columns(c).scale.span.fold(0.0)(1.0 / _)
      Array.tabulate(boxes.size) { i =>
        val at = boxes.middle(i, c)
        if (columns(c).scale.size == 0 || at % 2 == 1) least else math.max(least, found(at / 2))
      }
    }
    val isNull =
      columns.indices.map(c => Array.tabulate(boxes.size)(i => columns(c).isOnlyNull(boxes.block(i))))
    Bound.perColumn(mass.toArray, isNull.toArray, blocks.toDouble).toIndexedSeq
  }

  def ofRange(lookUp: Double): Double = if (lookUp == 0.0) 0.0 else math.max(lookUp, RangePart)
}
