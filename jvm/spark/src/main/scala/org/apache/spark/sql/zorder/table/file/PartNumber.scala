package org.apache.spark.sql.zorder.table.file

import scala.util.matching.Regex

import org.apache.hadoop.fs.Path

/**
 * The shuffle partition that wrote a file, by the file's name: its number over all layouts of a run.
 *
 * @param writer
 *   who names files so
 * @param pattern
 *   of a name, with the number as its only group
 */
private[table] final class PartNumber(writer: String, pattern: Regex) {
  def apply(path: String): Int = new Path(path).getName match {
    case pattern(number) => number.toInt
    case other => throw new IllegalStateException(s"$other is not a file that $writer wrote")
  }
}
