package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.table.{ClusterTable, RunRecord}

/** The columns of a layout by their ids, since a table can give the name of a column to another one (ADR 0029). */
private[run] object ColumnIds {

  /** One id for each clustering column; empty if the table's columns have only names. */
  def of(table: ClusterTable, columns: Seq[ClusterColumn]): Seq[String] = {
    val ids = columns.map(c => c.path.fold(ofExpression(table, c))(table.columnId))
    if (ids.forall(_.isDefined)) ids.flatten else Nil
  }

  private def ofExpression(table: ClusterTable, column: ClusterColumn): Option[String] = {
    val read = ColumnPath.within(column.expression).map(table.columnId)
    if (read.forall(_.isDefined)) Some(read.flatten.mkString(s"${column.sql} of ", ", ", "")) else None
  }

  /** The columns of a run by their present names. */
  def named(table: ClusterTable, run: RunRecord): Seq[String] =
    if (run.columnIds.length != run.columns.length) run.columns
    else {
      val now = renamed(table, run)
      run.columns.map(c =>
        now.getOrElse(c, Some(c)).getOrElse(refuse(
          s"${table.name} has no column any more that was called $c when it was clustered by " +
            s"(${run.columns.mkString(", ")}); say BY (...) with the columns that it has.")))
    }

  /** The columns of a run that have another name now, with that name; None for one that was dropped. */
  def renamed(table: ClusterTable, run: RunRecord): Map[String, Option[String]] =
    if (run.columnIds.length != run.columns.length) Map.empty
    else {
      val now = paths(table.schema).flatMap(p => table.columnId(p).map(_ -> ColumnPath.sql(p))).toMap
      // the id of an expression contains its text, so it keeps the names that it was written with
      run.columns.zip(run.columnIds).filterNot { case (c, id) => id.startsWith(s"$c of ") }
        .map { case (c, id) => c -> now.get(id) }.filterNot { case (c, name) => name.contains(c) }.toMap
    }

  /** A column of a run whose name belongs to another column now, with its present name. */
  def misnamed(table: ClusterTable, run: RunRecord): Option[(String, Option[String])] = {
    val names = paths(table.schema).map(ColumnPath.sql).toSet
    renamed(table, run).find { case (before, _) => names(before) }
  }

  private def paths(schema: StructType): Seq[Seq[String]] = schema.fields.toSeq.flatMap { f =>
    val inside = f.dataType match {
      case s: StructType => paths(s)
      case _ => Nil
    }
    Seq(f.name) +: inside.map(f.name +: _)
  }
}
