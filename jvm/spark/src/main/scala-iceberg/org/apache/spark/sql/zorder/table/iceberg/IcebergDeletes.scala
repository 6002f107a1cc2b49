package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{DeleteFile, FileScanTask}
import org.apache.iceberg.util.ContentFileUtil

/**
 * How many rows of data files are deleted by delete files, according to the manifests.
 *
 * @param tasks
 *   all files of a snapshot, each with the delete files that its reader has to open
 */
final private[iceberg] class IcebergDeletes(tasks: Iterable[FileScanTask]) {

  /** The number of rows in the data files that a delete file applies to. */
  private val reach: Map[(String, Any), Long] = tasks.toSeq
    .flatMap(t => IcebergDeletes.of(t).map(IcebergDeletes.key(_) -> t.file.recordCount))
    .groupBy(_._1).map { case (delete, rows) => delete -> rows.map(_._2).sum }

  /**
   * An estimate of the share of a file's rows that is deleted. The entries of a delete file that several data files
   * share are divided by the rows of these files, as if each entry deleted one row.
   */
  def share(task: FileScanTask): Double = {
    val deleted =
      IcebergDeletes.of(task).map(d => d.recordCount.toDouble / math.max(1L, reach(IcebergDeletes.key(d))))
    math.min(1.0, deleted.sum)
  }
}

private[iceberg] object IcebergDeletes {

  /** One file can hold position deletes of several data files, and an equality delete can match any number of rows. */
  def rows(task: FileScanTask): Option[Long] = {
    val deletes = task.deletes.asScala
    if (deletes.forall(ContentFileUtil.isDV)) Some(deletes.map(d => d.recordCount: Long).sum) else None
  }

  /** One file holds the deletion vectors of many data files. */
  private def key(d: DeleteFile): (String, Any) = (d.location, d.contentOffset)

  /** Delete files that are newer than the data file. A rewrite has already left out the rows of older ones. */
  private def of(task: FileScanTask): Seq[DeleteFile] = task.deletes.asScala.toSeq.filter { d =>
    val (data, delete) = (task.file.dataSequenceNumber, d.dataSequenceNumber)
    data == null || delete == null || delete > data
  }
}
