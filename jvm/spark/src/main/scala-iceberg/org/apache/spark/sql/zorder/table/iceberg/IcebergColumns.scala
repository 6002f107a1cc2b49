package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{Schema, Table, TableProperties}
import org.apache.iceberg.mapping.{NameMapping, NameMappingParser}
import org.apache.iceberg.spark.SparkSchemaUtil
import org.apache.iceberg.types.{Type, Types}

import org.apache.spark.sql.types.{DataType, MetadataBuilder, StructType}
import org.apache.spark.sql.zorder.stats.{LeafColumn, StoredAs}
import org.apache.spark.sql.zorder.table.ManagedColumns

/** Iceberg identifies columns by field ids, which stay when a column is renamed. */
private[iceberg] object IcebergColumns {

  /** The columns as Spark has them, each with its field id. */
  def of(schema: Schema): StructType = numbered(SparkSchemaUtil.convert(schema), schema.asStruct)

  /** A column's field id, by its current name. */
  def id(table: Table, path: Seq[String]): Option[String] =
    Option(table.schema.findField(path.mkString("."))).map(_.fieldId.toString)

  /** Lists and maps have no statistics that a look-up could use, so the fields inside them are left out. */
  private def numbered(spark: StructType, own: Types.StructType): StructType =
    StructType(spark.fields.zip(own.fields.asScala).map { case (field, nested) =>
      val metadata = new MetadataBuilder().withMetadata(field.metadata)
        .putLong(StoredAs.FieldId, nested.fieldId.toLong)
      field.copy(dataType = inside(field.dataType, nested.`type`), metadata = metadata.build())
    })

  private def inside(spark: DataType, own: Type): DataType = (spark, own) match {
    case (s: StructType, o: Types.StructType) => numbered(s, o)
    case _ => spark
  }

  /**
   * Leaves of files under the names that the table now has for their field ids. Files that Iceberg did not write have
   * no field ids and are read by name.
   */
  def managed(table: Table): ManagedColumns = {
    val (schema, names) = (table.schema, mapping(table))
    def number(leaf: LeafColumn): Option[Int] =
      leaf.fieldId.orElse(names.flatMap(m => Option(m.find(leaf.column: _*))).map(_.id.toInt))
        .orElse(Option(schema.findField(leaf.name)).map(_.fieldId))
    ManagedColumns(leaf => number(leaf).flatMap(id => Option(schema.findColumnName(id))).map(Seq(_)))
  }

  private def mapping(table: Table): Option[NameMapping] =
    Option(table.properties.get(TableProperties.DEFAULT_NAME_MAPPING)).map(NameMappingParser.fromJson)
}
