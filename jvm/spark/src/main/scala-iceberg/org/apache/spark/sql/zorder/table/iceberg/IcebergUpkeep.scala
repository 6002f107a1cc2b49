package org.apache.spark.sql.zorder.table.iceberg

import java.util.zip.GZIPInputStream

import scala.collection.JavaConverters._
import scala.util.Try

import com.fasterxml.jackson.core.{JsonFactory, JsonToken}
import org.apache.hadoop.fs.Path
import org.apache.iceberg.{
  BaseTable,
  Snapshot,
  SnapshotRef,
  SnapshotSummary,
  Table,
  TableMetadata,
  TableMetadataParser,
  TableProperties
}
import org.apache.iceberg.exceptions.ValidationException
import org.apache.iceberg.io.{FileIO, SupportsPrefixOperations}
import org.apache.iceberg.spark.actions.SparkActions
import org.apache.iceberg.util.{PropertyUtil, SnapshotUtil}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.conf.ZOrderOption
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{Retention, RunRecord, VacuumResult, VacuumStatus}
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, DriverReads}
import org.apache.spark.util.Utils

/** Rollback and removal, with Iceberg's own operations. */
private[iceberg] object IcebergUpkeep {

  /** Returns to the snapshot before the last run. Refused if others have committed since, which would be lost. */
  def rollback(opened: IcebergClusterTable, said: String): String = {
    import opened.{name, table}
    val commits = opened.state.lastRun()
    val snapshots = commits.flatMap(_.version)
    if (snapshots.isEmpty) opened.refuseNoRun()
    val run = commits.last
    def parentOf(id: Long): Option[Long] =
      Option(table.snapshot(id)).flatMap(s => Option(s.parentId)).map(id => id: Long)
    val current = opened.snapshot.map(_.snapshotId)
    // from the current snapshot back, as many as the run has made
    val line = Iterator.iterate(current)(_.flatMap(parentOf)).take(snapshots.length).flatten.toSeq.reverse
    val before = parentOf(snapshots.head).filter(table.snapshot(_) != null)
    if (current.isDefined && current == before) () // by a rollback that died before its record
    else if (line == snapshots) {
      val parent = before.getOrElse(
        refuse("ZORDER_CANNOT_ROLL_BACK.ICEBERG_SNAPSHOT_EXPIRED", "run" -> run.runId, "table" -> name))
      CrashPoint.hit("iceberg-rolling-back")
      val manage = unlessWritten(opened, snapshots.last).manageSnapshots()
      try opened.branch.fold(manage.rollbackTo(parent))(manage.replaceBranch(_, parent)).commit()
      catch { case e: Written => refuseWritten(opened, run, snapshots, e.now) }
    } else refuseWritten(opened, run, snapshots, current)
    opened.state.writeRollback(run, said)
    run.runId
  }

  /** Somebody has committed since the check. */
  final private class Written(val now: Option[Long])
      extends ValidationException("The snapshot is %s now", now.getOrElse("none").toString)

  /** The table, whose commits fail with [[Written]] if the newest snapshot, or that of the branch, is another by then. */
  private def unlessWritten(opened: IcebergClusterTable, newest: Long): Table = {
    val branch = opened.branch.getOrElse(SnapshotRef.MAIN_BRANCH)
    val own = IcebergRefusals.operations(opened.table)
    val checked = new CheckedOperations(own) {
      override protected def check(base: TableMetadata, next: TableMetadata): Unit = {
        val now = Option(base.ref(branch)).map(ref => ref.snapshotId: Long)
        if (!now.contains(newest)) throw new Written(now)
      }
    }
    new BaseTable(checked, opened.table.name)
  }

  private def refuseWritten(
      opened: IcebergClusterTable,
      run: RunRecord,
      snapshots: Seq[Long],
      now: Option[Long]): Nothing =
    refuse(
      "ZORDER_CANNOT_ROLL_BACK.ICEBERG_WRITTEN_SINCE",
      "table" -> opened.name,
      "run" -> run.runId,
      "snapshots" -> snapshots.mkString(", "),
      "now" -> now.getOrElse("none"))

  /** The table's files stay, and so do its snapshots, whose summaries cannot be changed. */
  def remove(opened: IcebergClusterTable): Unit = {
    opened.state.delete()
    val ours = opened.properties.keys.filter(ZOrderOption.isOurs)
    if (ours.nonEmpty) {
      val update = opened.table.updateProperties()
      ours.foreach(update.remove)
      update.commit()
    }
  }
}

/** Iceberg's expiry of snapshots, and its removal of files that dead runs have left. */
private[iceberg] object IcebergVacuum extends Logging {

  /** What `remove_orphan_files` keeps by default: the file of a writer at work is in no snapshot yet. */
  private val OrphanMs = 3L * 24 * 3600 * 1000

  /** Iceberg's procedure removes no younger ones, whatever it is told. */
  private val LeastOrphanMs = 24L * 3600 * 1000

  /**
   * A branch that has a retention of its own, and the number of snapshots to keep at least, are Iceberg's business:
   * its expiry heeds them whatever the statement says.
   */
  def run(
      session: ClassicSession,
      opened: IcebergClusterTable,
      retention: Retention,
      dryRun: Boolean): Seq[VacuumResult] = ActiveSession.during(session) {
    import opened.{name, table}
    if (!PropertyUtil.propertyAsBoolean(
        table.properties,
        TableProperties.GC_ENABLED,
        TableProperties.GC_ENABLED_DEFAULT))
      refuse(
        "ZORDER_CANNOT_VACUUM.ICEBERG_GC_DISABLED",
        "table" -> name,
        "setting" -> TableProperties.GC_ENABLED)
    val now = System.currentTimeMillis
    val before = now - retention.atLeast(ownMs(table))
    // asked before the expiry, which is a commit: beside it, what others have committed looks old
    val others = if (opened.listsFiles) SharedLocation.others(session, opened) else None
    val isForked = others.exists(_.mayBeFork)
    val replaced = if (isForked) Nil else removingSnapshots(table, before)
    val expired =
      if (dryRun || isForked) replaced.flatMap(Snapshots.number(_, SnapshotSummary.DELETED_FILES_PROP)).sum
      else expire(session, table, before)
    val found =
      if (others.isDefined) 0L
      else orphans(session, opened, now - math.max(LeastOrphanMs, retention.atLeast(OrphanMs)), dryRun)
    val files = expired + found
    val bytes = replaced.flatMap(Snapshots.number(_, SnapshotSummary.REMOVED_FILE_SIZE_PROP)).sum
    val deleted =
      if (files == 0) Nil else Seq(VacuumResult(opened.root, files, bytes, 0L, VacuumStatus.Deleted))
    deleted ++ others.map(other =>
      VacuumResult(opened.root, 0L, 0L, 0L, VacuumStatus.SharedLocation(other.why(name))))
  }

  private def ownMs(table: Table): Long = PropertyUtil.propertyAsLong(
    table.properties,
    TableProperties.MAX_SNAPSHOT_AGE_MS,
    TableProperties.MAX_SNAPSHOT_AGE_MS_DEFAULT)

  private def expire(session: ClassicSession, table: Table, before: Long): Long =
    SparkActions.get(session).expireSnapshots(table).expireOlderThan(before).execute().deletedDataFilesCount

  /**
   * The snapshots of the main branch that removed files which only expired snapshots still hold: the expired ones
   * themselves, and the oldest one that is kept. Iceberg says which expire, without a commit.
   */
  private def removingSnapshots(table: Table, before: Long): Seq[Snapshot] = {
    val expired = table.expireSnapshots().expireOlderThan(before).apply().asScala.map(_.snapshotId).toSet
    val chain = SnapshotUtil.currentAncestors(table).asScala.toList
    // what the last one removed was held by a parent that is gone
    chain.drop(chain.lastIndexWhere(s => !expired(s.snapshotId))).dropRight(1)
  }

  private def orphans(
      session: ClassicSession,
      opened: IcebergClusterTable,
      before: Long,
      dryRun: Boolean): Long = {
    // `write.data.path` may lead to a directory of several tables
    val data = new Path(opened.table.location, "data")
    def action =
      SparkActions.get(session).deleteOrphanFiles(opened.table).olderThan(before).location(data.toString)
    def isThere = data.getFileSystem(session.sessionState.newHadoopConf()).exists(data)
    if (opened.listsFiles && opened.ownFiles.isEmpty && !isThere) 0L
    else if (opened.listsFiles) {
      val listed = if (opened.ownFiles.isEmpty) action else action.usePrefixListing(true)
      val chosen = if (dryRun) listed.deleteWith(_ => ()) else listed
      chosen.execute().orphanFileLocations.asScala.size.toLong
    } else {
      val io = opened.table.io.getClass.getName
      logWarning(s"$io cannot list files: what dead runs have left in ${opened.name} stays")
      0L
    }
  }
}

/**
 * Tables at one location. A renamed table keeps its directory, and most catalogs give the next table of its old
 * name the same one; `LOCATION` may be copied, and two catalogs may go on with one table. To each of them, the
 * files of the other are files that no snapshot has.
 */
private object SharedLocation {
  private val Threads = 8

  /** So many versions that the table does not name are looked at closely, where it names few. */
  private val Newest = 8

  /** How often, and after how long, it is asked again whether a version is that of a commit under way. */
  private val Looks = 3
  private val CommitMs = 1000L
  private val json = new JsonFactory()

  /** How a Hadoop table calls its versions, and a version until its commit. */
  private val Version = "v\\d+\\..*"
  private val Uncommitted = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\\..*"

  /**
   * A file of metadata that is none of the table's.
   *
   * @param mayBeFork
   *   whether it may have commits of the same table, whose snapshots have files of ours, too
   */
  final case class Other(file: String, mayBeFork: Boolean) {

    /** Why files stay. */
    def why(table: String): String =
      if (mayBeFork)
        s"$file may have commits of this table that $table does not have, as where another catalog writes " +
          "to it, too: no snapshot expires, and all files stay. Give each table a location of its own, or " +
          "delete that file if it is hours old and no catalog names it: a commit that died has left it."
      else
        s"$file is metadata of another table: files here that no snapshot of $table has may be that " +
          "table's, and stay. Give each table a location of its own."
  }

  /** None if the location is the table's alone. */
  def others(session: ClassicSession, opened: IcebergClusterTable): Option[Other] = {
    def look(judged: String => Boolean): Seq[Other] = {
      val listed = metadataFiles(session, opened).filter(judged)
      // what others commit meanwhile is not listed
      val mine = IcebergRefusals.operations(opened.table).refresh()
      val io = IcebergRefusals.operations(opened.table).io
      val line = OwnLine.of(io, mine)
      val known = line.files.map(nameOf).toSet
      ofOthers(io, listed.filterNot(f => known(nameOf(f))), mine, line)
    }
    // a commit writes its metadata before that is the table's
    def settled(found: Seq[Other], looks: Int): Seq[Other] =
      if (looks == 0 || !found.exists(_.mayBeFork)) found
      else {
        Thread.sleep(CommitMs)
        settled(look(found.map(_.file).toSet), looks - 1)
      }
    val found = settled(look(_ => true), Looks)
    found.find(_.mayBeFork).orElse(found.headOption)
  }

  private def ofOthers(
      io: FileIO,
      unknown: Seq[String],
      mine: TableMetadata,
      line: OwnLine): Seq[Other] = {
    val heads = DriverReads.each(unknown, Threads)(file => (file, head(io, file)))
      .filterNot { case (file, _) => isUncommitted(file, mine) }
    // tables of the first version need no identity
    val (ofTable, ofAnother) = heads.partition { case (_, read) =>
      read.forall(_.uuid.forall(_ == mine.uuid))
    }
    // where the table names few of its versions, another line's newest one may be older than these
    val newest = if (line.isWhole) Set.empty[String]
    else {
      val dated = ofTable.flatMap { case (file, read) => read.map(r => (file, r.updatedMs)) }
      dated.sortBy(-_._2).take(Newest).map(_._1).toSet
    }
    val forks = DriverReads.each(ofTable, Threads) { case (file, read) =>
      if (read.exists(isEarlier(io, file, _, mine, line, newest(file)))) None
      else Some(Other(file, mayBeFork = true))
    }
    forks.flatten ++ ofAnother.map { case (file, _) => Other(file, mayBeFork = false) }
  }

  /**
   * The versions that the table has had last.
   *
   * @param files
   *   the newest first
   * @param sinceMs
   *   when the oldest of them was made
   * @param isWhole
   *   whether these are all since then, or at least as many as a table names by default
   */
  final private case class OwnLine(files: Seq[String], sinceMs: Long, isWhole: Boolean)

  private object OwnLine {

    /** A table names as many of its versions by default. */
    private val Default = 100

    /** A version names those before it: where each names few, they are followed so far. */
    private val Links = 32

    def of(io: FileIO, mine: TableMetadata): OwnLine = {
      def before(version: TableMetadata): Seq[TableMetadata.MetadataLogEntry] =
        version.previousFiles.asScala.toSeq.sortBy(-_.timestampMillis)
      def from(named: Seq[TableMetadata.MetadataLogEntry], links: Int): OwnLine = {
        def line(isWhole: Boolean) = OwnLine(
          mine.metadataFileLocation +: named.map(_.file),
          named.lastOption.fold(mine.lastUpdatedMillis)(_.timestampMillis),
          isWhole)
        if (named.isEmpty || named.size >= Default) line(isWhole = true)
        else if (links == 0) line(isWhole = false)
        else Try(before(TableMetadataParser.read(io, named.last.file))).toOption match {
          case None => line(isWhole = false)
          case Some(Nil) => line(isWhole = true)
          case Some(more) => from(named ++ more, links - 1)
        }
      }
      from(before(mine), Links)
    }
  }

  /** The beginning of a file of metadata. */
  final private case class Head(uuid: Option[String], updatedMs: Long)

  /** What a commit to a Hadoop table leaves that dies before it is named as a version. */
  private def isUncommitted(file: String, mine: TableMetadata): Boolean =
    nameOf(mine.metadataFileLocation).matches(Version) && nameOf(file).matches(Uncommitted)

  /**
   * Whether a version is the table's, though it does not name it any more: it is older than all that it names,
   * and than the newest of those that it does not, where it names few. Others do no harm if they lead to no snapshot that is there
   * and is not the table's. A commit that fails takes its snapshot back, though its metadata may stay.
   */
  private def isEarlier(
      io: FileIO,
      file: String,
      head: Head,
      mine: TableMetadata,
      line: OwnLine,
      isOfNewest: Boolean): Boolean = {
    (head.updatedMs < line.sinceMs && !isOfNewest) || Try(TableMetadataParser.read(
      io,
      file)).toOption.exists {
      read =>
        val ends = read.refs.values.asScala.map(_.snapshotId: Long) ++
          Option(read.currentSnapshot).map(_.snapshotId)
        val foreign =
          ends.toSeq.distinct.filter(mine.snapshot(_) == null).flatMap(id => Option(read.snapshot(id)))
        if (foreign.isEmpty) head.updatedMs <= mine.lastUpdatedMillis else foreign.forall(isGone(io, _))
    }
  }

  private def isGone(io: FileIO, snapshot: Snapshot): Boolean =
    snapshot.manifestListLocation != null && !io.newInputFile(snapshot.manifestListLocation).exists()

  private def nameOf(location: String): String = location.substring(location.lastIndexOf('/') + 1)

  /** An empty file is what a commit leaves that died as it began to write: no table's metadata. */
  private def metadataFiles(session: ClassicSession, opened: IcebergClusterTable): Seq[String] = {
    val directory = new Path(opened.table.location, "metadata")
    val all =
      if (opened.ownFiles.isEmpty) {
        val fs = directory.getFileSystem(session.sessionState.newHadoopConf())
        if (fs.exists(directory)) fs.listStatus(directory).toSeq.map(f => (f.getPath.toString, f.getLen))
        else Nil
      } else
        opened.table.io.asInstanceOf[SupportsPrefixOperations].listPrefix(s"$directory/").asScala.toSeq
          .map(f => (f.location, f.size))
    all.collect { case (file, bytes) if bytes > 0 && nameOf(file).contains(".metadata.json") => file }
  }

  /** None if it cannot be read. */
  private def head(io: FileIO, location: String): Option[Head] = Try {
    Utils.tryWithResource(io.newInputFile(location).newStream()) { in =>
      val packed = nameOf(location).contains(".gz")
      val parser = json.createParser(if (packed) new GZIPInputStream(in) else in)
      var (uuid, updated) = (Option.empty[String], Option.empty[Long])
      parser.nextToken()
      while ((uuid.isEmpty || updated.isEmpty) && parser.nextToken() == JsonToken.FIELD_NAME) {
        val name = parser.currentName
        parser.nextToken()
        if (name == "table-uuid") uuid = Some(parser.getText)
        else if (name == "last-updated-ms") updated = Some(parser.getLongValue)
        else parser.skipChildren()
      }
      Head(uuid, updated.get)
    }
  }.toOption
}
