package org.apache.spark.sql.zorder.skip.explain

import java.util.BitSet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.skip.index.{FileKeys, IndexedFiles}
import org.apache.spark.sql.zorder.table.file.DataFile

/** The files that a scan has to do with, each with the number of its entry or with why it has none. */
final private[explain] class ListedFiles(files: IndexedFiles, root: Path, val listed: IndexedSeq[DataFile]) {
  private val numbers: Array[Int] = {
    val keys = new FileKeys(root)
    listed.map(f => files.find(keys.of(new Path(f.path)), f.length, f.modified)).toArray
  }

  def considered: Long = listed.length.toLong

  /** The numbers of the entries of these very files. */
  def entries: BitSet = {
    val set = new BitSet(files.count)
    numbers.filter(_ >= 0).foreach(n => set.set(n))
    set
  }

  /** Those that a set of entries leaves out. */
  def pruned(kept: BitSet): Long = numbers.count(n => n >= 0 && !kept.get(n)).toLong

  /** Those that a set of entries holds, with the numbers of the entries; files without an entry are not among them. */
  def in(set: BitSet): Seq[(DataFile, Int)] =
    listed.indices.collect { case i if numbers(i) >= 0 && set.get(numbers(i)) => listed(i) -> numbers(i) }

  /** What is said of files that the index knows nothing of; empty if there are none. */
  def stale: String = {
    def count(what: Int): Int = numbers.count(_ == what)
    val strange = count(IndexedFiles.New) + count(IndexedFiles.Changed)
    val racy = count(IndexedFiles.Racy)
    Seq(
      if (strange == 0) "" else s"stale entry: ${files(strange)} new or changed: run ZORDER REFRESH INDEX",
      if (racy == 0) ""
      else s"stale entry: ${files(racy)} too new when the index was made: run ZORDER REFRESH INDEX"
    ).filter(_.nonEmpty).mkString("; ")
  }

  private def files(n: Int): String = if (n == 1) "1 file is" else s"$n files are"
}
