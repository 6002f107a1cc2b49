package org.apache.spark.sql.zorder.querylog

import java.io.{BufferedReader, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.Timestamp

import scala.collection.JavaConverters._
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
 * rolled or not, with any compression of Spark's. An event log only has the filters that Spark pushed into a scan.
 */
object EventLogImport {
  private val mapper = new ObjectMapper()

  /** The queries with their values; similar queries are one row. */
  def queries(session: ClassicSession, path: String): Seq[LoggedQuery] = {
    val root = new Path(path)
    val fs = root.getFileSystem(session.sessionState.newHadoopConf())
    if (!fs.exists(root)) refuse("ZORDER_INVALID_QUERY_LOG.NO_EVENT_LOG", "path" -> fs.makeQualified(root))
    QueryShape.counted(files(fs, root).flatMap(read(fs, _)))
  }

  private def files(fs: FileSystem, path: Path): Seq[Path] = {
    val status = fs.getFileStatus(path)
    if (status.isFile) Seq(path)
    else fs.listStatus(path).toSeq.map(_.getPath).sortBy(_.getName)
      .filterNot(p => Seq(".", "_", "appstatus").exists(p.getName.startsWith(_))).flatMap(files(fs, _))
  }

  /** A log that ends in the middle of a line belongs to an application that is still running. */
  private def read(fs: FileSystem, file: Path): Seq[LoggedQuery] = {
    var timeZone = "UTC"
    try Utils.tryWithResource(
        new BufferedReader(new InputStreamReader(EventLogFileReader.openEventLog(file, fs), UTF_8)))(
        _.lines.iterator.asScala.flatMap { line =>
          if (line.contains("SparkListenerEnvironmentUpdate")) {
            timeZone = zone(line).getOrElse(timeZone)
            Nil
          } else if (line.contains("SparkListenerSQLExecutionStart")) started(line, timeZone)
          else Nil
        }.toVector)
    catch {
      case NonFatal(e) =>
        refuse("ZORDER_INVALID_QUERY_LOG.EVENT_LOG", "file" -> file, "cause" -> firstLine(e))
    }
  }

  private def zone(line: String): Option[String] =
    Option(parsed(line).path("System Properties").path("user.timezone").textValue).filter(_.nonEmpty)

  private def started(line: String, timeZone: String): Seq[LoggedQuery] = {
    val event = parsed(line)
    val time = new Timestamp(event.path("time").asLong)
    PlanInfo.scans(event.path("sparkPlanInfo"), timeZone).map { case (table, ranges) =>
      QueryShape.logged(table, time, LoggedRanges.of(ranges, literals = true, ColumnStatistics.none))
    }.filter(_.boxes.nonEmpty)
  }

  private def parsed(line: String) =
    try mapper.readTree(line)
    catch { case _: com.fasterxml.jackson.core.JsonProcessingException => mapper.createObjectNode() }
}
