package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.expr.layout.LayoutRef

/** A partition with new files, the layout that it keeps, and what becomes of its new rows. */
final private[run] case class Grown(placed: PlacedPartition, ref: LayoutRef, growth: Growth, growing: Growing)
