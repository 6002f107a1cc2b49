package org.apache.spark.sql.zorder.skip.join

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.zorder.skip.marker.KeySet
import org.apache.spark.sql.zorder.skip.scan.SkippingFileIndex

/** A column of a scan that the keys of a join could tell which files to leave out. */
final private[join] case class ScannedColumn(column: Attribute, index: SkippingFileIndex) {

  /** Tells it from other columns and tables. */
  def name: String = s"${index.root} ${column.name}"

  /** Whether rows with these keys are not in all files. */
  def leavesOut(keys: KeySet): Boolean = index.leavesOut(keys.test(column))
}
