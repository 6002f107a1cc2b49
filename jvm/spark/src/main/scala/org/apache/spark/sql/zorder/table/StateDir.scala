package org.apache.spark.sql.zorder.table

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}

/** `_zorder/` under `root`. If it is gone, incomplete or unreadable, then there is that much less state. */
final class StateDir(fs: FileSystem, root: Path, override val branch: Option[String] = None)
    extends TableState {

  val dir: Path = new Path(root, StateDir.Name)
  private val runsDir = new Path(dir, "runs")
  private val baseFile = new Path(dir, "base")
  private val homesFile = new Path(dir, "homes.json")
  private val layoutsDir = new Path(dir, "layouts")

  override def runs(): Seq[RunRecord] =
    StateDir.numbers(fs, runsDir)
      .flatMap(n => TextFiles.read(fs, new Path(runsDir, s"$n.json")).flatMap(RunRecordJson.read))

  override def layout(id: String): Option[String] =
    if (id.isEmpty || !id.forall(_.isLetterOrDigit)) None
    else TextFiles.read(fs, new Path(layoutsDir, s"$id.json"))

  /** The number that the next run gets: one above the highest, readable or not. */
  def nextNumber(): Int = StateDir.numbers(fs, runsDir).lastOption.getOrElse(0) + 1

  /** Layouts first: a record never names a layout that is not there. */
  def write(record: RunRecord, layouts: Map[String, String]): Unit = {
    writeLayouts(layouts)
    TextFiles.createOnce(fs, new Path(runsDir, s"${record.number}.json"), RunRecordJson.write(record))
    ()
  }

  /** The name of the table's directory when its journals were written. A managed table may be renamed since. */
  def base: Option[String] = TextFiles.read(fs, baseFile)

  def writeBase(name: String): Unit = if (!base.contains(name)) {
    fs.delete(baseFile, false) // with the checksum that a copy of it may have
    TextFiles.replace(fs, baseFile, name)
  }

  /** Where each partition ("" for a table without) was before its files moved for the first time, as URIs. */
  def homes(): Map[String, String] =
    TextFiles.read(fs, homesFile).fold(Map.empty[String, String])(StateDir.pairs)

  /** Adds those that are not known yet. */
  def addHomes(homes: Map[String, String]): Unit = {
    val known = this.homes()
    if ((homes.keySet -- known.keySet).nonEmpty) {
      fs.delete(homesFile, false) // with the checksum that a copy of it may have
      TextFiles.replace(fs, homesFile, StateDir.json(homes ++ known))
    }
  }

  /** Records that the format has undone the run whose last commit this is. */
  def writeRollback(run: RunRecord, statement: String): Unit = {
    CrashPoint.hit("rolled-back")
    write(RunRecord.rolledBack(run.runId, Some(run), nextNumber(), statement), Map.empty)
  }

  def writeLayouts(layouts: Map[String, String]): Unit = layouts.toSeq.sorted.foreach { case (id, body) =>
    TextFiles.createOnce(fs, new Path(layoutsDir, s"$id.json"), body)
  }

  def pending: PendingRuns = new PendingRuns(fs, this)
}

object StateDir {
  val Name = "_zorder"
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

  /** Gives `to` the runs of `from` that it has not got yet, with their layouts and with numbers of its own. */
  def copyRuns(from: StateDir, to: StateDir): Unit = from.runs().foreach { record =>
    if (!to.runs().exists(r => r.copy(number = 0) == record.copy(number = 0))) {
      val layouts = record.layoutIds.values.flatMap(id => from.layout(id).map(id -> _)).toMap
      to.write(record.copy(number = to.nextNumber()), layouts)
    }
  }

  private def numbers(fs: FileSystem, dir: Path): Seq[Int] =
    TextFiles.children(fs, dir).map(_.getPath.getName)
      .filter(_.matches("[0-9]{1,9}\\.json")).map(_.stripSuffix(".json").toInt).sorted
}
