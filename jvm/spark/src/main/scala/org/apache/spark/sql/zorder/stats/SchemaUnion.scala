package org.apache.spark.sql.zorder.stats

import org.apache.spark.sql.types._

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
 */
final case class SchemaUnion(
    schema: StructType,
    timestamps: String,
    refusals: Seq[String],
    losses: Seq[String])

object SchemaUnion {

  /**
   * @param catalogSchema
   *   the table's data columns, without partition columns; None where only the files know
   * @param caseSensitive
   *   whether `a` and `A` are two columns; if not, a file's spelling is kept
   * @param timestampType
   *   `keep` (as the files have it, while they agree), `micros` or `int96`
   */
  def of(
      footers: Seq[FileFooter],
      catalogSchema: Option[StructType],
      caseSensitive: Boolean,
      timestampType: String = "keep"): SchemaUnion = {
    val perSchema = distinctSchemas(footers)
    val merge = new SchemaMerge(caseSensitive)
    val files = perSchema.foldLeft(new StructType()) { case (union, (footer, _)) =>
      merge.structs(Nil, union, footer.schema.spark, footer.file.path)
    }
    val union = catalogSchema.map(catalog => merge.withCatalog(catalog, files)).getOrElse(files)
    val timestamps = WriteBack.timestamps(perSchema.map(_._1), timestampType)
    val (written, unwritable) = WriteBack.leaves(union, timestamps)
    val extra = catalogSchema.toSeq.flatMap { catalog =>
      Sentences.collect(perSchema)(f =>
        merge.missing(catalog, f.schema.spark).map { c =>
          s"Column $c" -> "is not in the catalog: add it to the table, or force the run to keep it in the files"
        })
    }
    val unreadable = Sentences.collect(perSchema)(_.schema.unreadable.map { case (column, why) =>
      s"Column $column" -> s"has a type that this Spark cannot read ($why)"
    })
    val changed = Sentences.collect(perSchema)(WriteBack.changes(_, written, timestampType == "keep"))
    val refusals = unreadable ++ merge.conflicts ++ unwritable
    SchemaUnion(union, timestamps, refusals, extra ++ changed ++ merge.idConflicts)
  }

  /** The columns of a format that keeps its own schema and answers for what its files hold. */
  def managed(footers: Seq[FileFooter], columns: StructType, timestampType: String): SchemaUnion = {
    val timestamps = WriteBack.timestamps(distinctSchemas(footers).map(_._1), timestampType)
    SchemaUnion(columns, timestamps, refusals = Nil, losses = Nil)
  }

  /** The first file of each schema, and how many files share it. */
  private def distinctSchemas(footers: Seq[FileFooter]): Seq[(FileFooter, Int)] = {
    val counts = footers.groupBy(_.schema).map { case (schema, all) => schema -> all.size }
    val seen = scala.collection.mutable.HashSet.empty[FileSchema]
    footers.filter(f => seen.add(f.schema)).map(f => f -> counts(f.schema))
  }
}

/** One sentence for each subject and complaint, naming the first file and counting the others. */
private[stats] object Sentences {
  def collect(files: Seq[(FileFooter, Int)])(complaints: FileFooter => Seq[(String, String)]): Seq[String] = {
    val all = for {
      (footer, count) <- files
      complaint <- complaints(footer)
    } yield (complaint, footer.file.path, count)
    all.map(_._1).distinct.map { case (subject, complaint) =>
      val where = all.filter(_._1 == ((subject, complaint)))
      val others = where.map(_._3).sum - 1
      val more = if (others == 0) "" else if (others == 1) " and 1 more" else s" and $others more"
      s"$subject of file ${where.head._2}$more $complaint."
    }
  }
}
