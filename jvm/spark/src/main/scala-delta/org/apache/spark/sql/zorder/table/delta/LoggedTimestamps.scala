package org.apache.spark.sql.zorder.table.delta

import java.time.OffsetDateTime

import scala.util.Try

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_MILLIS
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.types.{StructField, StructType, TimestampType}

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
            // the log has whole milliseconds
          } yield column -> ((min, max + MICROS_PER_MILLIS - 1))
        }.toMap
      }

  private def micros(values: JsonNode, column: Seq[String]): Option[Long] = {
    val text = column.foldLeft(values)(_.path(_)).asText("")
    Try(DateTimeUtils.instantToMicros(OffsetDateTime.parse(text).toInstant)).toOption
  }
}
