package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.{Block, Zone}

/** Blocks of one table at the three levels at which a reader skips, with the same columns at each. */
final case class Levels(files: Seq[Block], rowGroups: Seq[Block], pages: Seq[Block]) {
  def ++(that: Levels): Levels = Levels(files ++ that.files, rowGroups ++ that.rowGroups, pages ++ that.pages)

  /** The same blocks with unknown zones for the columns where `known` is false. */
  def masked(known: IndexedSeq[Boolean]): Levels =
    if (known.forall(k => k)) this
    else {
      def ofKnown(blocks: Seq[Block]): Seq[Block] = blocks.map { b =>
        Block(
          b.rows,
          b.zones.zip(known).map { case (zone, k) => if (k) zone else Zone.Unknown },
          b.nullFree.filter(known(_)))
      }
      Levels(ofKnown(files), ofKnown(rowGroups), ofKnown(pages))
    }
}
