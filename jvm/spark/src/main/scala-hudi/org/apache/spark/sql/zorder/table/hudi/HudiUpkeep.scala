package org.apache.spark.sql.zorder.table.hudi

import java.util.Locale

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.table.timeline.HoodieInstant
import org.apache.hudi.metadata.HoodieTableMetadata

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.RunRecord
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** Rollback and removal, with Hudi's own commands. */
private[hudi] object HudiUpkeep {

  /** A rollback would compact the metadata table first if that is due, and then fail because it was compacted. */
  private val NoCompaction = Map("hoodie.metadata.compact.max.delta.commits" -> Int.MaxValue.toString)

  /** Hudi's rollback of the run's commits, the newest first, as long as others made none since. */
  def rollback(session: ClassicSession, opened: HudiClusterTable, said: String): String = {
    import opened.name
    val fs = opened.root.getFileSystem(session.sessionState.newHadoopConf())
    val recorded = opened.state.lastRun()
    val run = recorded.lastOption.getOrElse(opened.refuseNoRun())
    val timeline =
      opened.meta.getActiveTimeline.getCommitsTimeline.filterCompletedInstants().getInstants.asScala.toSeq
    val commits = present(recorded, timeline)
    if (commits.isEmpty && !undone(fs, opened.root, recorded))
      refuse(
        s"The run ${run.runId} of $name (instant ${recorded.head.version.get}) is not in Hudi's timeline any more.")
    commits.headOption.foreach(refuseLater(opened, run, timeline.filterNot(commits.contains), _))
    val before = recorded.take(commits.length).flatMap(_.rewritten).map(f => new Path(f.path))
    before.find(!fs.exists(_)).foreach { gone =>
      refuse(s"The files before the run ${run.runId} of $name were cleaned ($gone is gone).")
    }
    HudiClient.during(session, opened.root.toString, opened.hudiProperties ++ NoCompaction) { client =>
      commits.reverse.foreach { c =>
        undo(client, c.requestedTime)
        CrashPoint.hit("hudi-undone")
      }
    }
    opened.state.writeRollback(run, said)
    run.runId
  }

  /** Hudi rolls back the newest commit only, and what its metadata table has not merged yet. */
  private def refuseLater(
      opened: HudiClusterTable,
      run: RunRecord,
      others: Seq[HoodieInstant],
      first: HoodieInstant): Unit = {
    import opened.name
    others.find(o =>
      o.requestedTime > first.requestedTime || o.getCompletionTime > first.getCompletionTime).foreach { o =>
      refuse(
        s"$name was written to after the run ${run.runId} began (${first.requestedTime}; ${o.getAction} " +
          s"${o.requestedTime}), and Hudi rolls back the newest commit only; use CALL rollback_to_instant if you " +
          "mean it.")
    }
    compacted(opened).filter(first.requestedTime <= _).foreach { at =>
      refuse(
        s"Hudi has compacted its metadata table ($at) since the run ${run.runId} of $name began, and rolls " +
          "back nothing from before that; with a savepoint of that time, use CALL rollback_to_savepoint.")
    }
  }

  /** Whether a rollback that died before its record undid all commits of a run. */
  private def undone(fs: FileSystem, root: Path, recorded: Seq[RunRecord]): Boolean =
    recorded.head.rewritten.forall(f => fs.exists(new Path(f.path))) &&
      !recorded.flatMap(_.files).exists(f => fs.exists(new Path(root, f.path)))

  /** The instants of a run's commits, oldest first, without the last ones if a rollback that died undid them. */
  private def present(recorded: Seq[RunRecord], timeline: Seq[HoodieInstant]): Seq[HoodieInstant] =
    recorded.map(r => timeline.find(c => r.version.exists(_.toString == c.requestedTime)))
      .takeWhile(_.isDefined).flatten

  /** When the metadata table, if there is one, was compacted last. */
  private def compacted(opened: HudiClusterTable): Option[String] =
    if (!opened.meta.getTableConfig.isMetadataTableAvailable) None
    else {
      val path = HoodieTableMetadata.getMetadataTableBasePath(opened.root.toString)
      val metadata = HoodieTableMetaClient.builder()
        .setConf(opened.meta.getStorageConf.newInstance()).setBasePath(path).build()
      val last = metadata.getActiveTimeline.getCommitTimeline.filterCompletedInstants().lastInstant()
      if (last.isPresent) Some(last.get.requestedTime) else None
    }

  /** What Hudi's procedure rollback_to_instant calls; Hudi has nothing newer for one commit. */
  @nowarn("cat=deprecation")
  private def undo(client: HudiClient.Client, instant: String): Unit = {
    client.rollback(instant)
    ()
  }

  /** The table's files stay as they are, and so does Hudi's timeline. */
  def remove(session: ClassicSession, opened: HudiClusterTable, fs: FileSystem): Unit = {
    fs.delete(opened.state.dir, true)
    opened.catalog.foreach { known =>
      // raw, because CHAR and VARCHAR must stay when it is written back
      val table = session.sessionState.catalog.getTableRawMetadata(known.identifier)
      val ours = table.properties.keySet.filter(_.toLowerCase(Locale.ROOT).startsWith("zorder."))
      if (ours.nonEmpty)
        session.sessionState.catalog.alterTable(table.copy(properties = table.properties -- ours))
    }
  }
}
