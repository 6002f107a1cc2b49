package org.apache.spark.sql.zorder.skip.explain

import scala.util.control.NonFatal

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.index.IndexedColumn
import org.apache.spark.sql.zorder.stats.Footers
import org.apache.spark.sql.zorder.table.file.DataFile

/** Why the index has nothing of a column of a file: it keeps no reasons, so the footer is looked at once more. */
final private[explain] class MissingStatistics(session: ClassicSession) {
  private val same = session.sessionState.conf.resolver

  def why(column: IndexedColumn, file: DataFile): String =
    if (column.expression.isDefined)
      "a file that cannot be read, or dates and times without bounds, such as INT96"
    else
      try {
        val schema = Footers.read(session, Seq(file)).head.schema
        val leaf = schema.leaves.find { l =>
          l.column.length == column.path.length && l.column.zip(column.path).forall(x => same(x._1, x._2))
        }
        leaf match {
          case None if column.absentIsNull => "the file has no such column"
          case None => "column has a default"
          case Some(l) if l.physical == "INT96" => "INT96"
          case Some(l) =>
            s"${l.typeText}, and a row group without bounds (a NaN, a string of over 4 KB, a writer that gives none)"
        }
      } catch { case NonFatal(_) => "the footer cannot be read" }
}
