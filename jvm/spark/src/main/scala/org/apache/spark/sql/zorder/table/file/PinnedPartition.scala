package org.apache.spark.sql.zorder.table.file

/** The files of one partition directory (empty name when unpartitioned), as a run listed them at its start. */
final case class PinnedPartition(directory: String, files: Seq[DataFile]) {
  def bytes: Long = files.map(_.length).sum
}

object PinnedPartition {

  /** Files by the partitions that they are in. */
  def of(files: Seq[DataFile]): IndexedSeq[PinnedPartition] =
    files.groupBy(_.partition).toIndexedSeq.map { case (directory, inside) =>
      PinnedPartition(directory, inside)
    }
}
