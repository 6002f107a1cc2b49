package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{DeleteFile, FileScanTask}
import org.apache.iceberg.util.ContentFileUtil

/**
 * How many rows of files are deleted by others' delete files, as the manifests tell.
 *
 * @param tasks
 *   all files of a snapshot with the delete files that a reader of each has to open
 */
final private[iceberg] class IcebergDeletes(tasks: Iterable[FileScanTask]) {

  /** Rows of the data files that a delete file is for. */
  private val reach: Map[(String, Any), Long] = tasks.toSeq
    .flatMap(t => IcebergDeletes.of(t).map(IcebergDeletes.key(_) -> t.file.recordCount))
    .groupBy(_._1).map { case (delete, rows) => delete -> rows.map(_._2).sum }

  /**
   * About which part of a file's rows is deleted. A delete file that several data files share counts for each
   * by its rows, as if each of its entries met one row.
   */
  def share(task: FileScanTask): Double = {
    val deleted =
      IcebergDeletes.of(task).map(d => d.recordCount.toDouble / math.max(1L, reach(IcebergDeletes.key(d))))
    math.min(1.0, deleted.sum)
  }
}

private[iceberg] object IcebergDeletes {

  /** Position deletes of several files may lie in one, and an equality delete may meet any number of rows. */
  def rows(task: FileScanTask): Option[Long] = {
    val deletes = task.deletes.asScala
    if (deletes.forall(ContentFileUtil.isDV)) Some(deletes.map(d => d.recordCount: Long).sum) else None
  }

  /** One file holds the deletion vectors of many. */
  private def key(d: DeleteFile): (String, Any) = (d.location, d.contentOffset)

  /** Those that came after the file: a rewrite has left their rows out, though readers may still look into them. */
  private def of(task: FileScanTask): Seq[DeleteFile] = task.deletes.asScala.toSeq.filter { d =>
    val (data, delete) = (task.file.dataSequenceNumber, d.dataSequenceNumber)
    data == null || delete == null || delete > data
  }
}
