package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructField, StructType}
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

  /** The column as `schema` describes it, names compared as they stand; refuses a path that is not there. */
  def in(schema: StructType, path: Seq[String]): StatColumn = {
    val fields = fieldsOf(schema, path).getOrElse(ZOrderException.refuse(
      s"The table has no column ${path.mkString(".")}: name one of ${schema.fieldNames.mkString(", ")}."))
    val field = fields.last
    val hasDefault = schema.fields.exists(f => f.name == path.head && f.metadata.contains(ExistsDefault))
    // CHAR values are padded when read, so what a file holds is not what a look-up sees
    val dataType = CharVarcharUtils.getRawType(field.metadata).getOrElse(field.dataType)
    val absent = if (hasDefault) Zone.Unknown else Zone.OnlyNulls
    StatColumn(path, dataType, absent, named = Some(StoredAs.of(fields)))
  }

  private def fieldsOf(schema: StructType, path: Seq[String]): Option[Seq[StructField]] =
    schema.fields.find(_.name == path.head).flatMap { field =>
      (field.dataType, path.tail) match {
        case (_, Seq()) => Some(Seq(field))
        case (s: StructType, deeper) => fieldsOf(s, deeper).map(field +: _)
        case _ => None
      }
    }
}
