package org.apache.spark.sql.zorder.stats.schema

import java.util.Locale

import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}
import org.apache.spark.sql.zorder.stats.FileFooter

/**
 * Catalogs often know columns in another case than files do: Hive's names are in lower case. A session that ignores the
 * case reads them all the same, and a rewrite keeps the files' names where they agree.
 */
private[zorder] object FileSpelling {

  /** The columns of a catalog, at any depth, by the names that all files have for them, else by its own. */
  def of(catalog: StructType, footers: Seq[FileFooter]): StructType =
    struct(catalog, footers.map(_.schema.spark).distinct)

  /** A sentence about the first column of a catalog that a file has in another case only. */
  def problem(catalog: StructType, footers: Seq[FileFooter]): Option[String] =
    footers.groupBy(_.schema).toSeq.map(_._2.head).sortBy(_.file.path).flatMap { footer =>
      otherCase(catalog, footer.schema.spark, Nil).headOption.map { case (column, found) =>
        s"Column $column of the table is spelt $found in file ${footer.file.path}, and this session takes them for two " +
          "columns: SET spark.sql.caseSensitive = false."
      }
    }.headOption

  private def otherCase(catalog: StructType, file: StructType, above: Seq[String]): Seq[(String, String)] =
    catalog.fields.toSeq.flatMap { c =>
      def named(name: String) = (above :+ name).mkString(".")
      (file.fields.find(_.name == c.name), alike(c, file)) match {
        case (Some(f), _) =>
          (c.dataType, f.dataType) match {
            case (inTable: StructType, inFile: StructType) => otherCase(inTable, inFile, above :+ c.name)
            case _ => Nil
          }
        case (None, found) => found.map(f => named(c.name) -> named(f.name))
      }
    }

  private def struct(catalog: StructType, files: Seq[StructType]): StructType =
    StructType(catalog.fields.map { c =>
      val found = files.flatMap(alike(c, _))
      val name = found.map(_.name).distinct match {
        case Seq(one) => one
        case _ => c.name
      }
      c.copy(name = name, dataType = inside(c.dataType, found.map(_.dataType)))
    })

  private def inside(catalog: DataType, files: Seq[DataType]): DataType = catalog match {
    case c: StructType => struct(c, files.collect { case f: StructType => f })
    case c: ArrayType =>
      c.copy(elementType = inside(c.elementType, files.collect { case f: ArrayType => f.elementType }))
    case c: MapType =>
      val maps = files.collect { case f: MapType => f }
      c.copy(inside(c.keyType, maps.map(_.keyType)), inside(c.valueType, maps.map(_.valueType)))
    case other => other
  }

  private def alike(column: StructField, file: StructType): Seq[StructField] =
    file.fields.toSeq.filter(f => folded(f.name) == folded(column.name))

  private def folded(name: String): String = name.toLowerCase(Locale.ROOT)
}
