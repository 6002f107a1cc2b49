package org.apache.spark.sql.zorder.skipping.scan.iceberg

import java.nio.ByteBuffer

import scala.collection.JavaConverters._

import org.apache.iceberg.{
  BatchScan,
  DataFile,
  FileContent,
  FileFormat,
  FileScanTask,
  MetadataColumns,
  MetricsConfig,
  Schema,
  Table
}
import org.apache.iceberg.spark.SparkSchemaUtil
import org.apache.iceberg.types.{Conversions, Types}
import org.apache.iceberg.types.Type.TypeID
import org.apache.iceberg.util.ContentFileUtil
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType}
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.skipping.index.{FileColumn, IndexedColumn, RangeSet}
import org.apache.spark.sql.zorder.skipping.scan.{BoundsSource, FileBounds, FileIdentity}
import org.apache.spark.sql.zorder.table.iceberg.{IcebergIndexing, IcebergMetrics, IcebergValues}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{NormalizedLong, NormalizedValue}

/**
 * The bounds of files in the manifests of a table, by field id: names change, and those of a snapshot may be
 * older than those of the table.
 *
 * @param schema
 *   of the scan
 * @param filtered
 *   plans the files of a filter; without it, the bounds are those of all files of the snapshot
 * @param files
 *   that this plans, where it is known
 */
final private class ManifestBounds(
    table: Table,
    schema: Schema,
    snapshot: Long,
    filtered: Option[BatchScan],
    override val files: Option[Long])
    extends BoundsSource {

  /** All sources of the table with one name tell the same. */
  def name: String =
    (Seq(snapshot.toString, schema.schemaId.toString) ++ filtered.map(_.filter().toString)).mkString(" ")

  private lazy val fields: Map[String, Types.NestedField] =
    schema.columns.asScala.filter(ManifestBounds.isTrusted).map(f => f.name -> f).toMap

  override lazy val columns: IndexedSeq[IndexedColumn] = schema.columns.asScala.toIndexedSeq
    .filter(f => fields.contains(f.name))
    .map { f =>
      val dataType: DataType = SparkSchemaUtil.convert(f.`type`)
      IndexedColumn(ColumnPath.sql(Seq(f.name)), Seq(f.name), dataType, absentIsNull = false)
    }

  override def read(asked: IndexedSeq[IndexedColumn]): IndexedSeq[FileBounds] = {
    val config = MetricsConfig.forTable(table)
    val ofColumns = asked.map { c =>
      val field = fields(c.path.head)
      new ManifestColumn(field, c.dataType, ManifestBounds.longest(config, field.name))
    }
    val planned = scan(asked.map(c => fields(c.path.head).fieldId)).planFiles()
    try planned.asScala.iterator.collect { case t: FileScanTask =>
        val key = ManifestBounds.key(t)
        FileBounds(key.path, key.length, key.modified, ManifestBounds.rows(t), ofColumns.map(_.of(t)))
      }.toIndexedSeq
    finally planned.close()
  }

  private def scan(fieldIds: Seq[Int]): BatchScan = filtered match {
    // it knows columns by names that it does not tell, so that the bounds of all are taken along
    case Some(scan) => scan.includeColumnStats()
    case None =>
      val whole = table.newBatchScan().useSnapshot(snapshot)
      whole.includeColumnStats(fieldIds.flatMap(id => Option(whole.schema.findColumnName(id))).asJava)
  }
}

private object ManifestBounds {

  /**
   * How a file is found again. Within a snapshot a path is of one file, but deletes take rows away from a
   * file that stays. In place of a time we give the rows that are left: where the scan has other deletes than
   * the statistics, the file is another one.
   */
  def key(task: FileScanTask): FileIdentity = FileIdentity(
    task.file.location,
    task.file.fileSizeInBytes,
    rows(task),
    IcebergIndexing.generation(task.file))

  /** Rows that no delete takes away. What deletes of several files, or of values, take away is not known. */
  def rows(task: FileScanTask): Long = {
    val deletes = task.deletes.asScala
    val counted = deletes.forall { d =>
      d.content == FileContent.POSITION_DELETES &&
      (ContentFileUtil.isDV(d) || ContentFileUtil.isFileScoped(d))
    }
    if (counted) math.max(0L, task.file.recordCount - deletes.map(_.recordCount).sum) else 0L
  }

  /** The schema of the table that a scan has its columns from; other columns cannot be asked for. */
  def schemaOf(table: Table, projection: Schema): Option[Schema] = {
    val scanned = projection.columns.asScala.filterNot(f => MetadataColumns.isMetadataColumn(f.name))
    (table.schema +: table.schemas.values.asScala.toSeq).find { s =>
      scanned.forall(isOf(s, _))
    }
  }

  /** Whether a schema has this field; a struct may be read in part. */
  private def isOf(schema: Schema, f: Types.NestedField): Boolean = {
    val same = schema.findField(f.fieldId)
    same != null && same.name == f.name && {
      if (f.`type`.isNestedType)
        same.`type`.typeId == f.`type`.typeId && f.`type`.asNestedType.fields.asScala.forall(isOf(schema, _))
      else same.`type` == f.`type`
    }
  }

  /**
   * Whether the bounds of a column are ends of its values in Spark's order: those of FLOAT and DOUBLE leave
   * out NaN. Older files say nothing of a column with a default, whose value they have in all rows.
   */
  def isTrusted(f: Types.NestedField): Boolean =
    !MetadataColumns.isMetadataColumn(f.name) && f.initialDefault == null && Trusted(f.`type`.typeId)

  private val Trusted: Set[TypeID] =
    Set(TypeID.INTEGER, TypeID.LONG, TypeID.DATE, TypeID.TIMESTAMP, TypeID.DECIMAL, TypeID.STRING)

  /** Bounds of strings of so many characters may be cut. */
  def longest(config: MetricsConfig, column: String): Int = config.columnMode(column).toString match {
    case "full" => Int.MaxValue
    // files from before the table was told to keep no bounds
    case _ => IcebergMetrics.cutAt(config, column).getOrElse(16)
  }
}

/**
 * The bounds and NULLs of one column.
 *
 * @param longest
 *   see [[ManifestBounds.longest]]
 */
final private class ManifestColumn(field: Types.NestedField, dataType: DataType, longest: Int) {
  private val id: Integer = field.fieldId
  private val normalize: Any => NormalizedValue = Normalization.of(dataType).get.normalize

  def of(task: FileScanTask): FileColumn = ofPartition(task).getOrElse(ofFile(task.file))

  /** Iceberg gives all rows of a partition by this column the partition's value, whatever the file has. */
  private def ofPartition(task: FileScanTask): Option[FileColumn] = {
    val places = task.spec.fields.asScala.indices.filter { n =>
      val f = task.spec.fields.get(n)
      f.sourceId == field.fieldId && f.transform.isIdentity
    }
    places.headOption.map { n =>
      val value = task.file.partition.get(n, classOf[Object])
      if (value == null) FileColumn.onlyNulls(task.file.recordCount)
      else
        IcebergValues.internal(dataType, value).map(normalize) match {
          case Some(v) => FileColumn.between(v, v, 0L)
          case None => FileColumn.Unknown
        }
    }
  }

  private def ofFile(file: DataFile): FileColumn = {
    val nulls = Option(file.nullValueCounts).flatMap(n => Option(n.get(id))).fold(-1L)(_.longValue)
    // no test compares the bounds of other formats than Parquet with what Spark reads
    if (file.format != FileFormat.PARQUET) FileColumn.Unknown
    else if (nulls == file.recordCount) FileColumn.onlyNulls(nulls)
    else
      (bound(file.lowerBounds), bound(file.upperBounds)) match {
        case (Some(min), Some(max)) if min <= max && !mayBeMillis(min, max) =>
          FileColumn.between(min, max, nulls)
        case _ => FileColumn(RangeSet.Unknown, nulls)
      }
  }

  /**
   * Of files that others wrote with milliseconds, and `add_files` brought in, Iceberg takes the milliseconds
   * down for microseconds. Moments near 1970 may be such.
   */
  private def mayBeMillis(min: NormalizedValue, max: NormalizedValue): Boolean = (min, max) match {
    case (NormalizedLong(a), NormalizedLong(b)) => field.`type`.typeId == TypeID.TIMESTAMP &&
      math.abs(a) < ManifestColumn.MostMillis && math.abs(b) < ManifestColumn.MostMillis
    case _ => false
  }

  private def bound(bounds: java.util.Map[Integer, ByteBuffer]): Option[NormalizedValue] =
    Option(bounds).flatMap(b => Option(b.get(id))).flatMap(value).map(normalize)

  /** Spark's value. A bound from before the type was widened may be shorter. */
  private def value(bytes: ByteBuffer): Option[Any] = field.`type`.typeId match {
    case TypeID.INTEGER | TypeID.DATE => number(bytes, 4)
    case TypeID.LONG => number(bytes, 4, 8)
    case TypeID.TIMESTAMP => number(bytes, 8)
    case TypeID.DECIMAL => decimal(Conversions.fromByteBuffer(field.`type`, bytes))
    case TypeID.STRING =>
      val copied = new Array[Byte](bytes.remaining)
      bytes.duplicate.get(copied)
      Some(UTF8String.fromBytes(copied)).filterNot(BoundsSource.mayBeCut(_, longest))
    case _ => None
  }

  private def decimal(value: java.math.BigDecimal): Option[Any] = dataType match {
    case d: DecimalType if value.precision <= d.precision =>
      Some(Decimal(BigDecimal.exact(value), d.precision, d.scale))
    case _ => None
  }

  private def number(bytes: ByteBuffer, lengths: Int*): Option[Any] =
    if (lengths.contains(bytes.remaining)) Some(Conversions.fromByteBuffer[AnyRef](field.`type`, bytes))
    else None
}

private object ManifestColumn {

  /** No year that Spark knows has more milliseconds: later than 9999. */
  val MostMillis = 260L * 1000 * 1000 * 1000 * 1000
}
