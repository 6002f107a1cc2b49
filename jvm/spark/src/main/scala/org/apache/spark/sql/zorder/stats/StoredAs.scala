package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.types.StructField

/** How the files of a table identify a column. */
sealed trait StoredAs

object StoredAs {

  /** By its names, which some formats choose themselves. */
  final case class Named(path: Seq[String]) extends StoredAs

  /** By a number in the file's schema, whatever its name was when the file was written. */
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
}
