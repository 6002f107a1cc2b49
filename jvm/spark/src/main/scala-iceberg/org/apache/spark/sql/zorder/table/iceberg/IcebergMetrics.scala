package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{DataFile, MetricsConfig, Snapshot, Table, TableProperties}
import org.apache.iceberg.types.{Conversions, Types}

/** The column bounds in Iceberg's manifests, by which Iceberg skips files. */
private[iceberg] object IcebergMetrics {
  private val Truncate = "truncate\\((\\d+)\\)".r

  /** Why look-ups by one of these columns would skip nothing; None if they can. */
  def unskippable(
      name: String,
      table: Table,
      snapshot: Option[Snapshot],
      paths: Seq[Seq[String]]): Option[String] = {
    val config = MetricsConfig.forTable(table)
    def because(column: String, why: String): String =
      s"$why, so nothing could skip files by it; set the table property " +
        s"${TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}$column to full."
    paths.map(_.mkString(".")).flatMap { column =>
      config.columnMode(column).toString match {
        case mode @ ("none" | "counts") =>
          Some(because(column, s"Iceberg keeps no bounds of column $column of $name (metrics mode $mode)"))
        case Truncate(length) =>
          for {
            start <- snapshot
            shared <- sharedPrefix(table, start, column, length.toInt)
          } yield because(
            column,
            s"Iceberg keeps the first $length characters of column $column of $name, and all its values begin " +
              s"with the same ones ($shared)")
        case _ => None
      }
    }.headOption
  }

  /** The prefix that all values of a string column share, if their bounds are cut there. */
  private def sharedPrefix(
      table: Table,
      snapshot: Snapshot,
      column: String,
      length: Int): Option[String] = {
    val field = table.schema.findField(column)
    if (field == null || field.`type` != Types.StringType.get) None
    else {
      val bounds = files(table, snapshot, column).flatMap { f =>
        for {
          low <- bound(f.lowerBounds, field.fieldId)
          high <- bound(f.upperBounds, field.fieldId)
        } yield (low, high)
      }
      if (bounds.isEmpty) None
      else Some(bounds.map(_._1).min).filter(low => cut(low, bounds.map(_._2).max, length))
    }
  }

  /** A truncated upper bound is the truncated text with its last character raised by one. */
  private def cut(low: String, high: String, length: Int): Boolean =
    low.codePointCount(0, low.length) == length && high.length == low.length &&
      high.init == low.init && high.last == low.last + 1

  private def files(table: Table, snapshot: Snapshot, column: String): Seq[DataFile] = {
    val planned = table.newScan().useSnapshot(snapshot.snapshotId)
      .includeColumnStats(java.util.Collections.singleton(column)).planFiles()
    try planned.asScala.map(_.file).toList
    finally planned.close()
  }

  private def bound(bounds: java.util.Map[Integer, java.nio.ByteBuffer], id: Int): Option[String] =
    Option(bounds).flatMap(b => Option(b.get(id)))
      .map(b => Conversions.fromByteBuffer[CharSequence](Types.StringType.get, b).toString)
}
