package org.apache.spark.sql.zorder.run.inspect

import java.util.Locale

import org.apache.spark.sql.zorder.stats.FileFooter

/** Files that spell one column in two ways: the union would be a table that Spark cannot read any more. */
private[run] object ColumnSpelling {

  /** A sentence, if columns of unlike files differ in case only; one file may hold both, and means both. */
  def problem(footers: Seq[FileFooter]): Option[String] = {
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
}
