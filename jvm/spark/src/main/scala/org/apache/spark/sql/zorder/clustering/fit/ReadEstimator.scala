package org.apache.spark.sql.zorder.clustering.fit

import sparkzorder.curve.{Block, Evenly, Zone}
import sparkzorder.curve.cost.{Query, QueryCost, ReadCost, ShareRead, SortedValues}

/** A share of the rows at each level, 0 to 1. */
final case class ReadShares(files: Double, rowGroups: Double, pages: Double) {
  def cost: Double = ReadCost.of(files, pages)

  /** Where files that are opened are read whole. */
  def ofFiles: ReadShares = ReadShares(files, files, files)
}

/**
 * Estimates the share of a table that is read, by the same queries before a run, forecast and after it: look-ups of
 * sampled values in each column, and the queries of a log.
 *
 * @param values
 *   per column of the blocks, values to look up
 * @param questions
 *   groups of queries over the columns of the blocks; empty without a log
 */
final class ReadEstimator(val values: IndexedSeq[SortedValues], val questions: IndexedSeq[Seq[Query]]) {

  /** Share that a look-up reads, per column. */
  def columns(levels: Levels): IndexedSeq[ReadShares] = {
    val each = Seq(levels.files, levels.rowGroups, levels.pages).map(ShareRead.ofColumns(_, values))
    values.indices.map(c => ReadShares(each(0)(c), each(1)(c), each(2)(c)))
  }

  /** Mean share that the queries read, per group. */
  def queries(levels: Levels): IndexedSeq[ReadShares] = {
    val few = Seq(levels.files, levels.rowGroups, levels.pages).map(Evenly.some(_, ReadEstimator.MostBlocks))
    questions.map { group =>
      val each = few.map(QueryCost.mean(_, group))
      ReadShares(each(0), each(1), each(2))
    }
  }
}

object ReadEstimator {

  /** This many blocks give the share of a query to three digits; a large table has a million pages. */
  private val MostBlocks = 20000
}

/** Blocks of one table at the three levels at which a reader skips, with the same columns at each. */
final case class Levels(files: Seq[Block], rowGroups: Seq[Block], pages: Seq[Block]) {
  def ++(that: Levels): Levels = Levels(files ++ that.files, rowGroups ++ that.rowGroups, pages ++ that.pages)

  /** These blocks with so many times the rows. */
  def times(rows: Double): Levels = {
    def scaled(blocks: Seq[Block]) = blocks.map(b => b.copy(rows = math.round(b.rows * rows)))
    if (rows == 1.0) this else Levels(scaled(files), scaled(rowGroups), scaled(pages))
  }

  /** These blocks, with unknown zones for the columns where `known` is false. */
  def masked(known: IndexedSeq[Boolean]): Levels =
    if (known.forall(k => k)) this
    else Levels(Levels.ofKnown(files, known), rowGroups, pages).maskedInFiles(known)

  /** The same for row groups and pages alone. */
  def maskedInFiles(known: IndexedSeq[Boolean]): Levels =
    if (known.forall(k => k)) this
    else Levels(files, Levels.ofKnown(rowGroups, known), Levels.ofKnown(pages, known))
}

object Levels {
  private def ofKnown(blocks: Seq[Block], known: IndexedSeq[Boolean]): Seq[Block] = blocks.map { b =>
    Block(
      b.rows,
      b.zones.zip(known).map { case (zone, k) => if (k) zone else Zone.Unknown },
      b.nullFree.filter(known(_)))
  }
}
