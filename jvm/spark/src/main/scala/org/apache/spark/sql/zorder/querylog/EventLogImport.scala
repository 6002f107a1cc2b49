package org.apache.spark.sql.zorder.querylog

import java.io.{BufferedReader, EOFException, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.Timestamp

import scala.util.control.NonFatal

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.deploy.history.EventLogFileReader
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.scan.{ColumnStatistics, PlanInfo}
import org.apache.spark.util.Utils

/**
 * The queries of applications that have run, from Spark's event logs: single files or directories of them,
 * rolled or not, with any compression of Spark's. An event log only has the filters that Spark pushed into a
 * scan.
 */
object EventLogImport {
  private val mapper = new ObjectMapper()

  /** The queries with their values; similar queries are one row. */
  def queries(session: ClassicSession, path: String): Seq[LoggedQuery] = {
    val (root, fs) =
      try {
        val root = new Path(path)
        (root, root.getFileSystem(session.sessionState.newHadoopConf()))
      } catch {
        case NonFatal(e) =>
          refuse("ZORDER_INVALID_QUERY_LOG.EVENT_LOG", "file" -> path, "cause" -> firstLine(e))
      }
    if (!fs.exists(root)) refuse("ZORDER_INVALID_QUERY_LOG.NO_EVENT_LOG", "path" -> fs.makeQualified(root))
    QueryShape.counted(applications(fs, root).flatMap(read(fs, _)))
  }

  /** The files of each application's log in their order. A rolled log is a directory of numbered ones. */
  private def applications(fs: FileSystem, path: Path): Seq[Seq[Path]] =
    if (fs.getFileStatus(path).isFile) Seq(Seq(path))
    else {
      val inside = fs.listStatus(path).toSeq.map(_.getPath).sortBy(_.getName)
        .filterNot(p => Seq(".", "_", "appstatus").exists(p.getName.startsWith(_)))
      if (path.getName.startsWith(RolledLog)) Seq(inside.sortBy(numberOf))
      else inside.flatMap(applications(fs, _))
    }

  private val RolledLog = "eventlog_v2_"
  private val RolledFile = "events_(\\d{1,18})_.*".r

  private def numberOf(file: Path): Long = file.getName match {
    case RolledFile(number) => number.toLong
    case _ => 0L
  }

  /** The first file of an application alone says its time zone. */
  private def read(fs: FileSystem, application: Seq[Path]): Seq[LoggedQuery] = {
    var timeZone = "UTC"
    val queries = Vector.newBuilder[LoggedQuery]
    application.foreach(eachLine(fs, _) { line =>
      if (line.contains("SparkListenerEnvironmentUpdate")) timeZone = zone(line).getOrElse(timeZone)
      else if (line.contains("SparkListenerSQLExecutionStart")) queries ++= started(line, timeZone)
    })
    queries.result()
  }

  /**
   * A log that ends in the middle of a line, or of a compressed block, is of an application that runs or was
   * killed.
   */
  private def eachLine(fs: FileSystem, file: Path)(body: String => Unit): Unit =
    try Utils.tryWithResource(
        new BufferedReader(new InputStreamReader(EventLogFileReader.openEventLog(file, fs), UTF_8)))(reader =>
        Iterator.continually(reader.readLine()).takeWhile(_ != null).foreach(body))
    catch {
      case _: EOFException =>
      case NonFatal(e) =>
        refuse("ZORDER_INVALID_QUERY_LOG.EVENT_LOG", "file" -> file, "cause" -> firstLine(e))
    }

  private def zone(line: String): Option[String] =
    Option(parsed(line).path("System Properties").path("user.timezone").textValue).filter(_.nonEmpty)

  private def started(line: String, timeZone: String): Seq[LoggedQuery] = {
    val event = parsed(line)
    val time = new Timestamp(event.path("time").asLong)
    PlanInfo.scans(event.path("sparkPlanInfo"), timeZone).map { case (table, ranges) =>
      QueryShape.logged(table, time, LoggedRanges.of(ranges, literals = true, ColumnStatistics.none))
    }.filter(_.conjunctions.nonEmpty)
  }

  private def parsed(line: String) =
    try mapper.readTree(line)
    catch { case _: com.fasterxml.jackson.core.JsonProcessingException => mapper.createObjectNode() }
}
