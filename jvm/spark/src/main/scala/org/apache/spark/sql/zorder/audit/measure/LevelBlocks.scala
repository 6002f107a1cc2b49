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
 * @param spacings
 *   one a column
 */
final private[audit] case class LevelBlocks(
    level: String,
    joint: IndexedSeq[Block],
    single: IndexedSeq[IndexedSeq[(Long, Zone)]],
    sampled: Int,
    files: IndexedSeq[Block],
    spacings: IndexedSeq[Spacing]) {

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
      sampled: Int,
      files: IndexedSeq[Block],
      spacings: IndexedSeq[Spacing]): LevelBlocks =
    LevelBlocks(
      level,
      blocks,
      spacings.indices.map(c => blocks.map(b => (b.rows, b.zones(c)))),
      sampled,
      files,
      spacings)

  def ofFiles(files: IndexedSeq[Block], spacings: IndexedSeq[Spacing]): LevelBlocks =
    of(File, files, files.length, files, spacings)
}
