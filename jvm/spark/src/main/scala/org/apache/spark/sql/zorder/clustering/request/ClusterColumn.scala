package org.apache.spark.sql.zorder.clustering.request

import org.apache.spark.sql.{AnalysisException, Column, DataFrame}
import org.apache.spark.sql.catalyst.analysis.{MultiAlias, Star, UnresolvedAttribute}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization, SelectedExpression}
import org.apache.spark.sql.zorder.clustering.fit.FitColumn
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.InputRelation

/**
 * A clustering column, resolved.
 *
 * @param sql
 *   the column by its name in the table, quoted where it must be; an expression as the user wrote it
 * @param path
 *   where its statistics are in a file: the column and the fields below it; None for an expression
 */
final case class ClusterColumn(sql: String, expression: Expression, path: Option[Seq[String]]) {
  def dataType: DataType = expression.dataType
  def fit: FitColumn = FitColumn(sql, Normalization.typeName(dataType))

  /** The column over these rows; None if they do not have its columns as the table has them. */
  private[request] def boundTo(rows: Seq[Attribute]): Option[ClusterColumn] = {
    val same = expression.references.toSeq.flatMap { a =>
      rows.filter(r => r.name == a.name && r.dataType == a.dataType && (a.nullable || !r.nullable)) match {
        case Seq(row) => Some(a.exprId -> row)
        case _ => None
      }
    }.toMap
    if (expression.references.forall(a => same.contains(a.exprId)))
      Some(copy(expression = expression.transform { case a: Attribute => same(a.exprId) }))
    else None
  }
}

/** Resolves the list of `BY (...)` against a table; every error is one sentence. */
object ColumnResolver {

  /** Against a schema, before any row is read. */
  def resolve(
      session: ClassicSession,
      table: ClusterTable,
      schema: StructType,
      by: Seq[String]): Seq[ClusterColumn] = {
    by.flatMap(sql => table.refusalOfName(sql.trim.stripPrefix("`").stripSuffix("`")))
      .foreach(refused => throw refused)
    on(
      session,
      table.name,
      LocalRelation(ColumnPath.attributes(schema)),
      table.constantColumns,
      by)
  }

  /**
   * Against the rows of a relation.
   *
   * @param what
   *   what messages call the table
   */
  def on(
      session: ClassicSession,
      what: String,
      relation: LogicalPlan,
      partitionColumns: Seq[String],
      by: Seq[String]): Seq[ClusterColumn] = {
    by.foreach(checkNames(session, what, relation.schema, partitionColumns, _))
    val columns = by.map(sql => one(session, what, relation, sql))
    columns.combinations(2).collectFirst {
      case Seq(a, b) if a.expression.semanticEquals(b.expression) =>
        refuse("ZORDER_INVALID_COLUMNS.DUPLICATE", "column" -> b.sql)
    }
    columns
  }

  /**
   * The name of a column as it stands in `BY (...)`, since a layout lists its columns by name: that of a
   * column of the DataFrame, or of a field below one.
   */
  def nameOf(df: DataFrame, column: Column): String =
    resolved(df, column)(cause =>
      refuse("ZORDER_COLUMN_NOT_FOUND.IN_DATAFRAME", "column" -> column, "cause" -> cause))
      .flatMap(ColumnPath.of).map(path => QuotingUtils.quoteNameParts(path))
      .getOrElse(refuse("ZORDER_INVALID_COLUMNS.EXPRESSION", "column" -> column))

  /**
   * The expression of a column over these rows; None for one over several rows, such as a window.
   *
   * @param unknown
   *   refuses a column that is not found, with Spark's reason
   */
  private def resolved(rows: DataFrame, column: Column)(unknown: String => Nothing): Option[Expression] = {
    val plan =
      try rows.select(column).queryExecution.analyzed
      catch { case e: AnalysisException => unknown(firstLine(e)) }
    SelectedExpression.of(plan)
  }

  /**
   * Refuses the first column that is computed from an array or a map, such as `l[0]`: it has an order, but no
   * look-up can skip files by it.
   */
  def refuseElements(columns: Seq[ClusterColumn]): Unit =
    columns.flatMap(c => collectionIn(c.expression).map(c -> _)).headOption.foreach { case (c, collection) =>
      refuse(
        "ZORDER_COLUMN_REFUSED.OF_ELEMENTS",
        "column" -> c.sql,
        "source" -> ColumnPath.of(collection).fold(collection.sql)(ColumnPath.sql),
        "type" -> collection.dataType.sql)
    }

  private def collectionIn(e: Expression): Option[Expression] = e.collectFirst {
    case c if ColumnPath.of(c).isDefined && isCollection(c.dataType) => c
  }

  private def isCollection(t: DataType): Boolean = t.isInstanceOf[ArrayType] || t.isInstanceOf[MapType]

  /** The columns that have an order, as paths; fields of structs by their names. */
  def orderedPaths(fields: Seq[StructField]): Seq[Seq[String]] =
    ColumnPath.ofSchema(fields).collect {
      case (path, dataType) if Normalization.of(dataType).isDefined => path
    }

  /** Checks the names first: the most common mistakes get a sentence of their own, not Spark's. */
  private def checkNames(
      session: ClassicSession,
      table: String,
      schema: StructType,
      partitionColumns: Seq[String],
      sql: String): Unit = {
    val parsed =
      try session.sessionState.sqlParser.parseExpression(sql)
      catch {
        case e: AnalysisException =>
          refuse("ZORDER_INVALID_COLUMNS.NOT_PARSED", "column" -> sql, "cause" -> firstLine(e))
      }
    parsed match {
      // Spark reads `customer id` as the column `customer` under another name
      case _: Alias | _: MultiAlias | _: Star => refuse("ZORDER_INVALID_COLUMNS.NOT_ONE", "column" -> sql)
      case _ => ()
    }
    val same = session.sessionState.conf.resolver
    parsed.collect { case a: UnresolvedAttribute => a.nameParts.head }.foreach { name =>
      if (partitionColumns.exists(same(_, name)))
        refuse("ZORDER_COLUMN_REFUSED.PARTITION_COLUMN", "column" -> name, "table" -> table)
      if (!schema.exists(f => same(f.name, name))) {
        val names = schema.fieldNames.toSeq.diff(partitionColumns ++ InputRelation.OwnColumns)
        refuse(
          "ZORDER_COLUMN_NOT_FOUND.IN_TABLE",
          "table" -> table,
          "column" -> name,
          "hint" -> NearestName.hint(name, names),
          "columns" -> NearestName.listed(names))
      }
    }
  }

  private def one(
      session: ClassicSession,
      table: String,
      relation: LogicalPlan,
      sql: String): ClusterColumn = {
    val rows = Shims.ofRows(session, relation)
    val expression = resolved(rows, expr(sql))(cause =>
      refuse("ZORDER_INVALID_COLUMNS.NOT_RESOLVED", "column" -> sql, "table" -> table, "cause" -> cause))
      .getOrElse(refuse("ZORDER_COLUMN_REFUSED.NOT_OVER_ONE_ROW", "column" -> sql, "table" -> table))
    val declared = ColumnPath.asDeclared(expression, relation.output)
    if (!expression.deterministic)
      refuse("ZORDER_COLUMN_REFUSED.NOT_DETERMINISTIC", "column" -> sql)
    if (expression.references.isEmpty || SubqueryExpression.hasSubquery(expression))
      refuse("ZORDER_COLUMN_REFUSED.NOT_OF_THE_TABLE", "column" -> sql, "table" -> table)
    if (Normalization.of(expression.dataType).isEmpty) {
      val what = Seq("column" -> sql, "table" -> table, "type" -> expression.dataType.sql)
      expression.dataType match {
        case s: StructType if s.nonEmpty =>
          refuse("ZORDER_COLUMN_REFUSED.STRUCT", what :+ "field" -> s"$sql.${s.head.name}": _*)
        case _: ArrayType | _: MapType => refuse("ZORDER_COLUMN_REFUSED.COLLECTION", what: _*)
        case _ => refuse("ZORDER_COLUMN_REFUSED.WITHOUT_ORDER", what: _*)
      }
    }
    val where = ColumnPath.of(declared)
    ClusterColumn(where.map(ColumnPath.sql).getOrElse(sql), declared, where)
  }
}

private[clustering] object ClusterColumn {

  /** One id for each clustering column; empty if the table's columns have only names. */
  def ids(table: ClusterTable, columns: Seq[ClusterColumn]): Seq[String] = {
    val ids = columns.map(c => c.path.fold(ofExpression(table, c))(table.columnId))
    if (ids.forall(_.isDefined)) ids.flatten else Nil
  }

  private def ofExpression(table: ClusterTable, column: ClusterColumn): Option[String] = {
    val read = ColumnPath.within(column.expression).map(table.columnId)
    if (read.forall(_.isDefined)) Some(read.flatten.mkString(s"${column.sql} of ", ", ", "")) else None
  }
}
