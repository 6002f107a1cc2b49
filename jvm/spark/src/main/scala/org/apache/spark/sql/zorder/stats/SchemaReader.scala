package org.apache.spark.sql.zorder.stats

import scala.collection.JavaConverters._
import scala.util.{Failure, Success, Try}

import org.apache.parquet.schema.{GroupType, MessageType, PrimitiveType, Type}
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName.{FIXED_LEN_BYTE_ARRAY, INT32, INT64}

import org.apache.spark.sql.execution.datasources.parquet.{ParquetReadSupport, ParquetToSparkSchemaConverter}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._

/** The schema of a Parquet file, column by column, and as Spark sees it. */
private[stats] object SchemaReader {

  /** Metadata key under which Spark's Parquet writer looks for a field's id. */
  val FieldIdKey = "parquet.field.id"

  /** The field that every variant has. What its values are, is in fields that shredding chooses file by file. */
  private val VariantMetadata = "metadata"

  def read(message: MessageType, keyValues: Map[String, String]): FileSchema = {
    val converter = new ParquetToSparkSchemaConverter(conversionConf)
    val written = rowMetadata(keyValues)
    val noted = written.fold(Set.empty[Seq[String]])(variants(_))
    val nodes = new Walk(noted).nodes(message)
    val ids = nodes.flatMap(n => Option(n.tpe.getId).map(id => n.column -> id.intValue)).toMap
    val converted = columns(message).map { f =>
      f.getName -> Try(converter.convert(new MessageType("spark_schema", f)).head)
    }
    val fields = converted.collect { case (name, Success(field)) =>
      val declared = written.flatMap(_.fields.find(_.name == name)).getOrElse(field)
      withIds(declared.copy(nullable = true), Seq(name), ids)
    }
    val fieldColumns = nodes.filter(_.isField).map(_.column).toSet
    val lost = ids.keys.filterNot(fieldColumns).map(_.mkString(".")).toSeq.sorted
    FileSchema(
      leaves(message, noted),
      DataTypes.createStructType(fields.toArray).asNullable,
      converted.collect { case (name, Failure(e)) => unreadable(message, name, e) },
      lost)
  }

  private def unreadable(message: MessageType, column: String, e: Throwable): UnreadableColumn = {
    val why = Option(e.getMessage).getOrElse(e.toString).takeWhile(_ != '\n')
      .replaceFirst("^\\[[A-Z_.]+\\] ", "").replaceFirst(" SQLSTATE: \\w+$", "").stripSuffix(".")
    val logical = leaves(message, Set.empty).filter(_.path.head == column).map(_.logical).find(l =>
      why.contains(l.takeWhile(_ != '(')))
    UnreadableColumn(column, why, UnreadableColumnHints.otherType(logical.getOrElse("")))
  }

  private def columns(message: MessageType): Seq[Type] = message.getFields.asScala.toSeq

  /**
   * The leaf columns in the file's order; of a variant the one that each value has, however it is shredded.
   *
   * @param variants
   *   columns that are variants, though their groups may not say so: Spark 4.0 writes these without an annotation
   */
  def leaves(message: MessageType, variants: Set[Seq[String]]): IndexedSeq[LeafColumn] =
    new Walk(variants).nodes(message).toIndexedSeq
      .filter(_.tpe.isPrimitive)
      .map { n =>
        val p = n.tpe.asPrimitiveType
        val length = if (p.getPrimitiveTypeName == FIXED_LEN_BYTE_ARRAY) s"(${p.getTypeLength})" else ""
        LeafColumn(
          n.raw,
          n.column,
          p.getPrimitiveTypeName.name + length,
          logical(p),
          Option(p.getId).map(_.intValue),
          message.getMaxDefinitionLevel(n.raw: _*),
          message.getMaxRepetitionLevel(n.raw: _*),
          n.legacy)
      }

  /** A signed integer of the full width says nothing that the physical type does not say. */
  private def logical(leaf: PrimitiveType): String =
    (leaf.getLogicalTypeAnnotation, leaf.getPrimitiveTypeName) match {
      case (null, _) => ""
      case (i: IntLogicalTypeAnnotation, INT32) if i.isSigned && i.getBitWidth == 32 => ""
      case (i: IntLogicalTypeAnnotation, INT64) if i.isSigned && i.getBitWidth == 64 => ""
      case (other, _) => other.toString
    }

  /** `isField`: Spark has a struct field for it, not only an element, key or value. */
  private final case class Node(
      raw: Seq[String],
      column: Seq[String],
      tpe: Type,
      legacy: Boolean,
      isField: Boolean)

  /** The nodes of a schema, those above before those below; see [[leaves]]. */
  private final class Walk(variants: Set[Seq[String]]) {
    def nodes(message: MessageType): Seq[Node] =
      columns(message).flatMap(f => walk(f, Seq(f.getName), Seq(f.getName), legacy = false))

    private def walk(
        tpe: Type,
        raw: Seq[String],
        column: Seq[String],
        legacy: Boolean,
        isField: Boolean = true,
        isElement: Boolean = false): Seq[Node] = {
      val bareRepeated = tpe.isRepetition(Type.Repetition.REPEATED) && !isElement
      if (bareRepeated)
        walk(tpe, raw, column :+ "element", legacy = true, isField = false, isElement = true)
      else {
        val node = Node(raw, column, tpe, legacy, isField)
        if (tpe.isPrimitive) Seq(node) else node +: children(tpe.asGroupType, raw, column, legacy)
      }
    }

    private def children(
        group: GroupType,
        raw: Seq[String],
        column: Seq[String],
        legacy: Boolean): Seq[Node] = {
      def inner(t: Type, via: Seq[String], name: String, legacyHere: Boolean): Seq[Node] =
        walk(t, raw ++ via, column :+ name, legacy || legacyHere, isField = false, isElement = true)
      val only = if (group.getFieldCount == 1) Some(group.getType(0)) else None
      (group.getLogicalTypeAnnotation, only) match {
        case (_: ListLogicalTypeAnnotation, Some(list)) if list.isRepetition(Type.Repetition.REPEATED) =>
          val element = if (isElementItself(list, group.getName)) None else Some(list.asGroupType.getType(0))
          element match {
            case Some(e) => inner(e, Seq(list.getName, e.getName), "element", legacyHere = false)
            case None => inner(list, Seq(list.getName), "element", legacyHere = true)
          }
        case (_: MapLogicalTypeAnnotation | _: MapKeyValueTypeAnnotation, Some(entries))
            if !entries.isPrimitive && entries.asGroupType.getFieldCount == 2 =>
          val key = entries.asGroupType.getType(0)
          val value = entries.asGroupType.getType(1)
          inner(key, Seq(entries.getName, key.getName), "key", legacyHere = false) ++
            inner(value, Seq(entries.getName, value.getName), "value", legacyHere = false)
        case (annotation, _) =>
          val isVariant = variants(column) || Option(annotation).exists(_.toString.startsWith("VARIANT"))
          group.getFields.asScala.toSeq.filter(f => !isVariant || f.getName == VariantMetadata)
            .flatMap(f => walk(f, raw :+ f.getName, column :+ f.getName, legacy))
      }
    }
  }

  /** The columns of a schema that are variants, at any depth. */
  def variants(dataType: DataType, above: Seq[String] = Nil): Set[Seq[String]] = dataType match {
    case s: StructType => s.fields.toSet.flatMap((f: StructField) => variants(f.dataType, above :+ f.name))
    case a: ArrayType => variants(a.elementType, above :+ "element")
    case m: MapType => variants(m.keyType, above :+ "key") ++ variants(m.valueType, above :+ "value")
    case other => if (other.typeName == "variant") Set(above) else Set.empty
  }

  /** The rules of the Parquet format for lists that old writers wrote in two levels. */
  private def isElementItself(repeated: Type, parent: String): Boolean =
    repeated.isPrimitive || repeated.asGroupType.getFieldCount > 1 || repeated.getName == "array" ||
      repeated.getName == parent + "_tuple"

  private def withIds(field: StructField, column: Seq[String], ids: Map[Seq[String], Int]): StructField = {
    val dataType = inside(field.dataType, column, ids)
    val kept = new MetadataBuilder().withMetadata(field.metadata).remove(FieldIdKey)
    ids.get(column).foreach(id => kept.putLong(FieldIdKey, id.toLong))
    field.copy(dataType = dataType, metadata = kept.build())
  }

  private def inside(dataType: DataType, column: Seq[String], ids: Map[Seq[String], Int]): DataType =
    dataType match {
      case s: StructType => StructType(s.fields.map(f => withIds(f, column :+ f.name, ids)))
      case a: ArrayType => a.copy(elementType = inside(a.elementType, column :+ "element", ids))
      case m: MapType =>
        m.copy(
          keyType = inside(m.keyType, column :+ "key", ids),
          valueType = inside(m.valueType, column :+ "value", ids))
      case other => other
    }

  /** What Spark noted about the row when it wrote the file: intervals and the like show only there. */
  private def rowMetadata(keyValues: Map[String, String]): Option[StructType] =
    keyValues.get(ParquetReadSupport.SPARK_METADATA_KEY)
      .flatMap(json => Try(DataType.fromJson(json)).toOption)
      .collect { case s: StructType => s }

  private def conversionConf: SQLConf = {
    val conf = new SQLConf
    conf.setConfString(SQLConf.CASE_SENSITIVE.key, "true")
    conf.setConfString(SQLConf.PARQUET_BINARY_AS_STRING.key, "false")
    conf.setConfString(SQLConf.PARQUET_INT96_AS_TIMESTAMP.key, "true")
    conf.setConfString(SQLConf.LEGACY_PARQUET_NANOS_AS_LONG.key, "false")
    conf
  }
}
