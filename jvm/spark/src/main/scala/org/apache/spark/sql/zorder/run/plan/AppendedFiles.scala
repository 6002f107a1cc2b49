package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * Files that one run wrote in layout order across file numbers: rows of one or several appends.
 *
 * @param spans
 *   each with its first file number and one past its last
 */
final private[run] case class AppendedFiles(spans: Seq[(DataFile, Int, Int)]) {
  def files: Seq[DataFile] = spans.map(_._1)

  def bytes: Long = files.map(_.length).sum
}
