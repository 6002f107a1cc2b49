package org.apache.spark.sql.zorder.run.request

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.table.{ClusterTable, RunRecord}

/** Which columns a layout is of, where a table can give a column's name to another one (ADR 0029). */
private[run] object ColumnIds {

  /** One for each clustering column; empty where the table's columns have names alone. */
  def of(table: ClusterTable, columns: Seq[ClusterColumn]): Seq[String] = {
    val ids = columns.map(c => c.path.fold(ofExpression(table, c))(table.columnId))
    if (ids.forall(_.isDefined)) ids.flatten else Nil
  }

  private def ofExpression(table: ClusterTable, column: ClusterColumn): Option[String] = {
    val read = ColumnPath.within(column.expression).map(table.columnId)
    if (read.forall(_.isDefined)) Some(read.flatten.mkString(s"${column.sql} of ", ", ", "")) else None
  }

  /** A run's columns by the names that they have now. */
  def named(table: ClusterTable, run: RunRecord): Seq[String] =
    if (run.columnIds.length != run.columns.length) run.columns
    else {
      val now = renamed(table, run)
      run.columns.map(c =>
        now.getOrElse(c, Some(c)).getOrElse(refuse(
          s"${table.name} has no column any more that was called $c when it was clustered by " +
            s"(${run.columns.mkString(", ")}); say BY (...) with the columns that it has.")))
    }

  /** Of a run's columns those that have another name now, with it; None for one that was dropped. */
  def renamed(table: ClusterTable, run: RunRecord): Map[String, Option[String]] =
    if (run.columnIds.length != run.columns.length) Map.empty
    else {
      val now = paths(table.schema).flatMap(p => table.columnId(p).map(_ -> ColumnPath.sql(p))).toMap
      // an expression is told by its text as well: it stays as it was written
      run.columns.zip(run.columnIds).filterNot { case (c, id) => id.startsWith(s"$c of ") }
        .map { case (c, id) => c -> now.get(id) }.filterNot { case (c, name) => name.contains(c) }.toMap
    }

  /** One of a run's columns whose name is that of another column now, with its present name. */
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
