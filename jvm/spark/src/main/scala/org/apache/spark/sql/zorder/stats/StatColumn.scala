package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.zorder.ZOrderException
import sparkzorder.curve.Zone

/**
 * A data column whose zones are wanted.
 *
 * @param path
 *   the column's name, or the names down to a struct's field
 * @param dataType
 *   the type the table gives it; files that hold another one have unknown zones
 * @param absent
 *   the zone of a file that has not got the column: only NULL, unless the column has a default for old rows
 * @param overlookNaN
 *   writers other than parquet-mr leave NaN out of min and max, so that any upper bound may hide one. True
 *   believes the bound all the same: good enough for a forecast, never for dropping a file.
 */
final case class StatColumn(
    path: Seq[String],
    dataType: DataType,
    absent: Zone = Zone.Unknown,
    overlookNaN: Boolean = false)

object StatColumn {
  private val ExistsDefault = "EXISTS_DEFAULT"

  /** The column as `schema` describes it, names compared as they stand; refuses a path that is not there. */
  def in(schema: StructType, path: Seq[String]): StatColumn = {
    val field = path.tail.foldLeft(schema.fields.find(_.name == path.head)) { (found, name) =>
      found.map(_.dataType).collect { case s: StructType => s }.flatMap(_.fields.find(_.name == name))
    }.getOrElse(ZOrderException.refuse(
      s"The table has no column ${path.mkString(".")}: name one of ${schema.fieldNames.mkString(", ")}."))
    val hasDefault = schema.fields.exists(f => f.name == path.head && f.metadata.contains(ExistsDefault))
    // CHAR values are padded when read, so what a file holds is not what a look-up sees
    val dataType = CharVarcharUtils.getRawType(field.metadata).getOrElse(field.dataType)
    StatColumn(path, dataType, if (hasDefault) Zone.Unknown else Zone.OnlyNulls)
  }
}
