package org.apache.spark.sql.zorder.table

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.table.storage.{
  Cancellation,
  CrashPoint,
  DriverReads,
  ObjectStores,
  TextFiles
}

/**
 * `_zorder/` under `root`. If it is gone, incomplete or unreadable, then there is that much less state.
 *
 * @param table
 *   whose records these are, if others may have the directory, too; records that name no table are anybody's
 */
final class StateDir(
    fs: FileSystem,
    root: Path,
    override val branch: Option[String] = None,
    val table: Option[String] = None)
    extends TableState
    with Logging {

  val dir: Path = new Path(root, StateDir.Name)
  private val runsDir = new Path(dir, "runs")
  private val outlinesFile = new Path(dir, "outlines.json")
  private val baseFile = new Path(dir, "base")
  private val homesFile = new Path(dir, "homes.json")
  private val layoutsDir = new Path(dir, "layouts")

  override def runs(): Seq[RunRecord] =
    StateDir.withoutDoubles(records(recordFiles()).map(_._2).filter(isOwn))

  private[table] def isOwn(record: RunRecord): Boolean = table.forall(id => record.table.forall(_ == id))

  /** Those of these records that can be read. */
  private def records(files: Seq[RecordFile]): Seq[(RecordFile, RunRecord)] =
    DriverReads.each(files, StateDir.Readers) { file =>
      TextFiles.read(fs, recordFile(file.number)).flatMap(RunRecordJson.read).map(file -> _)
    }.flatten

  override def outlines(): Seq[RunRecord] = outlinesOf(recordFiles())

  private def outlinesOf(there: Seq[RecordFile]): Seq[RunRecord] = {
    val gathered = gatheredOf(there)
    val others = records(there.filterNot(gathered.contains)).map { case (file, r) => file -> r.outline }
    StateDir.withoutDoubles((gathered ++ others).toSeq.sortBy(_._1.number).map(_._2).filter(isOwn))
  }

  /** The gathered outlines of those records that are still as they were. */
  private def gatheredOf(there: Seq[RecordFile]): Map[RecordFile, RunRecord] =
    if (there.length < StateDir.GatherEvery) Map.empty
    else {
      val present = there.toSet
      TextFiles.read(fs, outlinesFile).fold(Map.empty[RecordFile, RunRecord])(GatheredOutlines.read)
        .filter { case (file, _) => present(file) }
    }

  /**
   * Gathers outlines after the record of this number, if it is their turn. Without them, the records say the same: what
   * goes wrong here costs later runs time alone.
   */
  def gatherAfter(number: Int): Unit = if (number % StateDir.GatherEvery == 0) {
    try {
      val there = recordFiles()
      val before = gatheredOf(there)
      val added = records(there.dropRight(StateDir.NotGathered).filterNot(before.contains))
        .collect { case (file, r) if file.number == r.number => file -> r.outline }
      GatheredOutlines.write(before ++ added).foreach(replace(outlinesFile, _))
    } catch {
      case e: InterruptedException =>
        Thread.currentThread.interrupt()
        logWarning(s"Outlines of runs were not gathered under $dir", e)
      case NonFatal(e) => logWarning(s"Outlines of runs could not be gathered under $dir", e)
    }
  }

  override def layout(id: String): Option[String] =
    if (id.isEmpty || !id.forall(_.isLetterOrDigit)) None
    else TextFiles.read(fs, layoutFile(id))

  /** Writes a record under the next number. */
  def append(record: RunRecord, layouts: Map[String, String]): Unit =
    gatherAfter(add(record, layouts, nextNumber()))

  /** Writes a record under `number`, or the next one that nobody takes who writes at the same time; which one it is. */
  private def add(record: RunRecord, layouts: Map[String, String], number: Int): Int = {
    writeLayouts(layouts)
    // a store has no directories
    if (!ObjectStores.isOne(fs.getUri.getScheme)) fs.mkdirs(runsDir)
    @tailrec
    def claimed(n: Int): Int =
      if (TextFiles.claim(fs, recordFile(n), RunRecordJson.write(record.copy(number = n)))) n
      else claimed(n + 1)
    claimed(number)
  }

  private def recordFile(number: Int) = new Path(runsDir, s"$number.json")

  /** The number that the next run gets: one above the highest, readable or not. */
  def nextNumber(): Int = StateDir.next(recordFiles())

  /** By their numbers, rising. */
  private def recordFiles(): Seq[RecordFile] =
    TextFiles.children(fs, runsDir).filter(_.getPath.getName.matches("[0-9]{1,9}\\.json"))
      .map(f => RecordFile(f.getPath.getName.stripSuffix(".json").toInt, f.getLen, f.getModificationTime))
      .sortBy(_.number)

  /** Layouts first: a record never names a layout that is not there. */
  def write(record: RunRecord, layouts: Map[String, String]): Unit = {
    writeLayouts(layouts)
    TextFiles.createOnce(fs, recordFile(record.number), RunRecordJson.write(record))
    ()
  }

  /** As `write`, into a directory that nobody else knows yet: no record can be there. */
  def stage(record: RunRecord, layouts: Map[String, String]): Unit = {
    // a layout may have been carried over, and stays the file that it was
    writeLayouts(layouts)
    TextFiles.replace(fs, recordFile(record.number), RunRecordJson.write(record))
  }

  /**
   * In a directory that nobody else knows yet: the record that was staged there gets another number, since another commit
   * has taken this one. Nothing is done twice.
   *
   * @param other
   *   the text of that commit's record
   * @param above
   *   no record of the table has this number or a higher one
   */
  def giveWay(number: Int, other: Option[String], above: Int): Unit = {
    val own = TextFiles.read(fs, recordFile(number))
    if (own != other) own.flatMap(RunRecordJson.read).foreach { record =>
      val there = recordFiles()
      val isDone = records(there).exists { case (file, r) =>
        file.number != number && r.copy(number = 0) == record.copy(number = 0)
      }
      if (!isDone) stage(record.copy(number = math.max(above, StateDir.next(there))), Map.empty)
    }
  }

  /** The name of the table's directory when its journals were written. A managed table may be renamed since. */
  def base: Option[String] = TextFiles.read(fs, baseFile)

  def writeBase(name: String): Unit = if (!base.contains(name)) {
    replace(baseFile, name)
  }

  /** Where each partition ("" for a table without) was before its files moved for the first time, as URIs. */
  def homes(): Map[String, String] =
    TextFiles.read(fs, homesFile).fold(Map.empty[String, String])(StateDir.pairs)

  /** A partition that its owner has put elsewhere since has its new place. */
  def addHomes(homes: Map[String, String]): Unit = if (homes.nonEmpty) {
    val known = this.homes()
    if ((known ++ homes) != known) replace(homesFile, StateDir.json(known ++ homes))
  }

  /** The old file goes with the checksum that a copy of it may have on a disk. */
  private def replace(file: Path, text: String): Unit = {
    if (!ObjectStores.isOne(fs.getUri.getScheme)) fs.delete(file, false)
    TextFiles.replace(fs, file, text)
  }

  /** Records that the format has undone the run whose last commit this is. */
  def writeRollback(run: RunRecord, statement: String): Unit = {
    CrashPoint.hit("rolled-back")
    append(RunRecord.rolledBack(run.runId, Some(run), statement), Map.empty)
  }

  /** Those that are not there yet: a layout's id is a hash of its text. */
  def writeLayouts(layouts: Map[String, String]): Unit =
    if (layouts.size <= StateDir.FewLayouts)
      layouts.toSeq.sorted.foreach { case (id, body) => TextFiles.createOnce(fs, layoutFile(id), body) }
    else {
      val there = TextFiles.children(fs, layoutsDir).map(_.getPath.getName).toSet
      layouts.toSeq.sorted.filterNot { case (id, _) => there(layoutFile(id).getName) }
        .foreach { case (id, body) => TextFiles.replace(fs, layoutFile(id), body) }
    }

  private def layoutFile(id: String) = new Path(layoutsDir, s"$id.json")

  def pending: PendingRuns = new PendingRuns(fs, this)

  /** All of it, or, if there are records of other tables, those of this one and what they alone name. */
  def delete(): Unit = {
    val listed = recordFiles()
    val (own, others) = records(listed).partition { case (_, record) => isOwn(record) }
    // one that cannot be read just now may be another table's
    val isAlone = table.isEmpty || own.length == listed.length
    if (isAlone) fs.delete(dir, true)
    else {
      pending.delete()
      val layouts =
        if (own.length + others.length < listed.length) Set.empty[String]
        else own.flatMap(_._2.layoutIds.values).toSet -- others.flatMap(_._2.layoutIds.values)
      val files = own.map { case (file, _) => recordFile(file.number) }
      (files ++ layouts.filter(_.forall(_.isLetterOrDigit)).map(layoutFile) :+ outlinesFile)
        .foreach(TextFiles.delete(fs, _))
    }
    ()
  }
}

object StateDir {
  val Name = "_zorder"

  private val Record = (Name + "/runs/([0-9]{1,9})[.]json").r

  /** The number of a record, by its path below the table. */
  def recordNumber(rel: String): Option[Int] = rel match {
    case Record(number) => Some(number.toInt)
    case _ => None
  }

  /** Those of the records that lie in a directory of a table. */
  def recordNumbers(fs: FileSystem, home: Path): Set[Int] =
    TextFiles.children(fs, new Path(home, s"$Name/runs")).map(f => s"$Name/runs/${f.getPath.getName}")
      .flatMap(recordNumber(_)).toSet

  /** Threads that read records. */
  val Readers = 8

  /** More layouts than these are looked for by a listing, and not one by one. */
  private val FewLayouts = 2

  /**
   * Outlines are gathered after so many records, but for the newest: of two runs that take one number on an object
   * store, the later one's record stays.
   */
  private val GatherEvery = 32
  private val NotGathered = 8

  /** The property of a table that names the list of its runs' records, where nothing else can list them. */
  val RecordsProperty = "zorder.records"

  private val mapper = new ObjectMapper()

  private def json(pairs: Map[String, String]): String = {
    val node = mapper.createObjectNode()
    pairs.toSeq.sorted.foreach { case (k, v) => node.put(k, v) }
    mapper.writeValueAsString(node)
  }

  private def pairs(text: String): Map[String, String] =
    try {
      val node = mapper.readTree(text)
      node.fieldNames.asScala.map(k => k -> node.path(k).asText).toMap
    } catch { case _: java.io.IOException => Map.empty }

  /**
   * Gives `to` the runs of `from` that it has not got yet, with their layouts and with numbers of its own.
   *
   * @return
   *   these numbers
   */
  def copyRuns(from: StateDir, to: StateDir): Seq[Int] = from.runs().flatMap { record =>
    // one listing for what is there and for the next number
    val there = to.recordFiles()
    if (to.outlinesOf(there).exists(_.copy(number = 0) == record.outline.copy(number = 0))) None
    else {
      val layouts = record.layoutIds.values.flatMap(id => from.layout(id).map(id -> _)).toMap
      // of another commit that has listed the same, each gets a number
      Some(to.add(record, layouts, next(there)))
    }
  }

  /**
   * Without the records of `PendingRuns.recover` whose commits have one of their own: a statement that came between a
   * commit and its record has taken the run for a dead one.
   */
  private def withoutDoubles(records: Seq[RunRecord]): Seq[RunRecord] = {
    val (known, recovered) = records.partition(_.version.isDefined)
    val byRun = known.groupBy(_.runId)
    def isDouble(record: RunRecord) = byRun.getOrElse(record.runId, Nil).exists { own =>
      own.operation == record.operation && own.files.map(_.path) == record.files.map(_.path)
    }
    val doubles = recovered.filter(isDouble).map(_.number).toSet
    records.filterNot(r => doubles(r.number))
  }

  private def next(there: Seq[RecordFile]): Int = there.lastOption.fold(0)(_.number) + 1
}

/** The file of a record as a directory lists it. A file of the same number that differs is another record's. */
final private case class RecordFile(number: Int, length: Long, modified: Long)

/** Many outlines as one text: a line with the version, then a line for each. */
private object GatheredOutlines {
  private val mapper = new ObjectMapper()

  /** One more where a run record gets a field that its outline keeps: this version would not copy it. */
  private val Version = 2
  private val FirstLine = mapper.writeValueAsString(mapper.createObjectNode().put("version", Version))

  /** A longer text is not worth its memory. */
  private val MostCharacters = 64 << 20

  /** None if the text would be too long. */
  def write(outlines: Map[RecordFile, RunRecord]): Option[String] = {
    val lines = outlines.toSeq.sortBy(_._1.number).iterator.map { case (file, outline) =>
      val entry = mapper.createObjectNode().put("length", file.length).put("modified", file.modified)
      mapper.writeValueAsString(entry.set[ObjectNode]("outline", RunRecordJson.node(outline)))
    }
    val text = new StringBuilder(FirstLine)
    while (lines.hasNext && text.length <= MostCharacters) text.append('\n').append(lines.next())
    if (text.length <= MostCharacters) Some(text.toString) else None
  }

  /** Nothing of another version, and no line that is cut off. */
  def read(text: String): Map[RecordFile, RunRecord] =
    if (!text.startsWith(s"$FirstLine\n")) Map.empty
    else text.split('\n').iterator.drop(1).flatMap(line).toMap

  private def line(text: String): Option[(RecordFile, RunRecord)] =
    try {
      val entry = mapper.readTree(text)
      RunRecordJson.of(entry.path("outline")).map { outline =>
        RecordFile(outline.number, entry.path("length").asLong, entry.path("modified").asLong) -> outline
      }
    } catch { case _: java.io.IOException => None }
}

/**
 * Runs that are committed by the table format. Their records are written under `_zorder/pending` before the commit,
 * so that a run that dies between the commit and its record is not forgotten. Records help later runs, but no
 * commit depends on them: a record that cannot be written is only logged.
 */
final class PendingRuns(fs: FileSystem, state: StateDir) extends Logging {
  private val dir = new Path(state.dir, "pending")

  /** Before the commit. */
  def begin(request: CommitRequest): Unit = logged(Cancellation.repeated {
    state.writeLayouts(request.layouts)
    TextFiles.replace(fs, file(request.record.runId), RunRecordJson.write(request.record))
  })

  /**
   * After the commit, also where the statement was cancelled meanwhile.
   *
   * @param version
   *   the format's name of it
   */
  def committed(request: CommitRequest, version: => Option[Long]): Unit = logged {
    Cancellation.repeated(state.append(request.record.copy(version = version), request.layouts))
    Cancellation.repeated(delete(request.record.runId))
  }

  /** After a commit that failed. */
  def abandon(runId: String): Unit = logged(delete(runId))

  /**
   * Records the branch's runs that died after their commit, which are those with a file in the table. A run that is a
   * day old and has no file there was never committed.
   *
   * @param live
   *   paths of the table's files, in the form of run records
   */
  def recover(live: => Set[String]): Unit = logged {
    val found = waiting
    if (found.nonEmpty) {
      val known = state.outlines().flatMap(_.files.map(_.path)).toSet
      val records = found.flatMap(TextFiles.read(fs, _)).flatMap(RunRecordJson.read)
      for (record <- records.filter(r => r.branch == state.branch && state.isOwn(r))) {
        def has(paths: Set[String]) = record.files.exists(f => paths(f.path))
        val lost = !has(known) && has(live)
        if (lost) state.append(record, Map.empty)
        if (lost || has(known) || record.finishedMs < System.currentTimeMillis - PendingRuns.DayMs)
          delete(record.runId)
      }
    }
  }

  /** One sentence on the runs that wait for `recover`, for statements that only read. */
  def notice(name: String): Option[String] =
    waiting.find(isOwn).map { file =>
      s"The run ${file.getName.stripSuffix(".json")} is at work on $name, or died: the next run records " +
        "whether it has committed."
    }

  /** Those of the table, where other tables may have some, too. */
  def delete(): Unit =
    waiting.filter(file => TextFiles.read(fs, file).flatMap(RunRecordJson.read).exists(state.isOwn))
      .foreach(TextFiles.delete(fs, _))

  private def waiting: Seq[Path] =
    TextFiles.children(fs, dir).map(_.getPath).filter(_.getName.endsWith(".json"))

  private def isOwn(file: Path): Boolean =
    state.table.isEmpty || TextFiles.read(fs, file).flatMap(RunRecordJson.read).forall(state.isOwn)

  private def delete(runId: String): Unit = TextFiles.delete(fs, file(runId))

  private def file(runId: String): Path = new Path(dir, s"$runId.json")

  private def logged(write: => Unit): Unit =
    try write
    catch { case NonFatal(e) => logWarning(s"A run's record could not be written under ${state.dir}", e) }
}

object PendingRuns {
  private val DayMs = 24L * 3600 * 1000
}
