package org.apache.spark.sql.zorder.table.hudi

import scala.collection.JavaConverters._
import scala.util.Try

import org.apache.hadoop.fs.Path
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.table.HoodieSparkTable
import org.apache.hudi.table.action.clean.CleanPlanner

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.Vacuumed

/** Hudi's cleaner: files that were replaced, by runs or by others, before the retention. */
private[hudi] object HudiVacuum {
  private val MillisPerHour = 3600000.0

  def run(
      session: ClassicSession,
      opened: HudiClusterTable,
      keepMs: Long,
      dryRun: Boolean): Seq[Vacuumed] = {
    val settings = opened.hudiProperties ++ policy(keepMs)
    HudiClient.during(session, opened.root.toString, settings) { client =>
      val old = deletable(client)
      val bytes = old.map(length(session, _)).sum
      if (!dryRun) client.clean()
      if (old.isEmpty) Nil else Seq(Vacuumed(opened.root, old.length.toLong, bytes, 0L, "DELETED"))
    }
  }

  /** Hudi counts whole hours, and keeps the last one at least. */
  private def policy(keepMs: Long): Map[String, String] =
    if (keepMs == 0)
      Map("hoodie.clean.policy" -> "KEEP_LATEST_FILE_VERSIONS", "hoodie.clean.fileversions.retained" -> "1")
    else
      Map(
        "hoodie.clean.policy" -> "KEEP_LATEST_BY_HOURS",
        "hoodie.clean.hours.retained" -> math.ceil(keepMs / MillisPerHour).toInt.toString)

  private def deletable(client: HudiClient.Client): Seq[String] = {
    val context = client.getEngineContext.asInstanceOf[HoodieSparkEngineContext]
    val table = HoodieSparkTable.create[AnyRef](client.getConfig, context)
    val planner = new CleanPlanner(context, table, client.getConfig)
    val earliest = planner.getEarliestCommitToRetain
    planner.getPartitionPathsToClean(earliest).asScala
      .flatMap(p => planner.getDeletePaths(p, earliest).getRight.asScala).map(_.getFilePath)
  }

  private def length(session: ClassicSession, path: String): Long =
    Try(
      new Path(path).getFileSystem(session.sessionState.newHadoopConf()).getFileStatus(new Path(path)).getLen)
      .getOrElse(0L)
}
