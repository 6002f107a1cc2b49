package org.apache.spark.sql.zorder.table.iceberg

import java.net.URLEncoder

import scala.collection.JavaConverters._

import org.apache.iceberg.{ContentFile, PartitionField, PartitionSpec, Table}
import org.apache.iceberg.transforms.Transform

import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils

/** The partitions of an Iceberg table, whose values are transforms of columns. */
private[iceberg] object IcebergPartitions {

  /**
   * A file's partition in the form of directories, e.g. `ts_day=2026-01-01/id_bucket=3`; empty when
   * unpartitioned. Not Iceberg's own spelling, in which NULL and the text `null` are the same.
   */
  def text(table: Table, file: ContentFile[_]): String = {
    val spec = table.specs.get(file.specId)
    spec.fields.asScala.zipWithIndex.map { case (field, i) =>
      s"${URLEncoder.encode(field.name, "UTF-8")}=${value(spec, field, file, i)}"
    }.mkString("/")
  }

  private def value(spec: PartitionSpec, field: PartitionField, file: ContentFile[_], i: Int): String =
    Option(file.partition.get(i, classOf[Object])) match {
      case None => ExternalCatalogUtils.DEFAULT_PARTITION_NAME
      case Some(found) =>
        val kind = spec.partitionType.fields.get(i).`type`
        val transform = field.transform.asInstanceOf[Transform[Object, Object]]
        URLEncoder.encode(transform.toHumanString(kind, found), "UTF-8")
    }

  /** The columns that have one value in each partition: clustering by them has no effect. */
  def constant(table: Table): Seq[String] =
    table.spec.fields.asScala.filter(_.transform.isIdentity)
      .map(f => table.schema.findColumnName(f.sourceId)).filter(_ != null).toSeq
}
