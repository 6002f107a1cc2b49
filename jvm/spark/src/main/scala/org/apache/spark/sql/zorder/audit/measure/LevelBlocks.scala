package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.{Block, Zone}

/**
 * The blocks of one level of one scope.
 *
 * @param joint
 *   with a zone per column
 * @param single
 *   per column the blocks of its own, rows and zone: the joint ones but for pages
 * @param sampled
 *   number of files that they are of
 * @param files
 *   the files of the scope, with a zone per column
 */
final private[audit] case class LevelBlocks(
    level: String,
    joint: IndexedSeq[Block],
    single: IndexedSeq[IndexedSeq[(Long, Zone)]],
    sampled: Int,
    files: IndexedSeq[Block]) {

  /** Whether they are of some of the files only. */
  def isSample: Boolean = sampled < files.length

  /** Number of blocks that all files have. */
  def estimated: Long = if (sampled == 0) 0L else joint.length.toLong * files.length / sampled
}

private[audit] object LevelBlocks {
  val File = "file"
  val RowGroup = "row group"
  val Page = "page"

  /** A level whose blocks are the same for all columns. */
  def of(
      level: String,
      blocks: IndexedSeq[Block],
      columns: Int,
      sampled: Int,
      files: IndexedSeq[Block]): LevelBlocks =
    LevelBlocks(
      level,
      blocks,
      (0 until columns).map(c => blocks.map(b => (b.rows, b.zones(c)))),
      sampled,
      files)

  def ofFiles(files: IndexedSeq[Block], columns: Int): LevelBlocks =
    of(File, files, columns, files.length, files)
}
