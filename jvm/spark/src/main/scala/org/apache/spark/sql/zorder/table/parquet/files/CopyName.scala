package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.commons.codec.digest.DigestUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.zorder.table.file.PathText

/**
 * The name of a copy in a directory where another file may have the name of its original. It is made from path, length
 * and modification time of the original, so an attempt after a crash finds the copy of the first one, and two files
 * never get the same name.
 */
private[parquet] object CopyName {

  /**
   * Relative to the new directory, in the same partition directories.
   *
   * @param dir
   *   where the original lies
   */
  def of(dir: Path, file: ListedFile): String = of(PathText.of(new Path(dir, file.rel)), file)

  /** The name for a file whose directory is renamed between two attempts, which is known by its relative path alone. */
  def ofMoved(file: ListedFile): String = of(file.rel, file)

  private def of(known: String, file: ListedFile): String = {
    val name = s"copy-${DigestUtils.sha256Hex(s"$known\n${file.length}\n${file.modified}").take(32)}.parquet"
    if (file.parent.isEmpty) name else s"${file.parent}/$name"
  }

  /** Whether a file has the name of a copy. */
  def is(file: ListedFile): Boolean = file.name.matches("copy-[0-9a-f]{32}[.]parquet")
}
