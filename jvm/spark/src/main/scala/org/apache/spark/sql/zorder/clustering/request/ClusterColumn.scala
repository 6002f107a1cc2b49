package org.apache.spark.sql.zorder.clustering.request

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.{AnalysisException, Column, DataFrame}
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.QuotingUtils
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.{ArrayType, DataType, MapType, StructField, StructType}
import org.apache.spark.sql.zorder.conf.{NearestName, OptionValue}
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.sql.zorder.clustering.fit.FitColumn
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, RunRecord}
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
  def fit: FitColumn = FitColumn(sql, dataType.sql)
}

/** Resolves the list of `BY (...)` against a table; every error is one sentence. */
object ColumnResolver {
  /** Against a schema, before any row is read. */
  def resolve(
      session: ClassicSession,
      table: ClusterTable,
      schema: StructType,
      by: Seq[String]): Seq[ClusterColumn] = {
    by.foreach(sql => table.ownColumn(sql.trim.stripPrefix("`").stripSuffix("`")).foreach(refuse(_)))
    on(
      session,
      table.name,
      LocalRelation(schema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())),
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
   * The name of a column as it stands in `BY (...)`, since a layout lists its columns by name: that of a column of
   * the DataFrame, or of a field below one.
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
    plan match {
      case Project(Seq(Alias(child, _)), _) => Some(child)
      case Project(Seq(only), _) => Some(only)
      case _ => None
    }
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
  def orderedPaths(fields: Seq[StructField], above: Seq[String] = Nil): Seq[Seq[String]] =
    fields.flatMap { f =>
      f.dataType match {
        case s: StructType => orderedPaths(s, above :+ f.name)
        case t if Normalization.of(t).isDefined => Seq(above :+ f.name)
        case _ => Nil
      }
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
          "columns" -> (names.take(20).mkString(", ") + (if (names.length > 20) ", ..." else "")))
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

/** The clustering columns: the statement's list, else those that the table itself names. */
private[zorder] object ClusteredBy {

  /** Property that makes `ZORDER TABLE t` complete. */
  val Property = "zorder.by"

  private[clustering] def of(request: ClusterRequest, table: ClusterTable): Seq[String] =
    if (request.by.nonEmpty) request.by
    else
      of(table)
        .getOrElse(
          refuse("ZORDER_INVALID_COLUMNS.NONE_OF_THE_TABLE", "table" -> table.name, "property" -> Property))

  /** Those that the table names itself, or was last clustered by; None if there are none. */
  def of(table: ClusterTable): Option[Seq[String]] =
    fromProperty(table).orElse(fromClusterBy(table)).orElse(lastRun(table)).filter(_.nonEmpty)

  /** Those of the last run, by their present names. */
  def lastRun(table: ClusterTable): Option[Seq[String]] = table.state.latest().map(ColumnIds.named(table, _))

  private def fromProperty(table: ClusterTable): Option[Seq[String]] =
    table.properties.get(Property).map(inList)

  /** The columns of Spark 4's `CREATE TABLE ... CLUSTER BY`: JSON lists of name parts. */
  private def fromClusterBy(table: ClusterTable): Option[Seq[String]] =
    table.properties.get("clusteringColumns").map { json =>
      val lists = new ObjectMapper().readTree(json).elements().asScala
      lists.map(parts => QuotingUtils.quoteNameParts(parts.elements().asScala.map(_.asText).toSeq)).toSeq
    }

  /** The items of a list as in `BY (...)`, without its empty places. */
  def inList(list: String): Seq[String] = OptionValue.items(list).filter(_.nonEmpty)
}

/** The columns of a layout by their ids, since a table can give the name of a column to another one (ADR 0029). */
private[clustering] object ColumnIds {

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
          "ZORDER_COLUMN_NOT_FOUND.DROPPED",
          "table" -> table.name,
          "column" -> c,
          "columns" -> run.columns.mkString(", "))))
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
