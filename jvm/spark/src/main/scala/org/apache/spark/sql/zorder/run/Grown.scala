package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.LayoutRef

/** A partition with new files, the layout that it keeps, and what becomes of its new rows. */
final private[run] case class Grown(placed: PlacedPartition, ref: LayoutRef, growth: Growth, growing: Growing)
