package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * The journals of one table: `.<base>.zorder-<txn>.json` in the directory `parent`, and the names of the
 * directories that go with them.
 */
private[zorder] final case class JournalStore(fs: FileSystem, parent: Path, base: String) {

  private val prefix = s".$base.zorder-"

  /** All readable journals, oldest first. */
  def all(): Seq[Journal] =
    TextFiles.children(fs, parent).filter(s => isJournal(s.getPath.getName))
      .flatMap(s => TextFiles.read(fs, s.getPath).flatMap(JournalJson.read))
      .sortBy(j => (j.changedMs, j.txn))

  /** Whether anything of ours is beside the table, even without a journal. */
  def hasTraces: Boolean = TextFiles.children(fs, parent).exists(s => isOurs(s.getPath.getName))

  def get(txn: String): Option[Journal] = TextFiles.read(fs, file(txn)).flatMap(JournalJson.read)

  def write(journal: Journal): Journal = {
    TextFiles.replace(fs, file(journal.txn), JournalJson.write(journal))
    journal
  }

  def delete(journal: Journal): Unit = {
    fs.delete(file(journal.txn), false)
    ()
  }

  /** Files of commits that have no journal: a JVM died while it wrote them. */
  def leftovers(): Seq[FileStatus] = TextFiles.children(fs, parent).filter { s =>
    val name = s.getPath.getName
    s.isFile && name.startsWith(prefix) && !isJournal(name) &&
    get(name.stripPrefix(prefix).takeWhile(_ != '.')).isEmpty
  }

  def staging(txn: String): Path = new Path(parent, s"$prefix$txn.new")
  def retired(txn: String): Path = new Path(parent, s".$base.old-$txn")
  def stray(txn: String): Path = new Path(parent, s"$prefix$txn.stray")
  def beat(txn: String): Path = new Path(parent, s"$prefix$txn.beat")

  /** Of the session that takes the place of a dead owner. */
  def heir(txn: String, owner: String): Path = new Path(parent, s"$prefix$txn.heir-$owner")

  def isOurs(name: String): Boolean = name.startsWith(prefix) || name.startsWith(s".$base.old-")

  private def file(txn: String): Path = new Path(parent, s"$prefix$txn.json")

  private def isJournal(name: String): Boolean =
    name.startsWith(prefix) && name.endsWith(".json") &&
      !name.stripPrefix(prefix).stripSuffix(".json").contains(".")
}

private[zorder] object JournalStore {
  def beside(fs: FileSystem, root: Path): JournalStore = new JournalStore(fs, root.getParent, root.getName)
}
