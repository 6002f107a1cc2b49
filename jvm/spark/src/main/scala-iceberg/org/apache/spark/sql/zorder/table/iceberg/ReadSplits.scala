package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{FileScanTask, Table, TableProperties}
import org.apache.iceberg.util.PropertyUtil

/** How large the splits of a run's read are: all cores read, as they do when Spark itself plans files.
  *
  * Iceberg fits its splits to the cores when it plans a scan by itself, but not for staged files: of these it
  * fills splits of 128 MB, so that one core reads a table of that size alone while the others wait.
  */
private[iceberg] object ReadSplits {

  /** Bytes of a split: the table's own limit, or less where that leaves cores without work.
    *
    * @param limit
    *   of the table, `read.split.target-size`
    * @param openCost
    *   of the table, `read.split.open-file-cost`: a file counts as at least so many bytes, and a split has as many
    */
  def bytes(lengths: Seq[Long], cores: Int, limit: Long, openCost: Long): Long = {
    val total = lengths.map(math.max(_, openCost)).sum
    math.min(limit, math.max(math.max(openCost, 1L), total / math.max(cores, 1)))
  }

  def bytes(table: Table, tasks: Seq[FileScanTask], cores: Int): Long = {
    def property(name: String, default: Long) = PropertyUtil.propertyAsLong(table.properties, name, default)
    bytes(
      tasks.map(_.length),
      cores,
      property(TableProperties.SPLIT_SIZE, TableProperties.SPLIT_SIZE_DEFAULT),
      property(TableProperties.SPLIT_OPEN_FILE_COST, TableProperties.SPLIT_OPEN_FILE_COST_DEFAULT))
  }
}
