package org.apache.spark.sql.zorder.run

import java.util.Locale

import org.apache.spark.sql.zorder.stats.FileFooter

/** Files that spell one column in two ways: the union would be a table that Spark cannot read any more. */
private[run] object Spelling {

  /** A sentence, if columns of different files differ in case only; one file may hold both, and means both. */
  def problem(footers: Seq[FileFooter]): Option[String] = {
    val perSchema = footers.groupBy(_.schema).toSeq.map { case (schema, files) =>
      schema.leaves.flatMap(l => l.column.inits.filter(_.nonEmpty)).distinct -> files.head.file.path
    }
    val spellings = perSchema.flatMap(_._1).distinct.groupBy(_.map(_.toLowerCase(Locale.ROOT)))
    spellings.values.filter(_.length > 1)
      .find(same => !perSchema.exists { case (columns, _) => columns.count(same.contains) > 1 })
      .map { same =>
        val Seq(one, other) = same.sortBy(_.mkString(".")).take(2).map { column =>
          (column.mkString("."), perSchema.find(_._1.contains(column)).get._2)
        }
        s"Column ${one._1} of file ${one._2} is spelt ${other._1} in ${other._2}: rewrite one of the files so that " +
          "all spell it alike."
      }
  }
}
