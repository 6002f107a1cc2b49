package org.apache.spark.sql.zorder.stats.schema

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.stats.{FileFooter, FileSchema}

/**
 * What a rewrite reads and writes so that no column of any file is lost.
 *
 * @param schema
 *   the data columns of catalog and files together: catalog order first, then as the files bring them; names
 *   in the files' case; all nullable; field ids in the metadata
 * @param timestamps
 *   value for `spark.sql.parquet.outputTimestampType`
 * @param refusals
 *   sentences: the files cannot be read together, whatever is forced
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
    refusals: Seq[String],
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
      merge.structs(Nil, union, footer.schema.spark, footer.file.path)
    }
    val spelled = catalogSchema.map(c => if (caseSensitive) c else FileSpelling.of(c, footers))
    val union = spelled.map(catalog => merge.withCatalog(catalog, files)).getOrElse(files)
    val timestamps = SparkWriterSchema.timestamps(perSchema.map(_._1), timestampType)
    val (written, unwritable) = SparkWriterSchema.leaves(union, timestamps)
    val extra = catalogSchema.toSeq.flatMap { catalog =>
      Sentences.collect(perSchema)(f =>
        merge.missing(catalog, f.schema.spark).map { c =>
          s"Column $c" -> "is not in the catalog: add it to the table, or force the run to keep it in the files"
        })
    }
    val changed = Sentences.collect(perSchema)(SparkWriterSchema.changes(_, written, timestampType == "keep"))
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

  private def unreadable(files: Seq[(FileFooter, Int)]): Seq[String] =
    Sentences.collect(files)(_.schema.unreadable.map { case (column, why) =>
      s"Column $column" -> s"has a type that this Spark cannot read: $why"
    })

  /** The columns of a format that has its own schema and guarantees what its files hold. */
  def managed(footers: Seq[FileFooter], columns: StructType, timestampType: String): SchemaUnion = {
    val perSchema = distinctSchemas(footers)
    val timestamps = SparkWriterSchema.timestamps(perSchema.map(_._1), timestampType)
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

/** One sentence for each problem: its columns, the first file that has it, and the number of others. */
private[stats] object Sentences {
  def collect(files: Seq[(FileFooter, Int)])(complaints: FileFooter => Seq[(String, String)]): Seq[String] = {
    val all = for {
      (footer, count) <- files
      complaint <- complaints(footer)
    } yield (complaint._2, complaint._1, footer.file.path, count)
    all.map(_._1).distinct.map { complaint =>
      val where = all.filter(_._1 == complaint)
      val others = where.map { case (_, _, file, count) => file -> count }.distinct.map(_._2).sum - 1
      val more = if (others == 0) "" else if (others == 1) " and 1 more" else s" and $others more"
      val (_, subject, file, _) = where.head
      val alike = where.map(_._2).distinct.tail.map(lower)
      val likewise = if (alike.isEmpty) "" else s" (likewise ${alike.mkString(", ")})"
      s"$subject of file $file$more $complaint$likewise."
    }
  }

  private def lower(subject: String): String = s"${subject.head.toLower}${subject.tail}"
}
