package org.apache.spark.sql.zorder.stats.schema

import java.util.Locale

import scala.collection.mutable
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.Cast
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns.{
  CURRENT_DEFAULT_COLUMN_METADATA_KEY,
  EXISTS_DEFAULT_COLUMN_METADATA_KEY
}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{
  FileFooter,
  FileSchema,
  Footers,
  InputProperties,
  NotParquet,
  SchemaReader
}
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * What a rewrite reads and writes so that no column of any file is lost.
 *
 * @param schema
 *   the data columns of catalog and files together: catalog order first, then as the files bring them; names
 *   in the files' case; all nullable; field ids in the metadata
 * @param timestamps
 *   value for `spark.sql.parquet.outputTimestampType`
 * @param refusals
 *   why the files cannot be read together, whatever is forced
 * @param losses
 *   sentences: what would come back changed; `force` accepts these
 * @param becomes
 *   columns (as `LeafColumn.name`) that come back as another type than a file has: a loss or asked for
 * @param relaxed
 *   columns that files of other writers require and that come back as optional
 * @param widened
 *   top-level columns that are read as a wider type than the file would have alone: not every Spark can
 */
final case class SchemaUnion(
    schema: StructType,
    timestamps: String,
    refusals: Seq[ZOrderException],
    losses: Seq[String],
    becomes: Map[String, String] = Map.empty,
    relaxed: Seq[String] = Nil,
    widened: Map[FileSchema, Set[String]] = Map.empty)

object SchemaUnion {

  /**
   * @param catalogSchema
   *   the table's data columns, without partition columns; None where only the files know
   * @param caseSensitive
   *   whether `a` and `A` are two columns; if not, the files' spelling is kept where they agree, and is else the catalog's
   * @param timestampType
   *   `keep` (as the files have it, while they agree) or `micros`
   */
  def of(
      footers: Seq[FileFooter],
      catalogSchema: Option[StructType],
      caseSensitive: Boolean,
      timestampType: String = "keep"): SchemaUnion = {
    val perSchema = distinctSchemas(footers)
    val merge = new SchemaMerge(caseSensitive, oneSpelling = caseSensitive || catalogSchema.isEmpty)
    val files = perSchema.foldLeft(new StructType()) { case (union, (footer, _)) =>
      merge.structs(Nil, union, footer.schema.spark, (_, _) => footer.file.path)
    }
    val spelled = catalogSchema.map(c => if (caseSensitive) c else FileSpelling.of(c, footers))
    val union =
      spelled.map(c => merge.withCatalog(Nil, c.asNullable, files, holder(perSchema, _, _))).getOrElse(files)
    val defaults = union.filter(_.metadata.contains(EXISTS_DEFAULT_COLUMN_METADATA_KEY))
    val timestamps = SparkWriterSchema.timestamps(
      perSchema.map(_._1),
      timestampType,
      SparkWriterSchema.lacksTimestamps(perSchema.map(_._1), defaults))
    val (written, unwritable) = SparkWriterSchema.leaves(union, timestamps)
    val extra = catalogSchema.toSeq.flatMap { catalog =>
      SchemaProblems.collect(perSchema)(f =>
        merge.missing(catalog, f.schema.spark).map { c =>
          s"Column $c" -> "is not in the catalog: add it to the table, or force the run to keep it in the files"
        })
    }
    val inMicros = SparkWriterSchema.inMicros(perSchema.map(_._1))
    val changed = SchemaProblems.collect(perSchema)(
      SparkWriterSchema.changes(_, written, timestampType == "keep", inMicros))
    val refusals = unreadable(perSchema) ++ merge.conflicts ++ unwritable
    val schemas = perSchema.map(_._1.schema)
    SchemaUnion(
      union,
      timestamps,
      refusals,
      extra ++ changed ++ merge.idConflicts,
      becomes = (for {
        schema <- schemas
        (leaf, Some(now)) <- SparkWriterSchema.pairs(schema, written)
        if leaf.sameType != now.sameType
      } yield leaf.name -> now.sameType).toMap,
      relaxed = perSchema.filterNot(_._1.bySpark).flatMap { case (footer, _) =>
        SparkWriterSchema.pairs(footer.schema, written).collect {
          case (leaf, Some(now)) if !leaf.legacyShape && leaf.maxDefinition < now.maxDefinition => leaf.name
        }
      }.distinct,
      widened =
        schemas.map(s => s -> SparkWriterSchema.widened(s, written, timestamps)).filter(_._2.nonEmpty).toMap)
  }

  private def unreadable(files: Seq[(FileFooter, Int)]): Seq[ZOrderException] =
    Complaint.collect(files)(_.schema.unreadable.map(u => u.name -> (u.why -> u.instead))).map { c =>
      val (why, instead) = c.what
      new ZOrderException(
        "ZORDER_FILE_REFUSED.COLUMN_TYPE",
        "column" -> c.subjects.head,
        "file" -> c.file,
        "more" -> c.more,
        "cause" -> why,
        "instead" -> instead,
        "likewise" -> c.likewise(name => s"column $name"))
    }

  /** The first file that has a type at this place, or has anything there. */
  private def holder(files: Seq[(FileFooter, Int)], path: Seq[String], dataType: DataType): String = {
    val there = files.map(_._1).flatMap(f => typeAt(f.schema.spark, path).map(_ -> f.file.path))
    there.find(_._1 == dataType).orElse(there.headOption).fold("")(_._2)
  }

  private def typeAt(dataType: DataType, path: Seq[String]): Option[DataType] = (dataType, path) match {
    case (found, Seq()) => Some(found)
    case (s: StructType, name +: rest) =>
      s.fields.find(_.name.equalsIgnoreCase(name)).flatMap(f => typeAt(f.dataType, rest))
    case (a: ArrayType, _ +: rest) => typeAt(a.elementType, rest)
    case (m: MapType, part +: rest) => typeAt(if (part == "key") m.keyType else m.valueType, rest)
    case _ => None
  }

  /** What is wrong with the first file that we would refuse, for a table that Spark failed at without a reason. */
  def refusal(session: ClassicSession, table: String, files: Seq[DataFile]): Option[ZOrderException] =
    try {
      val footers = Footers.read(session, files)
      (InputProperties.of(footers).refusals ++ of(footers, None, caseSensitive = true).refusals).headOption
    } catch {
      case refused: ZOrderException => Some(refused)
      case NonFatal(NotParquet(file)) =>
        Some(new ZOrderException("ZORDER_FILE_UNREADABLE.NOT_PARQUET", "table" -> table, "file" -> file))
      case NonFatal(_) => None
    }

  /** The columns of a format that has its own schema and guarantees what its files hold. */
  def managed(footers: Seq[FileFooter], columns: StructType, timestampType: String): SchemaUnion = {
    val perSchema = distinctSchemas(footers)
    // a default, or a value that only the format's metadata have
    val timestamps = SparkWriterSchema.timestamps(
      perSchema.map(_._1),
      timestampType,
      SparkWriterSchema.hasFewerTimestamps(perSchema.map(_._1), columns))
    // the format has its own readers; nothing could be verified by a footer that we cannot read
    SchemaUnion(columns, timestamps, unreadable(perSchema.filter(_._1.schema.opaque)), losses = Nil)
  }

  /** The first file of each schema, and how many files share it. */
  private def distinctSchemas(footers: Seq[FileFooter]): Seq[(FileFooter, Int)] = {
    val counts = footers.groupBy(_.schema).map { case (schema, all) => schema -> all.size }
    val seen = scala.collection.mutable.HashSet.empty[FileSchema]
    footers.filter(f => seen.add(f.schema)).map(f => f -> counts(f.schema))
  }
}

/**
 * One problem of some files.
 *
 * @param subjects
 *   what has it: columns, mostly
 * @param file
 *   the first file that has it
 * @param others
 *   the number of other files
 */
final private[stats] case class Complaint[A](what: A, subjects: Seq[String], file: String, others: Int) {
  def more: String = if (others == 0) "" else s" and $others more"

  def likewise(named: String => String): String =
    if (subjects.size == 1) "" else s" (likewise ${subjects.tail.map(named).mkString(", ")})"
}

private[stats] object Complaint {

  /** Each problem once. */
  def collect[A](files: Seq[(FileFooter, Int)])(found: FileFooter => Seq[(String, A)]): Seq[Complaint[A]] = {
    val all = for {
      (footer, count) <- files
      (subject, what) <- found(footer)
    } yield (what, subject, footer.file.path, count)
    all.map(_._1).distinct.map { what =>
      val where = all.filter(_._1 == what)
      val others = where.map { case (_, _, file, count) => file -> count }.distinct.map(_._2).sum - 1
      Complaint(what, where.map(_._2).distinct, where.head._3, others)
    }
  }
}

/** One sentence for each problem. */
private[stats] object SchemaProblems {
  def collect(files: Seq[(FileFooter, Int)])(complaints: FileFooter => Seq[(String, String)]): Seq[String] =
    Complaint.collect(files)(complaints).map(c =>
      s"${c.subjects.head} of file ${c.file}${c.more} ${c.what}${c.likewise(lower)}.")

  private def lower(subject: String): String = s"${subject.head.toLower}${subject.tail}"
}

/**
 * Merges schemas by name and notes what does not fit; one instance per union.
 *
 * @param oneSpelling
 *   whether all files have to spell a column alike, because no catalog does it for them
 */
final private class SchemaMerge(caseSensitive: Boolean, oneSpelling: Boolean) {
  import SchemaMerge.Place

  private val conflictNotes = mutable.LinkedHashSet.empty[(String, Seq[(String, Any)])]
  private val idNotes = mutable.LinkedHashSet.empty[String]

  /** Columns that two files, or file and catalog, disagree on. */
  def conflicts: Seq[ZOrderException] =
    conflictNotes.toSeq.map { case (condition, parameters) => new ZOrderException(condition, parameters: _*) }

  private def conflict(condition: String, parameters: (String, Any)*): Unit = {
    val _ = conflictNotes.add(condition -> parameters)
  }

  /** Sentences about columns whose field ids differ. */
  def idConflicts: Seq[String] = idNotes.toSeq

  private def key(name: String): String = if (caseSensitive) name else name.toLowerCase(Locale.ROOT)

  /** The fields of `a`, then those that only `b`, found in `file`, has. */
  def structs(path: Seq[String], a: StructType, b: StructType, file: Place): StructType = {
    spelledTwice(path, b, file)
    val byKey = b.fields.map(f => key(f.name) -> f).toMap
    val merged = a.fields.map(f => byKey.get(key(f.name)).map(field(path, f, _, file)).getOrElse(f))
    val known = a.fields.map(f => key(f.name)).toSet
    StructType(merged ++ b.fields.filterNot(f => known(key(f.name))))
  }

  /**
   * The catalog's columns in its order and spelling, then the rest of the files' columns.
   *
   * @param path
   *   of the struct whose fields these are; empty for the columns of the table
   */
  def withCatalog(
      path: Seq[String],
      catalog: StructType,
      files: StructType,
      file: Place): StructType = {
    val byKey = files.fields.map(f => key(f.name) -> f).toMap
    val byId = files.fields.flatMap(f => idOf(f).map(_ -> f)).toMap
    val first = catalog.fields.map { c =>
      val found = byKey.get(key(c.name))
      // readers by id take the values of the column that has the id
      for {
        id <- idOf(c)
        f <- byId.get(id).filterNot(other => key(other.name) == key(c.name)).orElse(found)
        own <- idOf(f) if own != id || key(f.name) != key(c.name)
      } idNotes += s"Column ${(path :+ f.name).mkString(".")} of file ${file(path :+ f.name, f.dataType)} has field " +
        s"id $own, and ${(path :+ c.name).mkString(".")} has $id in the catalog."
      found match {
        case Some(f) =>
          val dataType = types(path :+ c.name, c.dataType, f.dataType, file, catalogFirst = true)
          // of the catalog's metadata, only that of whole columns is kept
          val metadata = if (path.isEmpty) both(withoutDefault(f.metadata), c.metadata) else f.metadata
          f.copy(name = c.name, dataType = dataType, metadata = metadata)
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

  private def field(path: Seq[String], a: StructField, b: StructField, file: Place): StructField = {
    val at = path :+ a.name
    if (oneSpelling && a.name != b.name)
      conflict(
        "ZORDER_SCHEMA_CONFLICT.SPELLING",
        "column" -> (path :+ b.name).mkString("."),
        "file" -> file(at, b.dataType),
        "spelling" -> a.name)
    val ids = Seq(a, b).flatMap(idOf)
    if (ids.distinct.size > 1)
      idNotes += s"Column ${at.mkString(".")} of file ${file(at, b.dataType)} has field id ${ids(1)} and " +
        s"elsewhere ${ids.head}."
    val dataType = types(at, a.dataType, b.dataType, file)
    a.copy(dataType = dataType, metadata = both(b.metadata, a.metadata))
  }

  private def idOf(f: StructField): Option[Long] =
    Some(f.metadata).filter(_.contains(SchemaReader.FieldIdKey)).map(_.getLong(SchemaReader.FieldIdKey))

  /** The default of another table, which a file has brought along, is none of this one's. */
  private def withoutDefault(metadata: Metadata): Metadata =
    new MetadataBuilder().withMetadata(metadata).remove(CURRENT_DEFAULT_COLUMN_METADATA_KEY)
      .remove(EXISTS_DEFAULT_COLUMN_METADATA_KEY).build()

  /** If both have an entry, that of `second` wins. */
  private def both(first: Metadata, second: Metadata): Metadata =
    new MetadataBuilder().withMetadata(first).withMetadata(second).build()

  private def types(
      path: Seq[String],
      a: DataType,
      b: DataType,
      file: Place,
      catalogFirst: Boolean = false): DataType = (plain(a), plain(b)) match {
    case (x: StructType, y: StructType) =>
      if (catalogFirst) withCatalog(path, x, y, file) else structs(path, x, y, file)
    case (x: ArrayType, y: ArrayType) =>
      ArrayType(types(path :+ "element", x.elementType, y.elementType, file, catalogFirst))
    case (x: MapType, y: MapType) =>
      MapType(
        types(path :+ "key", x.keyType, y.keyType, file, catalogFirst),
        types(path :+ "value", x.valueType, y.valueType, file, catalogFirst))
    case (x, y) if x == y => a
    case (x: NumericType, y: NumericType) if Cast.canUpCast(y, x) => x
    case (x: NumericType, y: NumericType) if !catalogFirst && Cast.canUpCast(x, y) => y
    case (x: StringType, BinaryType) if catalogFirst => x
    case (x: StringType, _: StringType) if catalogFirst => x
    case (x, y) =>
      conflict(
        if (catalogFirst) "ZORDER_SCHEMA_CONFLICT.TYPE_IN_CATALOG" else "ZORDER_SCHEMA_CONFLICT.TYPE",
        "column" -> path.mkString("."),
        "type" -> y.catalogString,
        "file" -> file(path, y),
        "otherType" -> x.catalogString)
      a
  }

  private def spelledTwice(path: Seq[String], struct: StructType, file: Place): Unit =
    struct.fields.groupBy(f => key(f.name)).values.filter(_.length > 1).foreach { same =>
      val names = same.map(f => (path :+ f.name).mkString(".")).mkString(" and ")
      conflict("ZORDER_SCHEMA_CONFLICT.ONE_NAME", "file" -> file(path, struct), "columns" -> names)
    }

  /** CHAR and VARCHAR are strings in a file. */
  private def plain(dataType: DataType): DataType = dataType match {
    case _: CharType | _: VarcharType => StringType
    case other => other
  }
}

private object SchemaMerge {

  /** The file where a type was found. */
  type Place = (Seq[String], DataType) => String
}

/**
 * Catalogs often know columns in another case than files do: Hive's names are in lower case. A session that ignores the
 * case reads them all the same, and a rewrite keeps the files' names where they agree.
 */
private[zorder] object FileSpelling {

  /** The columns of a catalog, at any depth, by the names that all files have for them, else by its own. */
  def of(catalog: StructType, footers: Seq[FileFooter]): StructType =
    struct(catalog, footers.map(_.schema.spark).distinct)

  /** The first column of a catalog that a file has in another case only. */
  def problem(catalog: StructType, footers: Seq[FileFooter]): Option[ZOrderException] =
    footers.groupBy(_.schema).toSeq.map(_._2.head).sortBy(_.file.path).flatMap { footer =>
      otherCase(catalog, footer.schema.spark, Nil).headOption.map { case (column, found) =>
        new ZOrderException(
          "ZORDER_SCHEMA_CONFLICT.CASE_IN_CATALOG",
          "column" -> column,
          "spelling" -> found,
          "file" -> footer.file.path)
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
