package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, ClusterColumns, RunContext}
import org.apache.spark.sql.zorder.run.select.WhereCondition
import org.apache.spark.sql.zorder.stats.Footers
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.file.DataFile

/** The statement resolved against the table: its columns, its condition, and which statistics to read from footers. */
final private[run] case class ResolvedRequest(
    schema: StructType,
    columns: Seq[ClusterColumn],
    where: Option[WhereCondition],
    statistics: RunStatistics) {

  /**
   * The clustering columns, bound to the rows of some files. Where the files have a column by another name or of
   * another type than the table, they are analysed anew.
   */
  def columnsOf(context: RunContext, rows: LogicalPlan): Seq[ClusterColumn] = {
    val bound = columns.map(ResolvedRequest.bound(_, rows.output))
    if (bound.forall(_.isDefined)) bound.flatten else context.columnsOf(rows)
  }
}

private[run] object ResolvedRequest {

  private def bound(column: ClusterColumn, rows: Seq[Attribute]): Option[ClusterColumn] = {
    val same = column.expression.references.toSeq.flatMap { a =>
      rows.filter(r => r.name == a.name && r.dataType == a.dataType && (a.nullable || !r.nullable)) match {
        case Seq(row) => Some(a.exprId -> row)
        case _ => None
      }
    }.toMap
    if (column.expression.references.forall(a => same.contains(a.exprId)))
      Some(column.copy(expression = column.expression.transform { case a: Attribute => same(a.exprId) }))
    else None
  }

  /** The schema of a path is taken from one file: a column that this one lacks may be in others. */
  def in(context: RunContext, files: Seq[DataFile]): ResolvedRequest = {
    import context.table
    try in(context, table.schema, files.length)
    catch {
      case e: ZOrderException if table.declared.isEmpty =>
        val union = SchemaUnion.of(Footers.read(context.user, files), None, caseSensitive = true)
        val whole = StructType(union.schema ++ table.partitionSchema)
        if (names(whole).toSet.subsetOf(names(table.schema).toSet)) throw e
        in(context, whole, files.length)
    }
  }

  /** Of the columns and of the fields inside them, at any depth. */
  private def names(dataType: DataType, above: Seq[String] = Nil): Seq[Seq[String]] = dataType match {
    case s: StructType => s.fields.toSeq.flatMap(f => (above :+ f.name) +: names(f.dataType, above :+ f.name))
    case a: ArrayType => names(a.elementType, above :+ "element")
    case m: MapType => names(m.keyType, above :+ "key") ++ names(m.valueType, above :+ "value")
    case _ => Nil
  }

  private def in(context: RunContext, schema: StructType, files: Int): ResolvedRequest = {
    import context._
    val partitionColumns = table.partitionSchema.fieldNames.toSeq
    val columns = ClusterColumns.resolve(user, table, schema, by)
    if (!options.force && request.into.isEmpty)
      ClusterColumns.withoutBounds(columns).orElse(table.unskippable(columns.flatMap(_.path))).foreach(why =>
        refuse(s"$why WITH (force = true) does it all the same."))
    val asked = log.fold(Set.empty[String])(_.queries.flatMap(_.boxes).flatten.map(_.column).toSet)
    ResolvedRequest(
      schema,
      columns,
      request.where.map(WhereCondition.resolve(user, table.name, schema, partitionColumns, _)),
      RunStatistics.of(schema, table.constantColumns, columns, asked, files))
  }
}
