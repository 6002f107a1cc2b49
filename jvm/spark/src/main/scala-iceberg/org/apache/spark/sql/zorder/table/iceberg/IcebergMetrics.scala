package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{DataFile, MetricsConfig, Snapshot, Table, TableProperties}
import org.apache.iceberg.types.{Conversions, Types}
import org.apache.spark.sql.zorder.errors.ZOrderException

/** The column bounds in Iceberg's manifests, by which Iceberg skips files. */
private[zorder] object IcebergMetrics {
  private val Truncate = "truncate\\((\\d+)\\)".r

  /** After how many characters the bounds of a column are cut; None if they are whole, or if there are none. */
  def cutAt(config: MetricsConfig, column: String): Option[Int] = config.columnMode(column).toString match {
    case Truncate(length) => Some(length.toInt)
    case _ => None
  }

  /** A refusal of the first of these columns by which look-ups would skip nothing. */
  def refusalOfBounds(
      name: String,
      table: Table,
      snapshot: Option[Snapshot],
      paths: Seq[Seq[String]]): Option[ZOrderException] = {
    val config = MetricsConfig.forTable(table)
    def refusal(condition: String, column: String, more: (String, Any)*): ZOrderException = {
      val property = s"${TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}$column"
      val parameters = Seq("column" -> column, "table" -> name, "property" -> property)
      new ZOrderException(condition, parameters ++ more: _*)
    }
    paths.map(_.mkString(".")).flatMap { column =>
      config.columnMode(column).toString match {
        case mode @ ("none" | "counts") =>
          Some(refusal("ZORDER_COLUMN_REFUSED.ICEBERG_WITHOUT_BOUNDS", column, "mode" -> mode))
        case _ =>
          for {
            length <- cutAt(config, column)
            start <- snapshot
            shared <- sharedPrefix(table, start, column, length)
          } yield refusal(
            "ZORDER_COLUMN_REFUSED.ICEBERG_SHORT_BOUNDS",
            column,
            "count" -> length,
            "value" -> shared)
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
      val bounds = files(table, snapshot, field.fieldId).flatMap { f =>
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

  /** With the bounds of a column, which a snapshot has under the name of its time; none if it has none. */
  private def files(table: Table, snapshot: Snapshot, id: Int): Seq[DataFile] = {
    val whole = table.newScan().useSnapshot(snapshot.snapshotId)
    Option(whole.schema.findColumnName(id)).toSeq.flatMap { column =>
      Snapshots.tasks(table, snapshot)(_.includeColumnStats(java.util.Collections.singleton(column)))
    }.map(_.file)
  }

  private def bound(bounds: java.util.Map[Integer, java.nio.ByteBuffer], id: Int): Option[String] =
    Option(bounds).flatMap(b => Option(b.get(id)))
      .map(b => Conversions.fromByteBuffer[CharSequence](Types.StringType.get, b).toString)
}
