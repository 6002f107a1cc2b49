package org.apache.spark.sql.zorder.run.inspect

import java.util.Locale

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.FileFooter
import org.apache.spark.sql.zorder.stats.schema.{FileSpelling, SchemaUnion, TruncatedTimestamps}
import org.apache.spark.sql.zorder.table.ClusterTable

/** Unites the schemas of the files and refuses what this Spark cannot rewrite; every refusal is one sentence. */
private[run] object InputSchema {

  /** The schema of all files together; its `losses` are those that `force` has accepted. */
  def of(
      session: ClassicSession,
      table: ClusterTable,
      footers: Seq[FileFooter],
      options: RunOptions): SchemaUnion = table.managed match {
    case Some(_) => managed(table, footers, options).copy(losses = Nil)
    case None =>
      if (table.caseSensitive)
        spelledTwice(footers).orElse(table.declared.flatMap(FileSpelling.problem(_, footers))).foreach(refuse)
      val union =
        accepted(SchemaUnion.of(footers, table.declared, table.caseSensitive, options.timestampType))
      unwritable(session, union.schema).foreach(refuse)
      TrialRead.problem(session, table, union, footers).foreach(refuse)
      val losses = union.losses ++ TruncatedTimestamps.losses(session, footers)
      if (!options.force && losses.nonEmpty)
        refuse(
          s"${losses.mkString(" ")} WITH (force = true) accepts ${if (losses.length == 1) "it" else "all this"}.")
      union.copy(losses = losses)
  }

  /** A format that keeps its own schema knows how to read its older files. */
  private def managed(table: ClusterTable, footers: Seq[FileFooter], options: RunOptions): SchemaUnion =
    accepted(table.declared match {
      case Some(columns) => SchemaUnion.managed(footers, columns, options.timestampType)
      case None => SchemaUnion.of(footers, None, caseSensitive = true, options.timestampType)
    })

  private def accepted(union: SchemaUnion): SchemaUnion = {
    val more = union.refusals.length - 1
    union.refusals.headOption.foreach(first =>
      refuse(first + (if (more > 0) s" (And ${more} more like it.)" else "")))
    union
  }

  /**
   * Columns of different files that differ in case only: Spark could not read a table with both. A file that
   * contains both means two columns.
   */
  private def spelledTwice(footers: Seq[FileFooter]): Option[String] = {
    val perSchema = footers.groupBy(_.schema).toSeq.map { case (schema, files) =>
      schema.leaves.flatMap(l => l.column.inits.filter(_.nonEmpty)).distinct -> files.head.file.path
    }
    val spellings = perSchema.flatMap(_._1).distinct.groupBy(_.map(_.toLowerCase(Locale.ROOT)))
    spellings.values.filter(_.length > 1)
      .find(same => !perSchema.exists { case (columns, _) => columns.count(same.contains) > 1 })
      .map { same =>
        val all = same.map(c => s"${c.mkString(".")} in ${perSchema.find(_._1.contains(c)).get._2}").sorted
        s"One column is spelt ${all.take(2).mkString(" and ")}: rewrite one of the files so that all spell it alike."
      }
  }

  private val TimeType = "spark.sql.timeType.enabled"

  /** TIME columns: newer Spark versions always read them, but write them only if a setting allows it. */
  private def unwritable(session: ClassicSession, schema: StructType): Option[String] =
    if (!session.conf.getOption(TimeType).contains("false")) None
    else
      schema.find(_.dataType.existsRecursively(_.typeName.startsWith("time("))).map { f =>
        s"Column ${f.name} is of type ${f.dataType.catalogString}, which this session cannot write: SET $TimeType = true."
      }
}
