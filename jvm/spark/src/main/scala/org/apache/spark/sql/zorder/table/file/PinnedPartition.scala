package org.apache.spark.sql.zorder.table.file

/** The files of one partition directory (empty name when unpartitioned), as a run listed them at its start. */
final case class PinnedPartition(directory: String, files: Seq[DataFile]) {
  def bytes: Long = files.map(_.length).sum
}
