package org.apache.spark.sql.zorder.table.iceberg

import java.io.{ByteArrayOutputStream, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.iceberg.Table
import org.apache.iceberg.io.SupportsPrefixOperations
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.table._
import org.apache.spark.sql.zorder.table.storage.{Cancellation, ClaimFile, CrashPoint, DriverReads}

/** `_zorder/` of an Iceberg table, and how it learns of commits. A record that cannot be written is only logged. */
private[iceberg] trait IcebergState extends TableState {

  /** Before a commit. Returns what the summary of its snapshot has to say. */
  def begin(request: CommitRequest): Map[String, String]

  /** After the commit. */
  def committed(request: CommitRequest, snapshot: => Option[Long]): Unit

  /** After a commit that failed. */
  def abandon(runId: String): Unit

  /** Records the runs that died after their commit. */
  def recover(live: => Set[String]): Unit

  /** One sentence on the runs that wait for `recover`. */
  def notice(name: String): Option[String]

  /** Records that the run, whose last commit this is, was undone. */
  def writeRollback(run: RunRecord, statement: String): Unit

  /** What deletes all of it. It can be called when the table has no property of ours any more. */
  def deletion(): () => Unit
}

/**
 * In a directory that Hadoop's file systems reach. Most catalogs give a table the place of one that was dropped, or
 * renamed, before, so that records name their table.
 */
final private[iceberg] class HadoopState(dir: StateDir) extends IcebergState {
  override def branch: Option[String] = dir.branch
  override def runs(): Seq[RunRecord] = dir.runs()
  override def outlines(): Seq[RunRecord] = dir.outlines()
  override def layout(id: String): Option[String] = dir.layout(id)

  override def begin(request: CommitRequest): Map[String, String] = {
    dir.pending.begin(named(request))
    Map.empty
  }

  private def named(request: CommitRequest): CommitRequest =
    request.copy(record = request.record.copy(table = dir.table))

  override def committed(request: CommitRequest, snapshot: => Option[Long]): Unit =
    dir.pending.committed(named(request), snapshot)

  override def abandon(runId: String): Unit = dir.pending.abandon(runId)
  override def recover(live: => Set[String]): Unit = dir.pending.recover(live)
  override def notice(name: String): Option[String] = dir.pending.notice(name)
  override def writeRollback(run: RunRecord, statement: String): Unit = dir.writeRollback(run, statement)
  override def deletion(): () => Unit = () => dir.delete()
}

/**
 * By the table's `FileIO`, which may neither list nor rename, and may write over what is there. So every file has a name
 * that nobody used before and never changes, and the catalog says which files count: a snapshot names the record of its
 * run, and the table's property `zorder.records` the newest list of records, which stays when snapshots expire.
 */
final private[iceberg] class FileIOState(table: Table, override val branch: Option[String])
    extends IcebergState
    with Logging {
  import FileIOState._

  private val files = new SmallFiles(table)
  private val records = mutable.HashMap.empty[String, RunRecord]
  private var begun: Option[String] = None

  override def runs(): Seq[RunRecord] = synchronized {
    val listed = list(files.read(_).flatMap(Head.read))
    read(listed.map(_.name).distinct.filterNot(records.contains))
    listed.zipWithIndex.flatMap { case (entry, i) =>
      records.get(entry.name).map(_.copy(number = i + 1, version = entry.snapshot))
    }
  }

  private def read(names: Seq[String]): Unit =
    DriverReads.each(names, StateDir.Readers)(name =>
      files.read(recordFile(name)).flatMap(RunRecordJson.read).map(name -> _))
      .flatten.foreach { case (name, record) => records.put(name, record) }

  override def layout(id: String): Option[String] =
    if (isName(id)) files.read(layoutFile(id)) else None

  override def begin(request: CommitRequest): Map[String, String] = logged(Map.empty[String, String]) {
    request.layouts.toSeq.sorted.foreach { case (id, body) =>
      if (!files.exists(layoutFile(id))) files.write(layoutFile(id), body)
    }
    begun = Some(Cancellation.repeated(write(request.record)))
    begun.map(Record -> _).toMap
  }

  override def committed(request: CommitRequest, snapshot: => Option[Long]): Unit = logged(()) {
    if (begun.isDefined && snapshot.isDefined) publish()
    begun = None
  }

  override def abandon(runId: String): Unit = logged(()) {
    begun.foreach(name => files.delete(recordFile(name)))
    begun = None
  }

  /** A snapshot tells that its run was committed, so the table's files are not looked at. */
  override def recover(live: => Set[String]): Unit = logged(()) {
    if (strictly().exists(!_.isListed)) publish()
  }

  /** What a dead run has left is known when it was committed, and then it counts already. */
  override def notice(name: String): Option[String] = None

  override def writeRollback(run: RunRecord, statement: String): Unit = {
    CrashPoint.hit("rolled-back")
    publish(Some(write(RunRecord.rolledBack(run.runId, Some(run), statement))))
  }

  override def deletion(): () => Unit = table.io match {
    case listing: SupportsPrefixOperations => () => listing.deletePrefix(files.at(""))
    case _ =>
      val head = pointer.flatMap(h => files.read(headFile(h)).flatMap(Head.read))
      val layouts = runs().flatMap(_.layoutIds.values).distinct.filter(isName).map(layoutFile)
      val lists = (pointer ++ head.flatMap(_.previous)).map(headFile)
      val all = list(files.read(_).flatMap(Head.read)).map(e => recordFile(e.name)) ++ layouts ++ lists
      () => all.foreach(file => logged(())(files.delete(file)))
  }

  def claim: ClaimFile = new FileIOClaim(files)

  /** The records of the newest list, then those that only snapshots name: their runs died, or commit just now. */
  private def list(read: String => Option[Head]): Seq[Entry] = {
    val kept = pointer.flatMap(name => read(headFile(name))).fold(Seq.empty[Entry])(_.entries)
    val known = kept.map(_.name).toSet
    val named = table.snapshots.asScala.toSeq.sortBy(s => (s.sequenceNumber, s.timestampMillis)).flatMap {
      s =>
        Option(s.summary).flatMap(m => Option(m.get(Record))).filter(isName).map(Entry(_, Some(s.snapshotId)))
    }
    kept ++ named.filterNot(e => known(e.name))
  }

  /** For a list that will take the place of the newest: what cannot be read now must not be forgotten. */
  private def strictly(): Seq[Entry] = list(file => if (files.exists(file)) Some(head(file)) else None)
    .filter(e => records.contains(e.name) || e.isListed || files.exists(recordFile(e.name)))

  private def readStrictly(name: String): Option[Head] =
    if (files.exists(headFile(name))) Some(head(headFile(name))) else None

  private def head(file: String): Head =
    Head.read(files.get(file)).getOrElse(throw new IOException(s"${files.at(file)} is no list of records"))

  /**
   * Writes a list and makes it the table's newest. The one before stays for who reads it now. Where two runs do that at
   * once, one of the lists lacks a record; its snapshot still names it, for the next list.
   *
   * @param record
   *   that no snapshot names
   */
  private def publish(record: Option[String] = None): Unit = {
    table.refresh()
    val before = pointer
    val oldest = before.flatMap(readStrictly).flatMap(_.previous)
    val name = UUID.randomUUID.toString
    files.write(headFile(name), Head(strictly() ++ record.map(Entry(_, None)), before).json)
    CrashPoint.hit("iceberg-listed")
    table.updateProperties().set(StateDir.RecordsProperty, name).commit()
    oldest.filterNot(before.contains).foreach(old => logged(())(files.delete(headFile(old))))
  }

  private def write(record: RunRecord): String = {
    val name = s"${record.runId}-${UUID.randomUUID.toString.take(8)}"
    files.write(recordFile(name), RunRecordJson.write(record))
    name
  }

  private def pointer: Option[String] = Option(table.properties.get(StateDir.RecordsProperty)).filter(isName)

  private def logged[A](failed: A)(body: => A): A =
    try body
    catch {
      case crash: CrashPoint.Crash => throw crash
      case NonFatal(e) =>
        logWarning(s"A run's record could not be written under ${files.at("")}", e)
        failed
    }
}

private[iceberg] object FileIOState {

  /** In the summary of a run's snapshot. */
  val Record = "zorder.record"

  private val mapper = new ObjectMapper()

  private def layoutFile(id: String) = s"layouts/$id.json"
  private def recordFile(name: String) = s"runs/$name.json"
  private def headFile(name: String) = s"heads/$name.json"

  /** Nothing that leads out of a directory. */
  private def isName(text: String): Boolean =
    text.nonEmpty && text.forall(c => c.isLetterOrDigit || c == '-')

  /** @param isListed whether a list has it, and not only a snapshot */
  final private case class Entry(name: String, snapshot: Option[Long], isListed: Boolean = false)

  final private case class Head(entries: Seq[Entry], previous: Option[String]) {
    def json: String = {
      val node = mapper.createObjectNode().put("version", 1)
      previous.foreach(node.put("previous", _))
      val runs = node.putArray("runs")
      entries.foreach { e =>
        val entry = runs.addObject().put("record", e.name)
        e.snapshot.foreach(id => entry.put("snapshot", id))
      }
      mapper.writeValueAsString(node)
    }
  }

  private object Head {

    /** None when the text is no list. */
    def read(text: String): Option[Head] =
      try {
        val node = mapper.readTree(text)
        if (node == null || !node.path("runs").isArray) None
        else {
          val entries = node.path("runs").elements.asScala.toVector.map { e =>
            Entry(
              e.path("record").asText,
              Some(e.path("snapshot")).filter(_.isNumber).map(_.asLong),
              isListed = true)
          }
          Some(Head(
            entries.filter(e => isName(e.name)),
            Some(node.path("previous").asText).filter(isName)))
        }
      } catch { case _: IOException => None }
  }
}

/** Text files below `_zorder/`, by their paths in it. */
final private class SmallFiles(table: Table) {
  private def io = table.io

  def at(file: String): String = s"${table.location.stripSuffix("/")}/${StateDir.Name}/$file"

  def exists(file: String): Boolean = IcebergFiles.asIOException(at(file))(io.newInputFile(at(file)).exists)

  /** None if it does not exist or cannot be read. */
  def read(file: String): Option[String] =
    try Some(get(file))
    catch { case _: IOException => None }

  def get(file: String): String = IcebergFiles.asIOException(at(file)) {
    val in = io.newInputFile(at(file)).newStream()
    try {
      val (out, buffer) = (new ByteArrayOutputStream(), new Array[Byte](1 << 16))
      Iterator.continually(in.read(buffer)).takeWhile(_ >= 0).foreach(out.write(buffer, 0, _))
      new String(out.toByteArray, UTF_8)
    } finally in.close()
  }

  /** In place of an earlier file. */
  def write(file: String, text: String): Unit = IcebergFiles.asIOException(at(file)) {
    val out = io.newOutputFile(at(file)).createOrOverwrite()
    try out.write(text.getBytes(UTF_8))
    finally out.close()
  }

  def delete(file: String): Unit = IcebergFiles.asIOException(at(file))(io.deleteFile(at(file)))
}

/**
 * A claim within `_zorder/`: credentials from a catalog may reach no farther than the table. A `FileIO` tells no times,
 * so the file does.
 */
final private class FileIOClaim(files: SmallFiles) extends ClaimFile {
  private val file = "claim"

  override def exists: Boolean = files.exists(file)

  override def modified: Long = read.toSeq.flatMap(_.split('\n').lastOption)
    .find(line => line.nonEmpty && line.length <= 15 && line.forall(_.isDigit)).fold(0L)(_.toLong)

  override def read: Option[String] = files.read(file)

  override def write(text: String): Unit = files.write(file, s"$text\n${System.currentTimeMillis}")

  /** Of several that try at the same time, more than one may succeed. */
  override def claim(text: String): Boolean = {
    val isFree = !exists
    if (isFree) write(text)
    isFree
  }

  override def delete(): Unit = files.delete(file)
}
