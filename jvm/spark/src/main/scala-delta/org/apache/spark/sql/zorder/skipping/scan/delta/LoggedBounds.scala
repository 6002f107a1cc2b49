package org.apache.spark.sql.zorder.skipping.scan.delta

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UserDefinedExpression}
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns.EXISTS_DEFAULT_COLUMN_METADATA_KEY
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaLog, Snapshot}
import org.apache.spark.sql.delta.stats.DeltaScan
import org.apache.spark.sql.functions.{coalesce, col, lit}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.skipping.index.{FileColumn, IndexedColumn}
import org.apache.spark.sql.zorder.skipping.scan.{BoundsSource, FileBounds}
import org.apache.spark.sql.zorder.table.delta.LoggedTimestamps
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.NormalizedValue

/**
 * The bounds of files in the log of one snapshot of a Delta table: of all of them, or of those that filters of
 * partitions leave.
 *
 * Where rows of a file are deleted, its number of rows and its bounds are still those of the whole file. Of
 * NULLs the log then has a number that means something only if it is 0 or that of all rows.
 */
final private[delta] class LoggedBounds(
    snapshot: Snapshot,
    partitionFilters: Seq[Expression],
    override val files: Option[Long])
    extends BoundsSource {

  /** All sources of the snapshot with one name tell the same. */
  def name: String = partitionFilters.map(_.sql).sorted.mkString(" ")

  /** Fields of the table whose bounds the log has, by name. */
  private lazy val fields: Map[String, StructField] = {
    val logged = snapshot.statsSchema.find(_.name == LoggedBounds.Min).map(_.dataType) match {
      case Some(s: StructType) => s.fields.map(f => f.name -> f.dataType).toMap
      case _ => Map.empty[String, DataType]
    }
    val partitioning = snapshot.metadata.partitionColumns.toSet
    snapshot.schema.fields.filter { f =>
      !partitioning(f.name) && LoggedBounds.isTrusted(f) &&
      logged.get(DeltaColumnMapping.getPhysicalName(f)).contains(f.dataType)
    }.map(f => f.name -> f).toMap
  }

  override lazy val columns: IndexedSeq[IndexedColumn] = snapshot.schema.fields.toIndexedSeq
    .flatMap(f => fields.get(f.name))
    .map(f => IndexedColumn(ColumnPath.sql(Seq(f.name)), Seq(f.name), f.dataType, absentIsNull = true))

  override def read(asked: IndexedSeq[IndexedColumn]): IndexedSeq[FileBounds] = {
    val hasTight = snapshot.statsSchema.fieldNames.contains(LoggedBounds.Tight)
    val stats = col("stats")
    val ofFile = Seq(
      col("path"),
      col("size"),
      col("modificationTime"),
      coalesce(col("deletionVector.cardinality"), lit(0L)),
      stats.getField(LoggedBounds.Rows),
      if (hasTight) coalesce(stats.getField(LoggedBounds.Tight), lit(true)) else lit(true))
    val ofColumns: Seq[Column] = asked.flatMap { c =>
      val name = DeltaColumnMapping.getPhysicalName(fields(c.path.head))
      Seq(LoggedBounds.Min, LoggedBounds.Max, LoggedBounds.Nulls).map(stats.getField(_).getField(name))
    }
    // rows as Spark holds them: values need not be turned into objects and back
    val logged =
      if (partitionFilters.isEmpty) snapshot.withStats
      else DeltaLog.filterFileList(snapshot.metadata.partitionSchema, snapshot.withStats, partitionFilters)
    val rows = logged.select(ofFile ++ ofColumns: _*).queryExecution.executedPlan.executeCollect()
    val readers = asked.map(c => new LoggedColumn(c.dataType))
    rows.toIndexedSeq.map(bounds(_, readers))
  }

  private def bounds(row: InternalRow, columns: IndexedSeq[LoggedColumn]): FileBounds = {
    val deleted = row.getLong(3)
    val physical = if (row.isNullAt(4)) -1L else row.getLong(4)
    val exactNulls = deleted == 0 && row.getBoolean(5)
    FileBounds(
      row.getUTF8String(0).toString,
      row.getLong(1),
      row.getLong(2),
      math.max(0L, physical - deleted),
      columns.zipWithIndex.map { case (c, i) => c.bounds(row, 6 + 3 * i, physical, exactNulls) })
  }
}

private object LoggedBounds {

  /** The bounds of so many files are read at once, for all queries of a snapshot. */
  val Small = 20000L

  /**
   * Where the scan's filters of partitions leave a small part of the files, the bounds of these alone.
   *
   * @param small
   *   of no more files than these, all bounds are read
   */
  def of(scan: DeltaScan, small: Long): LoggedBounds = {
    val snapshot = scan.scannedSnapshot
    val filters = scan.partitionFilters.toSeq
    val all = snapshot.numOfFiles
    // where Delta has a LIMIT without an order, it does not say what the partitions leave
    val left = Option(scan.partition).flatMap(_.files)
    // the texts of two functions may be the same, and so would be the names of their sources
    val areNamed = filters.nonEmpty && !filters.exists(_.exists(_.isInstanceOf[UserDefinedExpression]))
    left.filter(n => areNamed && all > small && BoundsSource.areFew(n, all)) match {
      case few: Some[Long] => new LoggedBounds(snapshot, filters, few)
      case None => new LoggedBounds(snapshot, Nil, Some(all))
    }
  }

  val Min = "minValues"
  val Max = "maxValues"
  val Nulls = "nullCount"
  val Rows = "numRecords"
  val Tight = "tightBounds"

  /** The mark of a column whose type was widened: bounds of older files may be of the old type. */
  private val Widened = "delta.typeChanges"

  /** The mark of CHAR(n) and VARCHAR(n), which Spark pads or cuts. */
  private val OfFixedLength = "__CHAR_VARCHAR_TYPE_STRING"

  /** Whether the bounds of a column are ends of its values in Spark's order, NaN and padding included. */
  def isTrusted(f: StructField): Boolean = {
    val marks = Seq(Widened, OfFixedLength, EXISTS_DEFAULT_COLUMN_METADATA_KEY)
    !marks.exists(f.metadata.contains) && (f.dataType match {
      case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType => true
      case _: DecimalType => true
      // a collation has an order of its own
      case s: StringType => s == StringType
      case _ => false
    })
  }
}

/** The three values that the log has of a column: least, greatest, NULLs. */
final private class LoggedColumn(dataType: DataType) {
  private val normalize: Any => NormalizedValue = Normalization.of(dataType).get.normalize

  /**
   * @param at
   *   the place of the three in the row
   * @param rows
   *   of the whole file, -1 where the log does not say
   * @param exactNulls
   *   whether the number of NULLs is that of the whole file
   */
  def bounds(row: InternalRow, at: Int, rows: Long, exactNulls: Boolean): FileColumn = {
    val logged = if (row.isNullAt(at + 2)) -1L else row.getLong(at + 2)
    val nulls = if (exactNulls || logged == 0 || logged == rows) logged else -1L
    if (rows < 0) FileColumn.Unknown
    else if (nulls == rows) FileColumn.onlyNulls(nulls)
    else if (row.isNullAt(at) || row.isNullAt(at + 1)) FileColumn.Unknown
    else {
      val (min, max) = (row.get(at, dataType), row.get(at + 1, dataType))
      if (LoggedColumn.mayBeCut(min) || LoggedColumn.mayBeCut(max)) FileColumn.Unknown
      else FileColumn.between(normalize(lowest(min)), normalize(highest(max)), nulls)
    }
  }

  private def lowest(min: Any): Any = dataType match {
    case TimestampType => LoggedTimestamps.earlier(min.asInstanceOf[Long])
    case _ => min
  }

  /** The log has whole milliseconds, so that the greatest moment of the file may be later. */
  private def highest(max: Any): Any = dataType match {
    case TimestampType => LoggedTimestamps.later(max.asInstanceOf[Long])
    case TimestampNTZType => LoggedTimestamps.laterWithoutZone(max.asInstanceOf[Long])
    case _ => max
  }
}

private object LoggedColumn {

  /** Texts of so many characters may be cut off. */
  private val Prefix = 32

  def mayBeCut(value: Any): Boolean = value match {
    case s: UTF8String => BoundsSource.mayBeCut(s, Prefix)
    case _ => false
  }
}
