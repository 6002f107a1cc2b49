package org.apache.spark.sql.zorder.stats.schema

import java.util.Locale

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.SchemaReader

/**
 * Merges schemas by name and notes what does not fit; one instance per union.
 *
 * @param oneSpelling
 *   whether all files have to spell a column alike, because no catalog does it for them
 */
private[stats] final class SchemaMerge(caseSensitive: Boolean, oneSpelling: Boolean = true) {
  private val conflictNotes = mutable.LinkedHashSet.empty[String]
  private val idNotes = mutable.LinkedHashSet.empty[String]

  /** Sentences about columns that two files, or file and catalog, disagree on. */
  def conflicts: Seq[String] = conflictNotes.toSeq

  /** Sentences about columns whose field ids differ. */
  def idConflicts: Seq[String] = idNotes.toSeq

  private def key(name: String): String = if (caseSensitive) name else name.toLowerCase(Locale.ROOT)

  /** The fields of `a`, then those that only `b`, found in `file`, has. */
  def structs(path: Seq[String], a: StructType, b: StructType, file: String): StructType = {
    spelledTwice(path, b, file)
    val byKey = b.fields.map(f => key(f.name) -> f).toMap
    val merged = a.fields.map(f => byKey.get(key(f.name)).map(field(path, f, _, file)).getOrElse(f))
    val known = a.fields.map(f => key(f.name)).toSet
    StructType(merged ++ b.fields.filterNot(f => known(key(f.name))))
  }

  /** The catalog's columns in its order and spelling, then the rest of the files' columns. */
  def withCatalog(catalog: StructType, files: StructType): StructType = {
    val byKey = files.fields.map(f => key(f.name) -> f).toMap
    val first = nullable(catalog).fields.map { c =>
      byKey.get(key(c.name)) match {
        case Some(f) =>
          val dataType = types(Seq(c.name), c.dataType, f.dataType, "the files", catalogFirst = true)
          f.copy(name = c.name, dataType = dataType, metadata = both(f.metadata, c.metadata))
        case None => c
      }
    }
    val known = catalog.fields.map(f => key(f.name)).toSet
    StructType(first ++ files.fields.filterNot(f => known(key(f.name))))
  }

  /** Columns of `file`, nested ones too, that the catalog lacks. */
  def missing(catalog: StructType, file: StructType, path: Seq[String] = Nil): Seq[String] = {
    val byKey = catalog.fields.map(f => key(f.name) -> f.dataType).toMap
    file.fields.toSeq.flatMap { f =>
      (byKey.get(key(f.name)), f.dataType) match {
        case (None, _) => Seq((path :+ f.name).mkString("."))
        case (Some(c: StructType), s: StructType) => missing(c, s, path :+ f.name)
        case _ => Nil
      }
    }
  }

  private def field(path: Seq[String], a: StructField, b: StructField, file: String): StructField = {
    val at = path :+ a.name
    if (oneSpelling && a.name != b.name)
      conflictNotes += s"Column ${(path :+ b.name).mkString(".")} of file $file is spelled ${a.name} in " +
        "other files: bring them to one spelling, or set spark.sql.caseSensitive to true for two columns."
    val idKey = SchemaReader.FieldIdKey
    val ids = Seq(a, b).map(_.metadata).filter(_.contains(idKey)).map(_.getLong(idKey))
    if (ids.distinct.size > 1)
      idNotes += s"Column ${at.mkString(".")} of file $file has field id ${ids(1)} and elsewhere ${ids.head}."
    val dataType = types(at, a.dataType, b.dataType, s"file $file")
    a.copy(dataType = dataType, metadata = both(b.metadata, a.metadata))
  }

  /** If both have an entry, that of `second` wins. */
  private def both(first: Metadata, second: Metadata): Metadata =
    new MetadataBuilder().withMetadata(first).withMetadata(second).build()

  private def types(
      path: Seq[String],
      a: DataType,
      b: DataType,
      where: String,
      catalogFirst: Boolean = false): DataType = (plain(a), plain(b)) match {
    case (x: StructType, y: StructType) =>
      if (catalogFirst) nestedCatalog(path, x, y, where) else structs(path, x, y, where.stripPrefix("file "))
    case (x: ArrayType, y: ArrayType) =>
      ArrayType(types(path :+ "element", x.elementType, y.elementType, where, catalogFirst))
    case (x: MapType, y: MapType) =>
      MapType(
        types(path :+ "key", x.keyType, y.keyType, where, catalogFirst),
        types(path :+ "value", x.valueType, y.valueType, where, catalogFirst))
    case (x, y) if x == y => a
    case (x: NumericType, y: NumericType) if Cast.canUpCast(y, x) => x
    case (x: NumericType, y: NumericType) if !catalogFirst && Cast.canUpCast(x, y) => y
    case (x: StringType, BinaryType) if catalogFirst => x
    case (x: StringType, _: StringType) if catalogFirst => x
    case (x, y) =>
      val elsewhere = if (catalogFirst) "the catalog" else "other files"
      conflictNotes += s"Column ${path.mkString(".")} is ${y.catalogString} in $where and " +
        s"${x.catalogString} in $elsewhere: the files cannot be read together; bring them to one type first."
      a
  }

  private def nestedCatalog(
      path: Seq[String],
      catalog: StructType,
      files: StructType,
      where: String): StructType = {
    val byKey = files.fields.map(f => key(f.name) -> f).toMap
    val first = catalog.fields.map(c =>
      byKey.get(key(c.name)) match {
        case Some(f) =>
          f.copy(name = c.name, types(path :+ c.name, c.dataType, f.dataType, where, catalogFirst = true))
        case None => c
      })
    val known = catalog.fields.map(f => key(f.name)).toSet
    StructType(first ++ files.fields.filterNot(f => known(key(f.name))))
  }

  private def spelledTwice(path: Seq[String], struct: StructType, file: String): Unit =
    struct.fields.groupBy(f => key(f.name)).values.filter(_.length > 1).foreach { same =>
      val names = same.map(f => (path :+ f.name).mkString(".")).mkString(" and ")
      conflictNotes += s"File $file has columns $names, which are one name: " +
        "set spark.sql.caseSensitive to true."
    }

  private def nullable(struct: StructType): StructType = struct.asNullable

  /** CHAR and VARCHAR are strings in a file. */
  private def plain(dataType: DataType): DataType = dataType match {
    case _: CharType | _: VarcharType => StringType
    case other => other
  }
}
