package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.zorder.stats.measure._
import org.apache.spark.sql.zorder.insight.audit.read.AuditedFile
import sparkzorder.curve.{Block, Zone}

/**
 * One partition, measured by itself, since a run lays each one out by itself.
 *
 * @param partition
 *   its directories; empty for a table without partitions
 * @param files
 *   by path
 */
final private[audit] class Scope(
    val partition: String,
    val files: IndexedSeq[AuditedFile],
    spacings: IndexedSeq[Spacing]) {
  private val blocks = files.map(_.whole)
  private val ofFiles = new LevelMeasure(LevelBlocks.ofFiles(blocks, spacings))

  val fileLevel: LevelNumbers = ofFiles.numbers

  val levels: IndexedSeq[LevelNumbers] =
    fileLevel +: Seq(rowGroups, pages).flatten.map(new LevelMeasure(_).numbers).toIndexedSeq

  def rows: Long = blocks.map(_.rows).sum

  def bytes: Long = files.map(_.file.length).sum

  private val avoidableReads = new AvoidableReads(blocks, files.map(_.file.path), ofFiles)

  /** The rows that are read unnecessarily. */
  val totalExcess: Long = avoidableReads.total

  /** The fewest files that cause four fifths of the unnecessary reads. */
  val avoidable: IndexedSeq[AuditedFile] = avoidableReads.worst(AvoidableReads.Most).map(files)

  /** Whether values of a column differ from file to file, as far as files tell. */
  def counts(column: Int): Boolean = ofFiles.ranked(column).scale.size > 1

  /** Files of which nothing is known. */
  def unknown(column: Int): IndexedSeq[AuditedFile] = files.filter(_.whole.zones(column) == Zone.Unknown)

  /** Whether the rows of such files are known, as those of files with an encrypted footer are not. */
  def countsRows(column: Int): Boolean = unknown(column).forall(_.whole.rows > 0)

  /**
   * The part of the rows that are in files of which nothing is known; of the files, if nobody knows their
   * rows.
   */
  def unknownShare(column: Int): Double = {
    val such = unknown(column)
    if (such.isEmpty) 0.0
    else if (countsRows(column)) such.map(_.whole.rows).sum.toDouble / rows.toDouble
    else such.length.toDouble / files.length
  }

  /** The least that look-ups read, if so many files are sorted by that column alone. */
  def boundOfSort(column: Int, count: Int): Double =
    math.max(1.0 / math.max(1, count), ofFiles.largestMass(column))

  /** The least that look-ups read on average over the columns, with so many files. */
  def boundOfLayout(count: Int): Double = ofFiles.boundOf(count.toLong)

  private def rowGroups: Option[LevelBlocks] = {
    val known = files.flatMap(_.rowGroups)
    if (known.isEmpty) None
    else Some(LevelBlocks.of(LevelBlocks.RowGroup, known.flatten, known.length, blocks, spacings))
  }

  private def pages: Option[LevelBlocks] = {
    val known = files.flatMap(_.pages)
    if (known.isEmpty) None
    else {
      val all: IndexedSeq[Option[Int]] = spacings.indices.map(Some(_))
      val joint: IndexedSeq[Block] = known.flatMap(_.runs(all))
      val single = spacings.indices.map(c => known.flatMap(_.pages(c)))
      Some(LevelBlocks(LevelBlocks.Page, joint, single, known.length, blocks, spacings))
    }
  }
}

private[audit] object Scope {

  /** The scopes of the files, in the order of the partitions' names. */
  def all(files: IndexedSeq[AuditedFile], spacings: IndexedSeq[Spacing]): IndexedSeq[Scope] =
    files.groupBy(_.file.partition).toIndexedSeq.sortBy(_._1).map { case (partition, own) =>
      new Scope(partition, own.sortBy(_.file.path), spacings)
    }
}
