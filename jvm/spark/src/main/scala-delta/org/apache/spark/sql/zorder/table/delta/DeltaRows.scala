package org.apache.spark.sql.zorder.table.delta

import java.time.OffsetDateTime

import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.hadoop.fs.{Path => HadoopPath}
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.catalyst.util.{DateTimeUtils, QuotingUtils}
import org.apache.spark.sql.catalyst.util.DateTimeConstants.{
  MICROS_PER_DAY,
  MICROS_PER_MILLIS,
  MICROS_PER_MINUTE
}
import org.apache.spark.sql.delta.{DeltaLog, RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.execution.datasources.FileFormat
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.types.{StructField, StructType, TimestampType}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.layout.{FileNumbers, NumberOfFile}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/** The rows of some files of a snapshot as Delta reads them: without deleted rows, with the table's column names. */
private[delta] object DeltaRows {

  def apply(
      session: ClassicSession,
      log: DeltaLog,
      snapshot: Snapshot,
      partitions: IndexedSeq[PinnedPartition],
      adds: Map[String, AddFile]): InputRelation = ActiveSession.during(session) {
    refuseOwnName(log, snapshot)
    val chosen = partitions.flatMap(_.files).map(f => adds(f.path))
    val read = log.createDataFrame(snapshot, chosen, actionTypeOpt = Some("Optimize"))
    val tracked = RowTracking.preserveRowTrackingColumns(read, snapshot)
    val names = tracked.columns.toSeq
    val path: Column = col("_metadata.file_path").as(InputRelation.PathColumn)
    val columns = names.map(n => tracked(QuotingUtils.quoteIdentifier(n))) :+ path
    val located = tracked.select(columns: _*).queryExecution.analyzed
    val route =
      if (partitions.length == 1) Literal(0)
      else NumberOfFile(located.output.last, FileNumbers(numbers(partitions)))
    val output = located.output.init
    val plan = Project(output :+ Alias(route, InputRelation.RouteColumn)(), located)
    // row tracking keeps its row ids in columns of its own
    val own = names.toSet -- snapshot.schema.fieldNames
    // only some tables show the position of a row in its file: sampling counts rows itself
    new InputRelation(Shims.ofRows(session, plan).queryExecution.analyzed, output, place = Nil, own)
  }

  /** Beside a column of this name, Spark shows neither the file of a row nor what Delta asks of it. */
  private def refuseOwnName(log: DeltaLog, snapshot: Snapshot): Unit =
    snapshot.schema.fieldNames.find(_.equalsIgnoreCase(FileFormat.METADATA_NAME)).foreach { own =>
      refuse("ZORDER_COLUMN_REFUSED.RESERVED_NAME", "column" -> own, "table" -> log.dataPath)
    }

  /** Partition numbers by path, spelt as in `_metadata.file_path`. */
  private def numbers(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.zipWithIndex.flatMap { case (p, i) =>
      p.files.map(f => new HadoopPath(f.path).toUri.toString -> i)
    }.toMap
}

/**
 * Bounds of timestamps in Delta's log. Files have none where timestamps are INT96, as Spark writes them by default.
 *
 * @param physical
 *   the name of a column in files, which is that in the log
 */
final private[delta] class LoggedTimestamps(schema: StructType, physical: StructField => String) {
  private val columns: Seq[Seq[String]] = timestamps(schema)
  private val json = new ObjectMapper

  private def timestamps(struct: StructType): Seq[Seq[String]] = struct.fields.toSeq.flatMap { f =>
    f.dataType match {
      case TimestampType => Seq(Seq(physical(f)))
      case s: StructType => timestamps(s).map(physical(f) +: _)
      case _ => Nil
    }
  }

  /** Min and max in microseconds, by column. */
  def boundsOf(add: AddFile): Map[Seq[String], (Long, Long)] =
    if (columns.isEmpty || add.stats == null) Map.empty
    else
      Try(json.readTree(add.stats)).toOption.fold(Map.empty[Seq[String], (Long, Long)]) { stats =>
        columns.flatMap { column =>
          for {
            min <- micros(stats.path("minValues"), column)
            max <- micros(stats.path("maxValues"), column)
          } yield column -> ((LoggedTimestamps.earlier(min), LoggedTimestamps.later(max)))
        }.toMap
      }

  private def micros(values: JsonNode, column: Seq[String]): Option[Long] = {
    val text = column.foldLeft(values)(_.path(_)).asText("")
    Try(DateTimeUtils.instantToMicros(OffsetDateTime.parse(text).toInstant)).toOption
  }
}

/**
 * The log writes moments in whole milliseconds, with the offset of the writer's zone, without the seconds of the offset.
 * Until January 1972 there was a zone whose offset had seconds.
 */
private[zorder] object LoggedTimestamps {
  private val WholeMinutes = 2 * 365 * MICROS_PER_DAY

  /** A moment, in microseconds, that is not after the one that was logged so. */
  def earlier(micros: Long): Long =
    if (micros < WholeMinutes) math.max(micros, Long.MinValue + MICROS_PER_MINUTE) - MICROS_PER_MINUTE
    else micros

  /** A moment that is not before the one that was logged so. */
  def later(micros: Long): Long =
    plus(micros, if (micros < WholeMinutes) MICROS_PER_MINUTE + MICROS_PER_MILLIS else MICROS_PER_MILLIS)

  /** As [[later]], of a moment without a zone. */
  def laterWithoutZone(micros: Long): Long = plus(micros, MICROS_PER_MILLIS)

  private def plus(micros: Long, more: Long): Long =
    if (micros > Long.MaxValue - more) Long.MaxValue else micros + more
}
