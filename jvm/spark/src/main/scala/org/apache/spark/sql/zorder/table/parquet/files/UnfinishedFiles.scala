package org.apache.spark.sql.zorder.table.parquet.files

import java.io.{EOFException, FileNotFoundException}
import java.nio.{ByteBuffer, ByteOrder}
import java.nio.charset.StandardCharsets.US_ASCII

import org.apache.hadoop.fs.{FSDataInputStream, FileSystem, Path}
import org.apache.spark.sql.zorder.table.storage.ObjectStores

/**
 * Files that a writer without a scratch directory (pyarrow, a plain `open`) has not finished: they are empty, or do not
 * end as Parquet files end. A copy would stay without the rows that come, so such a file is left where it is; once it is
 * finished, it is a late file like others. An object store does not show files before they are whole.
 */
private[parquet] object UnfinishedFiles {
  private val Tail = 8
  private val DayMs = 24L * 3600 * 1000

  /** The second one is of files whose footer is encrypted. */
  private val Ends = Set("PAR1", "PARE")

  /** Whether the file is one, or is not as long any more as it was when `dir` was listed. */
  def is(fs: FileSystem, dir: Path, file: ListedFile): Boolean =
    file.isNamedAsData && !ObjectStores.isOne(fs.getUri.getScheme) &&
      !isWhole(fs, new Path(dir, file.rel), file.length)

  /**
   * A hidden file that its writer gives its name when it is whole, and that is younger than a day: what a dead writer has
   * left is older. A copy would get the name in its place.
   */
  def upload(fs: FileSystem, tree: DirectoryListing): Option[String] =
    if (ObjectStores.isOne(fs.getUri.getScheme)) None
    else {
      val since = System.currentTimeMillis - DayMs
      tree.files.find { f =>
        !f.isNamedAsData && f.modified > since && (isKnownUpload(f) || isBeginning(fs, tree.root, f))
      }.map(_.rel)
    }

  /** Of `hdfs dfs -put`, of Hive, or of Impala. */
  private def isKnownUpload(file: ListedFile): Boolean = {
    def isStaging(dir: String) = dir.startsWith(".hive-staging") || dir == "_impala_insert_staging"
    file.name.endsWith("._COPYING_") || file.parent.split('/').exists(isStaging)
  }

  /** The beginning of a Parquet file: of NiFi, rsync, a script. */
  private def isBeginning(fs: FileSystem, dir: Path, file: ListedFile): Boolean = {
    val path = new Path(dir, file.rel)
    if (file.length == 0) file.name.contains(".parq")
    else begins(fs, path) && !isWhole(fs, path, file.length)
  }

  private def begins(fs: FileSystem, path: Path): Boolean =
    try {
      val in = fs.open(path)
      try {
        val head = new Array[Byte](Ends.head.length)
        in.readFully(head)
        Ends(new String(head, US_ASCII))
      } finally in.close()
    } catch { case _: EOFException | _: FileNotFoundException => false }

  private def isWhole(fs: FileSystem, path: Path, length: Long): Boolean =
    length > Tail + Ends.head.length && {
      try {
        val in = fs.open(path)
        try endsAt(in, length)
        finally in.close()
      } catch { case _: EOFException | _: FileNotFoundException => false }
    }

  private def endsAt(in: FSDataInputStream, length: Long): Boolean = {
    val tail = new Array[Byte](Tail)
    in.seek(length - Tail)
    in.readFully(tail)
    val footer = ByteBuffer.wrap(tail).order(ByteOrder.LITTLE_ENDIAN).getInt.toLong
    Ends(new String(tail, 4, 4, US_ASCII)) && footer > 0 && footer <= length - Tail - 4 && in.read() < 0
  }

  /**
   * Brings what others have written to another directory, as far as it is not there: finished files by copies, which have
   * names of their own where another file has the name.
   *
   * @param ours
   *   files that are no others'
   * @param moves
   *   whether unfinished files go there too, by renames, so that their writers go on in the new place; else they stay
   */
  def bring(fs: FileSystem, from: Path, to: Path, ours: Set[String], moves: Boolean): Unit =
    DirectoryListing.walk(fs, from).files.filter(f => f.isNamedAsData && !ours(f.rel)).foreach { f =>
      val (source, target) = (new Path(from, f.rel), new Path(to, f.rel))
      if (is(fs, from, f)) {
        if (moves && !fs.exists(target)) FileMoves.rename(fs, source, target)
      } else if (f.length > 0 && !isCopy(fs, target, f)) {
        val free = if (fs.exists(target)) new Path(to, CopyName.ofMoved(f)) else target
        if (!isCopy(fs, free, f)) FileMoves.copy(fs, source, free, f)
      }
    }

  /** Whether a copy of the file is there. An object store does not keep the modification time of what is copied. */
  def isCopy(fs: FileSystem, at: Path, file: ListedFile): Boolean =
    FileMoves.status(fs, at).exists(s =>
      s.getLen == file.length &&
        (s.getModificationTime == file.modified || ObjectStores.isOne(fs.getUri.getScheme)))
}
