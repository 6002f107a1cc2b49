package org.apache.spark.sql.zorder.clustering

import java.nio.file.Files

import scala.util.Try

import org.apache.spark.SparkEnv
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * The disks on which executors keep the files of a shuffle. A run must not fill them, so that one of a table
 * that is large beside them is cut into batches (`Batches`).
 */
final private[clustering] class LocalDisks(session: ClassicSession) {

  /**
   * Free bytes on the disks of all executors together; None if a shuffle manager other than Spark's keeps the
   * rows elsewhere, or no disk can be looked at. Looked up once; on a cluster by a job of a few short tasks,
   * which may miss an executor and then finds less.
   */
  lazy val free: Option[Long] = {
    val context = session.sparkContext
    if (context.getConf.get("spark.shuffle.manager", "sort") != "sort") None
    else {
      val found =
        if (context.isLocal) LocalDisks.ofThisJvm()
        else {
          // the driver is in the map, too
          val tasks = 2 * math.max(1, context.getExecutorMemoryStatus.size - 1)
          context.parallelize(0 until tasks, tasks).mapPartitions(_ => LocalDisks.ofThisJvm().iterator)
            .collect().toSeq
        }
      // executors of one host share its disks
      if (found.isEmpty) None else Some(found.groupBy(_._1).values.map(_.head._2).sum)
    }
  }
}

private[clustering] object LocalDisks {

  /** Host and file store, and the bytes that are free there. */
  private def ofThisJvm(): Seq[((String, String), Long)] = {
    val blocks = SparkEnv.get.blockManager
    // a directory may be gone: Spark goes on with the others
    blocks.diskBlockManager.localDirs.toSeq.flatMap { dir =>
      Try {
        val store = Files.getFileStore(dir.toPath)
        (blocks.blockManagerId.host, store.toString) -> store.getUsableSpace
      }.toOption
    }
  }
}
