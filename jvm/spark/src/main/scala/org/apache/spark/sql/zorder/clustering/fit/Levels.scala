package org.apache.spark.sql.zorder.clustering.fit

import sparkzorder.curve.{Block, Zone}

/** Blocks of one table at the three levels at which a reader skips, with the same columns at each. */
final case class Levels(files: Seq[Block], rowGroups: Seq[Block], pages: Seq[Block]) {

  /** A figure of the blocks of each level. */
  def map[A](f: Seq[Block] => A): ByLevel[A] = ByLevel(f(files), f(rowGroups), f(pages))

  /** How many blocks there are. */
  def counts: ByLevel[Double] = map(_.length.toDouble)

  /** These blocks with so many times the rows. */
  def times(rows: Double): Levels = {
    def scaled(blocks: Seq[Block]) = blocks.map(b => b.copy(rows = math.round(b.rows * rows)))
    if (rows == 1.0) this else Levels(scaled(files), scaled(rowGroups), scaled(pages))
  }

  /** These blocks, with unknown zones for the columns where `known` is false. */
  def masked(known: IndexedSeq[Boolean]): Levels =
    if (known.forall(k => k)) this
    else Levels(Levels.ofKnown(files, known), rowGroups, pages).maskedInFiles(known)

  /** These blocks, with unknown zones in row groups and pages, but not in files, where `known` is false. */
  def maskedInFiles(known: IndexedSeq[Boolean]): Levels =
    if (known.forall(k => k)) this
    else Levels(files, Levels.ofKnown(rowGroups, known), Levels.ofKnown(pages, known))
}

object Levels {

  /** All of them, in this order. */
  def concat(parts: Seq[Levels]): Levels =
    Levels(parts.flatMap(_.files), parts.flatMap(_.rowGroups), parts.flatMap(_.pages))

  private def ofKnown(blocks: Seq[Block], known: IndexedSeq[Boolean]): Seq[Block] = blocks.map { b =>
    Block(
      b.rows,
      b.zones.zip(known).map { case (zone, k) => if (k) zone else Zone.Unknown },
      b.nullFree.filter(known(_)))
  }
}
