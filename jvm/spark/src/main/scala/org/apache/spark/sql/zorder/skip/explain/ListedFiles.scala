package org.apache.spark.sql.zorder.skip.explain

import java.util.BitSet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.skip.index.{FileKeys, IndexedFiles, NoEntry}
import org.apache.spark.sql.zorder.table.file.DataFile

/** The files that a scan has to do with, each with the number of its entry or with why it has none. */
final private[explain] class ListedFiles(files: IndexedFiles, root: Path, val listed: IndexedSeq[DataFile]) {
  private val found: IndexedSeq[Either[NoEntry, Int]] = {
    val keys = new FileKeys(root)
    listed.map(f => files.find(keys.of(new Path(f.path)), f.length, f.modified))
  }

  def considered: Long = listed.length.toLong

  /** The numbers of the entries of these very files. */
  def entries: BitSet = {
    val set = new BitSet(files.count)
    found.foreach(_.foreach(n => set.set(n)))
    set
  }

  /** Those that a set of entries leaves out. */
  def pruned(kept: BitSet): Long = found.count(_.exists(n => !kept.get(n))).toLong

  /** Those that a set of entries holds, with the numbers of the entries; files without an entry are not among them. */
  def in(set: BitSet): Seq[(DataFile, Int)] =
    listed.zip(found).collect { case (f, Right(n)) if set.get(n) => f -> n }

  /** What is said of files that the index knows nothing of; empty if there are none. */
  def stale: String = {
    def count(why: NoEntry): Int = found.count(_ == Left(why))
    val strange = count(NoEntry.New) + count(NoEntry.Changed)
    val racy = count(NoEntry.Racy)
    Seq(
      if (strange == 0) "" else s"stale entry: ${files(strange)} new or changed: run ZORDER REFRESH INDEX",
      if (racy == 0) ""
      else s"stale entry: ${files(racy)} too new when the index was made: run ZORDER REFRESH INDEX"
    ).filter(_.nonEmpty).mkString("; ")
  }

  private def files(n: Int): String = if (n == 1) "1 file is" else s"$n files are"
}
