package org.apache.spark.sql.zorder.table.hudi

import java.util.Locale

import scala.annotation.nowarn
import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.RunRecord

/** Rollback and removal by Hudi's own means. */
private[hudi] object HudiUpkeep {

  /** Hudi's rollback of the run's commit, as long as nothing came after it. */
  def rollback(session: ClassicSession, opened: HudiClusterTable): String = {
    import opened.name
    val last = opened.state.runs().filter(_.operation == "OPTIMIZE").lastOption
    val (run, instant) = last.flatMap(r => r.version.map(r -> _.toString)).getOrElse(
      refuse(s"There is no run of $name to roll back."))
    val commits =
      opened.meta.getActiveTimeline.getCommitsTimeline.filterCompletedInstants().getInstants.asScala
    val ours = commits.find(_.requestedTime == instant).getOrElse(
      refuse(s"The run ${run.runId} of $name (instant $instant) is not in Hudi's timeline any more."))
    val later = commits.find(c =>
      c != ours && (c.requestedTime > instant || c.getCompletionTime > ours.getCompletionTime))
    later.foreach { c =>
      refuse(s"$name was written to after the run ${run.runId} began ($instant; ${c.getAction} " +
        s"${c.requestedTime}), and Hudi rolls back the newest commit only; use CALL rollback_to_instant if you mean it.")
    }
    val fs = opened.root.getFileSystem(session.sessionState.newHadoopConf())
    run.rewritten.map(f => new Path(f.path)).find(!fs.exists(_)).foreach { gone =>
      refuse(s"The files before the run ${run.runId} of $name were cleaned ($gone is gone).")
    }
    HudiClient.during(session, opened.root.toString, opened.hudiProperties)(undo(_, instant))
    opened.state.write(RunRecord.rolledBack(run, opened.state.nextNumber(), name), Map.empty)
    run.runId
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
    opened.catalog.foreach { table =>
      val ours = table.properties.keySet.filter(_.toLowerCase(Locale.ROOT).startsWith("zorder."))
      if (ours.nonEmpty)
        session.sessionState.catalog.alterTable(table.copy(properties = table.properties -- ours))
    }
  }
}
