package org.apache.spark.sql.zorder.table.hudi

import java.time.{Instant, LocalDateTime, ZoneId}
import java.time.format.DateTimeFormatterBuilder
import java.time.temporal.ChronoField
import java.util.Locale

import scala.annotation.{nowarn, tailrec}
import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.client.heartbeat.HeartbeatUtils
import org.apache.hudi.common.heartbeat.HoodieHeartbeatUtils
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.table.timeline.HoodieInstant
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}
import org.apache.hudi.metadata.HoodieTableMetadata
import org.apache.hudi.table.HoodieSparkTable
import org.apache.hudi.table.action.clean.CleanPlanner
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CatalogProperties, Retention, RunRecord, VacuumResult, VacuumStatus}
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, DriverReads}

/** Rollback and removal, with Hudi's own commands. */
private[hudi] object HudiUpkeep {

  /** A rollback would compact the metadata table first if that is due, and then fail because it was compacted. */
  private val NoCompaction = Map("hoodie.metadata.compact.max.delta.commits" -> Int.MaxValue.toString)

  /** Of a client whose caller holds the lock: with several writers a rollback asks for it even if told not to. */
  private val WithinLock = Map("hoodie.write.concurrency.mode" -> "SINGLE_WRITER")

  /**
   * Hudi's rollback of the run's commits, the newest first, as long as others made none since and none is under way.
   * Hudi's lock is held from the check to the end: a write that begins meanwhile would rest on files that go.
   */
  def rollback(session: ClassicSession, opened: HudiClusterTable, said: String): String = {
    val fs = opened.root.getFileSystem(session.sessionState.newHadoopConf())
    val recorded = opened.state.lastRun()
    val run = recorded.lastOption.getOrElse(opened.refuseNoRun())
    checked(fs, opened, recorded)
    val (path, settings) = (opened.root.toString, opened.hudiProperties ++ NoCompaction)
    HudiClient.during(session, path, settings) { holder =>
      val undone = HudiClient.during(session, path, settings ++ WithinLock) { client =>
        CrashPoint.hit("hudi-undoing")
        locked(holder) {
          opened.meta.reloadActiveTimeline()
          val commits = checked(fs, opened, recorded).reverse
          commits.foreach { c =>
            undo(client, opened, c.requestedTime)
            CrashPoint.hit("hudi-undone")
          }
          commits
        }
      }
      // Hudi leaves the plan, which would keep updates away from the files until our next statement
      undone.foreach(c => DeadRuns.undo(holder, c.requestedTime))
    }
    opened.state.writeRollback(run, said)
    run.runId
  }

  /** The run's commits that are to be undone, oldest first, if Hudi can undo them without harm to others. */
  private def checked(
      fs: FileSystem,
      opened: HudiClusterTable,
      recorded: Seq[RunRecord]): Seq[HoodieInstant] = {
    import opened.name
    val run = recorded.last
    val timeline =
      opened.meta.getActiveTimeline.getCommitsTimeline.filterCompletedInstants().getInstants.asScala.toSeq
    val commits = present(recorded, timeline)
    if (commits.isEmpty && !undone(fs, opened.root, recorded))
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.HUDI_NOT_IN_TIMELINE",
        "run" -> run.runId,
        "table" -> name,
        "instant" -> recorded.head.version.get)
    commits.headOption.foreach { first =>
      refuseLater(opened, run, timeline.filterNot(commits.contains), first)
      refuseUnfinished(opened, run, first)
    }
    val before = recorded.take(commits.length).flatMap(_.rewritten).map(f => new Path(f.path))
    before.find(!fs.exists(_)).foreach { gone =>
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.HUDI_FILES_CLEANED",
        "run" -> run.runId,
        "table" -> name,
        "file" -> gone)
    }
    commits
  }

  /**
   * A write, and a clustering or a compaction that was planned since, may rest on the run's files. A clean that was
   * planned since deletes the files of before, whatever the table has then.
   */
  private def refuseUnfinished(opened: HudiClusterTable, run: RunRecord, first: HoodieInstant): Unit = {
    val timeline = opened.meta.getActiveTimeline
    val planned = Seq(timeline.getWriteTimeline, timeline.getCleanerTimeline)
      .flatMap(_.filterInflightsAndRequested().getInstants.asScala)
      .filter(_.requestedTime > first.requestedTime)
      .map(i => i.requestedTime -> i.getAction).toMap
    (UnfinishedWrites.of(opened.meta) ++ planned).toSeq.sorted.headOption.foreach { case (at, action) =>
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.HUDI_WRITE_UNDER_WAY",
        "action" -> action,
        "instant" -> at,
        "table" -> opened.name,
        "run" -> run.runId)
    }
  }

  private def locked[A](client: HudiClient.Client)(body: => A): A = {
    val transactions = client.getTransactionManager
    transactions.beginStateChange(HudiOption.empty(), HudiOption.empty())
    try body
    finally transactions.endStateChange(HudiOption.empty())
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
        "ZORDER_CANNOT_ROLL_BACK.HUDI_WRITTEN_SINCE",
        "table" -> name,
        "run" -> run.runId,
        "instant" -> first.requestedTime,
        "action" -> o.getAction,
        "now" -> o.requestedTime)
    }
    compacted(opened).filter(first.requestedTime <= _).foreach { at =>
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.HUDI_METADATA_COMPACTED",
        "instant" -> at,
        "run" -> run.runId,
        "table" -> name)
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

  /** What Hudi's procedure rollback_to_instant comes to, under a lock that is held already. */
  @nowarn("cat=deprecation")
  private def undo(client: HudiClient.Client, opened: HudiClusterTable, instant: String): Unit = {
    val services = client.getTableServiceClient
    val begun = services.getPendingRollbackInfo(opened.meta, instant, true)
    if (!services.rollback(instant, begun, true, false))
      throw new IllegalStateException(s"Hudi did not roll back the commit $instant of ${opened.name}")
  }

  /** The table's files stay as they are, and so does Hudi's timeline. */
  def remove(session: ClassicSession, opened: HudiClusterTable, fs: FileSystem): Unit = {
    fs.delete(opened.state.dir, true)
    opened.catalog.foreach(known =>
      CatalogProperties.dropOurs(session.sessionState.catalog, known.identifier))
  }
}

/** Hudi's cleaner: files that were replaced, by runs or by others, before the retention. */
private[hudi] object HudiVacuum {
  private val MillisPerHour = 3600000.0
  private val Threads = 8

  private val Hours = "hoodie.clean.hours.retained"

  /** Hudi counts from when it makes its plan, after it has listed the table. */
  private val PlanMs = 600000L

  @tailrec
  def run(
      session: ClassicSession,
      opened: HudiClusterTable,
      retention: Retention,
      dryRun: Boolean): Seq[VacuumResult] = {
    opened.meta.reloadActiveTimeline()
    val known = writes(opened.meta)
    val kept = policy(opened.meta, retention.ms, System.currentTimeMillis)
    val gone = HudiClient.during(session, opened.root.toString, opened.hudiProperties ++ kept) { client =>
      val old = present(session, deletable(client))
      CrashPoint.hit("hudi-cleaning")
      opened.meta.reloadActiveTimeline()
      if (dryRun) Some(old)
      // a policy without hours keeps nothing that a write which has come since has replaced
      else if (!kept.contains(Hours) && writes(opened.meta) != known) None
      else {
        // Hudi may have a plan of its own to finish first
        client.clean()
        val left = present(session, old.map(_._1)).map(_._1).toSet
        Some(old.filterNot { case (path, _) => left(path) })
      }
    }
    gone match {
      case None => run(session, opened, retention, dryRun)
      case Some(Nil) => Nil
      case Some(files) =>
        Seq(VacuumResult(opened.root, files.length.toLong, files.map(_._2).sum, 0L, VacuumStatus.Deleted))
    }
  }

  private def writes(meta: HoodieTableMetaClient): Set[HoodieInstant] =
    meta.getActiveTimeline.getWriteTimeline.getInstants.asScala.toSet

  private def policy(meta: HoodieTableMetaClient, keepMs: Long, now: Long): Map[String, String] = {
    val commits = meta.getActiveTimeline.getCommitsTimeline.filterCompletedInstants().getInstants.asScala
      .map(c => (c.requestedTime, Option(c.getCompletionTime).getOrElse(c.requestedTime)))
    // what is under way may end, and replace files, before Hudi makes its plan
    val busy = keepMs > 0 &&
      !meta.getActiveTimeline.getWriteTimeline.filterInflightsAndRequested().getInstants.isEmpty
    // however few commits there were since the last clean
    Map("hoodie.clean.trigger.max.commits" -> "0") ++
      (hours(commits.toSeq, keepMs, now, meta.getTableConfig.getTimelineTimezone.getZoneId, busy) match {
        case Some(kept) =>
          Map("hoodie.clean.policy" -> "KEEP_LATEST_BY_HOURS", Hours -> kept.toString)
        case None =>
          Map(
            "hoodie.clean.policy" -> "KEEP_LATEST_FILE_VERSIONS",
            "hoodie.clean.fileversions.retained" -> "1")
      })
  }

  /**
   * Hudi counts whole hours from when a commit began, and keeps everything if none began in them. What a commit replaced
   * was read until it ended.
   *
   * @param commits
   *   when each began and ended, by Hudi's clock
   * @param busy
   *   whether another one may end soon
   * @return
   *   enough hours for each commit that ended within the retention; None if there is none: all that was replaced is older
   */
  private[hudi] def hours(
      commits: Seq[(String, String)],
      keepMs: Long,
      now: Long,
      zone: ZoneId,
      busy: Boolean = false): Option[Int] = {
    // years before the first would compare as later ones: the clock writes no era
    val since = Instant.ofEpochMilli(now - math.min(keepMs, now)).atZone(zone).format(Clock)
    val recent = commits.collect { case (began, ended) if keepMs > 0 && ended > since => began }
    if (recent.isEmpty && !busy) None
    else {
      // old tables have no milliseconds
      val first = (since +: recent).min.padTo(since.length, '0')
      val from = LocalDateTime.parse(first, Clock).atZone(zone).toInstant.toEpochMilli
      Some(math.ceil((now - from + PlanMs) / MillisPerHour).toInt)
    }
  }

  /** Of the names of instants. */
  private val Clock = new DateTimeFormatterBuilder().appendPattern("yyyyMMddHHmmss")
    .appendValue(ChronoField.MILLI_OF_SECOND, 3).toFormatter(Locale.ROOT)

  private def deletable(client: HudiClient.Client): Seq[String] = {
    val context = client.getEngineContext.asInstanceOf[HoodieSparkEngineContext]
    val table = HoodieSparkTable.create[AnyRef](client.getConfig, context)
    val planner = new CleanPlanner(context, table, client.getConfig)
    val earliest = planner.getEarliestCommitToRetain
    planner.getPartitionPathsToClean(earliest).asScala
      .flatMap(p => planner.getDeletePaths(p, earliest).getRight.asScala).map(_.getFilePath)
  }

  /** Those of these files that are there, with their lengths. */
  private def present(session: ClassicSession, paths: Seq[String]): Seq[(String, Long)] = {
    val conf = session.sessionState.newHadoopConf()
    DriverReads.each(paths, Threads) { path =>
      val file = new Path(path)
      FileMoves.status(file.getFileSystem(conf), file).map(path -> _.getLen)
    }.flatten
  }
}

/** Runs that died between their plan and their commit: the plan would lock the files for others. */
private[hudi] object DeadRuns extends Logging {
  val HeartbeatMs = 5000
  val ToleratedMisses = 4

  private val PollMs = 500L

  /** A run without a heartbeat for so long is dead. */
  val PatienceMs: Long = HeartbeatMs.toLong * ToleratedMisses

  /** Clocks of the driver and of the storage differ by less. */
  val WrongClockMs = 600000L

  /** Marks a plan as ours, in its metadata. */
  val RunId = "zorder.clustering-id"

  /**
   * Undoes what dead runs have left with Hudi's own rollback: the plan, the markers and the files. If a run may be
   * alive, waits for its next heartbeat or until it counts as dead.
   */
  def rollBack(
      session: ClassicSession,
      meta: HoodieTableMetaClient,
      settings: Map[String, String]): Unit = {
    val dead = pending(meta).filter(isDead(meta, _))
    if (dead.nonEmpty) HudiClient.during(session, meta.getBasePath.toString, settings) { client =>
      dead.foreach { instant =>
        logWarning(s"The clustering $instant of ${meta.getBasePath} died and is rolled back")
        undo(client, instant)
      }
      meta.reloadActiveTimeline()
    }
  }

  /** One sentence on a run that is planned or in progress, for statements that only read. */
  def notice(
      name: String,
      meta: HoodieTableMetaClient): Option[String] = pending(meta).headOption.map { instant =>
    s"The run of the clustering $instant is at work on $name, or died: this statement has read the table as it is " +
      "and left that alone."
  }

  /** By our own clock, unless the last heartbeat is so old that no clock is so wrong: heartbeats are by another. */
  private def isDead(meta: HoodieTableMetaClient, instant: String): Boolean = {
    val (storage, basePath) = (meta.getStorage, meta.getBasePath.toString)
    def beat: Long = HoodieHeartbeatUtils.getLastHeartbeatTime(storage, basePath, instant)
    val (seen, began) = (beat, System.nanoTime())
    val isOld = seen != 0 && HoodieHeartbeatUtils.isHeartbeatExpired(instant, WrongClockMs, storage, basePath)
    @tailrec def watch(): Boolean =
      if (beat != seen) false
      else if (isOld || System.nanoTime() - began > PatienceMs * 1000000) true
      else {
        Thread.sleep(PollMs)
        watch()
      }
    watch()
  }

  /** Rolls back a planned clustering that nobody executes any more. It has no effect after a commit. */
  def undo(client: HudiClient.Client, instant: String): Unit = {
    val config = client.getConfig
    val meta = HoodieTableMetaClient.builder().setBasePath(config.getBasePath)
      .setConf(client.getEngineContext.getStorageConf.newInstance()).build()
    if (pending(meta).contains(instant)) {
      // Hudi rolls back only what is in flight, and files may have been written for a requested plan
      val requested =
        ClusteringUtils.getRequestedClusteringInstant(
          instant,
          meta.getActiveTimeline,
          meta.getInstantGenerator)
      val inflight =
        ClusteringUtils.getInflightClusteringInstant(
          instant,
          meta.getActiveTimeline,
          meta.getInstantGenerator)
      if (!inflight.isPresent)
        ClusteringUtils.transitionClusteringOrReplaceRequestedToInflight(
          requested.get,
          HudiOption.empty[AnyRef](),
          meta.getActiveTimeline)
      client.purgePendingClustering(instant)
      HeartbeatUtils.deleteHeartbeatFile(meta.getStorage, config.getBasePath, instant)
    }
  }

  /**
   * Deletes files of a plan that is in the timeline no more, such as those that tasks have written after somebody had
   * rolled it back. Hudi takes them for committed once its timeline begins after them (apache/hudi#18783).
   *
   * @param partitions
   *   their directories
   */
  def sweep(fs: FileSystem, root: Path, partitions: Seq[String], instant: String): Unit =
    for {
      partition <- partitions
      directory = if (partition.isEmpty) root else new Path(root, partition)
      if fs.exists(directory)
      file <- fs.listStatus(directory)
      if file.getPath.getName.endsWith(s"_$instant.parquet")
    } {
      logWarning(s"${file.getPath} is of the clustering $instant, which was undone, and is deleted")
      fs.delete(file.getPath, false)
    }

  /** Our clusterings that are planned or in progress. */
  private def pending(meta: HoodieTableMetaClient): Seq[String] =
    ClusteringUtils.getAllPendingClusteringPlans(meta).iterator.asScala
      .filter(p => Option(p.getRight.getExtraMetadata).exists(_.containsKey(RunId)))
      .map(_.getLeft.requestedTime).toList
}
