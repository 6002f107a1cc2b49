package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, MetadataBuilder, StructField, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import sparkzorder.curve.Zone

/**
 * A data column to get the zones of.
 *
 * @param path
 *   the column's name, or the names down to a struct's field
 * @param dataType
 *   the type the table gives it; files that hold another one have unknown zones
 * @param absent
 *   the zone of a file without the column: only NULL, unless the column has a default for old rows
 * @param overlookNaN
 *   writers other than parquet-mr leave NaN out of min and max, so that any upper bound may hide one. True
 *   believes the bound all the same: good enough for a forecast, never for dropping a file.
 * @param named
 *   how files identify the column; None means by its path
 */
final case class StatColumn(
    path: Seq[String],
    dataType: DataType,
    absent: Zone = Zone.Unknown,
    overlookNaN: Boolean = false,
    named: Option[StoredAs] = None) {

  def stored: StoredAs = named.getOrElse(StoredAs.Named(path))
}

object StatColumn {
  private val ExistsDefault = "EXISTS_DEFAULT"

  /** Metadata key of a column or field of which a file without it tells nothing: its format may know values of it. */
  val AbsentIsUnknown = "zorder.absentIsUnknown"

  /** Whether a column or field was added with a value for the rows that were there: their files have none of it. */
  def hasDefault(field: StructField): Boolean = field.metadata.contains(ExistsDefault)

  /** The column as `schema` describes it, names compared as they stand; refuses a path that is not there. */
  def in(schema: StructType, path: Seq[String]): StatColumn = {
    val fields = fieldsOf(schema, path, _ == _).getOrElse(ZOrderException.refuse(
      "ZORDER_COLUMN_NOT_FOUND.STATISTICS",
      "column" -> path.mkString("."),
      "columns" -> schema.fieldNames.mkString(", ")))
    val field = fields.last
    val mayHoldValues = fields.exists(f => hasDefault(f) || f.metadata.contains(AbsentIsUnknown))
    // CHAR values are padded when read, so what a file holds is not what a look-up sees
    val dataType = CharVarcharUtils.getRawType(field.metadata).getOrElse(field.dataType)
    val absent = if (mayHoldValues) Zone.Unknown else Zone.OnlyNulls
    StatColumn(path, dataType, absent, named = Some(StoredAs.of(fields)))
  }

  /**
   * The fields from the top-level column down to the named one.
   *
   * @param same
   *   compares names
   */
  def fieldsOf(
      schema: StructType,
      path: Seq[String],
      same: (String, String) => Boolean): Option[Seq[StructField]] =
    schema.fields.find(f => same(f.name, path.head)).flatMap { field =>
      (field.dataType, path.tail) match {
        case (_, Seq()) => Some(Seq(field))
        case (s: StructType, deeper) => fieldsOf(s, deeper, same).map(field +: _)
        case _ => None
      }
    }
}

/** How the files of a table identify a column. What a schema says of that is its table format's word. */
sealed trait StoredAs

object StoredAs {

  /** The column is found by its names, which some formats choose themselves. */
  final case class Named(path: Seq[String]) extends StoredAs

  /** The column is found by a number in the file's schema, whatever its name was when the file was written. */
  final case class Numbered(fieldId: Int) extends StoredAs

  /** Metadata key of a field that all files identify by a number. */
  val FieldId = "zorder.fieldId"

  /** Delta's name of a column in files, where it maps names. */
  private val PhysicalName = "delta.columnMapping.physicalName"

  /** @param fields from the top-level column down to the one that is meant */
  def of(fields: Seq[StructField]): StoredAs =
    if (fields.last.metadata.contains(FieldId)) Numbered(fields.last.metadata.getLong(FieldId).toInt)
    else Named(fields.map(f =>
      if (f.metadata.contains(PhysicalName)) f.metadata.getString(PhysicalName) else f.name))

  /**
   * The schema of a table whose files have columns by their names. Rows of a Delta table that are written as plain
   * Parquet may bring along what that table called its columns.
   */
  def byName(schema: StructType): StructType = StructType(schema.map { f =>
    val dataType = f.dataType match {
      case s: StructType => byName(s)
      case other => other
    }
    val keys = Seq(FieldId, PhysicalName, StatColumn.AbsentIsUnknown).filter(f.metadata.contains)
    val metadata = keys.foldLeft(new MetadataBuilder().withMetadata(f.metadata))(_.remove(_)).build()
    f.copy(dataType = dataType, metadata = metadata)
  })
}
