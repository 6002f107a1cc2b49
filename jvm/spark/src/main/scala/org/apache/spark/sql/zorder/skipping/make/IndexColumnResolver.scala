package org.apache.spark.sql.zorder.skipping.make

import scala.util.Try

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization, SelectedExpression}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.index.{
  ExpressionMeaning,
  IndexableFunctions,
  IndexedColumn,
  IndexedExpression,
  TypeText
}
import org.apache.spark.sql.zorder.skipping.predicate.FilterColumn
import org.apache.spark.sql.zorder.stats.{ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.stats.bloom.BloomKey
import org.apache.spark.sql.zorder.table.ClusteredBy
import sparkzorder.curve.Zone

/** Which columns of a table an index is of. */
private[make] object IndexColumnResolver {

  /** An index of all columns stops here: a wide table names those that it wants. */
  val Most = 64

  /**
   * The columns that are named, or as many as can have ranges, in the order of the table.
   *
   * @param schema
   *   of the table, partition columns left out
   */
  def of(table: String, schema: StructType, named: Seq[Seq[String]], same: (String, String) => Boolean)
      : IndexedSeq[(IndexedColumn, StatColumn)] = {
    val all = leaves(schema)
    val usable = all.filter { case (_, dataType) => skippable(dataType) }
    val chosen =
      if (named.isEmpty) usable.take(Most)
      else
        named.map { path =>
          val (p, dataType) = found(table, all, path, same, "ZORDER_COLUMN_NOT_FOUND.INDEX")
          if (!skippable(dataType))
            refuse(
              "ZORDER_COLUMN_REFUSED.INDEX_WITHOUT_BOUNDS",
              "column" -> ColumnPath.sql(p),
              "type" -> dataType.sql)
          p -> dataType
        }.distinct
    chosen.map { case (path, dataType) => column(schema, path, dataType) }.toIndexedSeq
  }

  /**
   * The columns that are named for Bloom filters; refuses one that can have none.
   *
   * @param partitioning
   *   names of the partition columns
   */
  def filtered(
      table: String,
      schema: StructType,
      partitioning: Seq[String],
      named: Seq[Seq[String]],
      same: (String, String) => Boolean): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val all = leaves(schema)
    named.map { path =>
      if (partitioning.exists(same(_, path.head)))
        refuse(
          "ZORDER_COLUMN_REFUSED.BLOOM_OF_PARTITION_COLUMN",
          "column" -> ColumnPath.sql(path),
          "table" -> table)
      val (p, dataType) = found(table, all, path, same, "ZORDER_COLUMN_NOT_FOUND.INDEX_BLOOM")
      val (indexed, stats) = column(schema, p, dataType)
      BloomKey.refusal(stats.dataType).foreach(
        refuse(_, "column" -> ColumnPath.sql(p), "type" -> stats.dataType.sql))
      indexed -> stats
    }.distinct.toIndexedSeq
  }

  private def found(
      table: String,
      all: Seq[(Seq[String], DataType)],
      path: Seq[String],
      same: (String, String) => Boolean,
      missing: String): (Seq[String], DataType) =
    all.find(_._1.corresponds(path)(same)).getOrElse {
      val name = ColumnPath.sql(path)
      val hint = NearestName.hint(name, all.map(c => ColumnPath.sql(c._1)))
      refuse(missing, "table" -> table, "column" -> name, "hint" -> hint)
    }

  /**
   * The columns of an earlier index that the table still has with the same type. Earlier versions took the
   * bytes of a VARCHAR for its order whatever its collation is.
   */
  def still(
      schema: StructType,
      columns: IndexedSeq[IndexedColumn]): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val there = leaves(schema).toSet
    columns.filter(c => there(c.path -> c.dataType) && !TypeText.hasCollation(c.dataType)).map { c =>
      val (now, stats) = column(schema, c.path, c.dataType)
      (now.copy(values = c.values), stats)
    }
  }

  /** The columns with others added whose values are wanted, too. */
  def withValues(
      columns: IndexedSeq[(IndexedColumn, StatColumn)],
      valued: IndexedSeq[(IndexedColumn, StatColumn)]): IndexedSeq[(IndexedColumn, StatColumn)] = {
    val wanted = valued.map(_._1).toSet
    (columns ++ valued).distinct.map { case (c, stats) => (c.copy(values = wanted(c)), stats) }
  }

  private def column(
      schema: StructType,
      path: Seq[String],
      dataType: DataType): (IndexedColumn, StatColumn) = {
    val stats = StatColumn.in(schema, path)
    IndexedColumn(ColumnPath.sql(path), path, dataType, stats.absent == Zone.OnlyNulls) -> stats
  }

  /** Columns and fields that are no structs. */
  private def leaves(schema: StructType): Seq[(Seq[String], DataType)] =
    ColumnPath.ofSchema(schema).filterNot(_._2.isInstanceOf[StructType])

  private def skippable(dataType: DataType): Boolean =
    Normalization.of(dataType).isDefined && ParquetZones.bounds(dataType)
}

/** Which expressions an index of a table can have ranges of. */
final private[make] class IndexExpressionResolver(user: ClassicSession, table: IndexedTable) {
  import IndexExpressionResolver._

  private lazy val session = {
    val own = ExpressionRanges.reader(user)
    table.settings.foreach { case (key, value) => own.conf.set(key, value) }
    own
  }
  private val dataSchema = table.dataSchema

  /** The named expressions; refuses one that cannot have ranges. */
  def of(texts: Seq[String]): ExpressionRanges =
    ranges(texts.map(t => resolved(t).fold(throw _, identity)))

  /** The expressions of an earlier index that can still be computed, as this session evaluates them. */
  def still(columns: Seq[IndexedColumn]): ExpressionRanges =
    ranges(columns.filter(_.expression.isDefined).flatMap(c => resolved(c.sql).toOption))

  /** Why queries of this session do not use what an index has of an expression; None where they do. */
  def unused(column: IndexedColumn): Option[String] = column.expression.flatMap { e =>
    resolved(column.sql) match {
      case Left(why) => Some(s"not used: ${why.sentence}")
      case Right(now) if now.meaning == e.meaning => None
      case _ if !ExpressionMeaning.isCurrent(e.meaning) =>
        Some("not used: an older version of spark-zorder made it; ZORDER REFRESH INDEX computes it anew")
      case _ =>
        Some("not used: it was computed under other settings of the session, by another version of Spark, or from " +
          "columns of other types; ZORDER REFRESH INDEX computes it as this session does")
    }
  }

  /** The clustering columns that can have ranges. */
  def clustering: Seq[String] =
    Try(ClusteredBy.of(table.table)).toOption.flatten.toSeq.flatten
      .filter(sql => Try(user.sessionState.sqlParser.parseMultipartIdentifier(sql)).isFailure)
      .filter(resolved(_).isRight)

  private def ranges(found: Seq[Resolved]): ExpressionRanges = {
    val once = found.groupBy(_.meaning).values.map(_.head).toIndexedSeq.sortBy(found.indexOf(_))
    new ExpressionRanges(
      if (once.isEmpty) user else session,
      table.name,
      table.rows(session, _),
      once.map(_.column),
      once.map(_.dated))
  }

  /** The expression, or why it cannot be indexed. */
  private def resolved(sql: String): Either[ZOrderException, Resolved] = {
    def no(condition: String, more: (String, Any)*) =
      Left(new ZOrderException(condition, ("expression" -> sql) +: ("table" -> table.name) +: more: _*))
    try
      planned(sql) match {
        case None => no("ZORDER_INDEX_REFUSED.EXPRESSION_OVER_ROWS")
        case Some(p) =>
          refusal(p, sql).map { case (condition, more) => no(condition, more: _*) }.getOrElse(
            meaning(sql, p.optimized).map(m => Right(column(sql, p.optimized, m)))
              .getOrElse(no("ZORDER_INDEX_REFUSED.EXPRESSION_TOO_LONG")))
      }
    catch {
      case a: AnalysisException =>
        no("ZORDER_INDEX_REFUSED.EXPRESSION_NOT_RESOLVED", "cause" -> ZOrderException.firstLine(a))
    }
  }

  /** The expression as a query over the table has it. */
  private def planned(sql: String): Option[Planned] = {
    val relation = table.noRows(session).plan
    val query = Shims.ofRows(session, relation).select(expr(sql)).queryExecution
    SelectedExpression.of(query.optimizedPlan).map(e =>
      Planned(
        ColumnPath.asDeclared(e, relation.output),
        SelectedExpression.of(query.analyzed).getOrElse(e)))
  }

  /** A condition, and what its sentence has beside the expression and the table. */
  private def refusal(planned: Planned, sql: String): Option[(String, Seq[(String, Any)])] = {
    val e = planned.optimized
    val names = columnsOf(e)
    def function = IndexableFunctions.refused(e, planned.analyzed, sql)
    val partitioning = table.partitionSchema.fieldNames.toSet
    if (Normalization.of(e.dataType).isEmpty)
      Some("ZORDER_INDEX_REFUSED.EXPRESSION_WITHOUT_ORDER" -> Seq("type" -> e.dataType.sql))
    else if (FilterColumn.of(e).isEmpty)
      Some("ZORDER_INDEX_REFUSED.EXPRESSION_NOT_DETERMINISTIC" -> Nil)
    else if (names.exists(partitioning))
      Some("ZORDER_INDEX_REFUSED.EXPRESSION_OF_PARTITION_COLUMN" -> Nil)
    else if (dataSchema.exists(f => names.contains(f.name) && StatColumn.hasDefault(f)))
      Some("ZORDER_INDEX_REFUSED.EXPRESSION_OF_DEFAULT" -> Nil)
    else if (outermost(e).exists(x => holdsDates(x.dataType)))
      Some("ZORDER_INDEX_REFUSED.EXPRESSION_OF_NESTED_DATES" -> Nil)
    else function.map(name => "ZORDER_INDEX_REFUSED.EXPRESSION_BY_FUNCTION" -> Seq("function" -> name))
  }

  /** None if it is not the same when the text is resolved once more. */
  private def meaning(sql: String, e: Expression): Option[String] = {
    def of(e: Expression) = ExpressionMeaning.of(e, session.sessionState.conf)
    of(e).filter(m => planned(sql).map(_.optimized).flatMap(of).contains(m))
  }

  private def column(sql: String, e: Expression, meaning: String): Resolved = {
    val dated = outermost(e).filter(x => isDated(x.dataType)).flatMap(ColumnPath.of).distinct
    val expression = Some(IndexedExpression(meaning, columnsOf(e)))
    Resolved(
      IndexedColumn(sql, Nil, e.dataType, absentIsNull = false, expression = expression),
      dated.map(StatColumn.in(dataSchema, _)))
  }
}

private object IndexExpressionResolver {

  /** One expression, as the analyzer and as the optimizer leave it. */
  final private case class Planned(optimized: Expression, analyzed: Expression)

  final private case class Resolved(column: IndexedColumn, dated: Seq[StatColumn]) {
    def meaning: String = column.expression.get.meaning
  }

  /** The columns and fields that an expression is computed from. */
  private def outermost(e: Expression): Seq[Expression] =
    if (ColumnPath.of(e).isDefined) Seq(e) else e.children.flatMap(outermost)

  private def columnsOf(e: Expression): Seq[String] = ColumnPath.within(e).map(_.head).distinct

  private def isDated(t: DataType): Boolean = t match {
    case DateType | TimestampType | TimestampNTZType => true
    case _ => false
  }

  private def holdsDates(t: DataType): Boolean = !isDated(t) && t.existsRecursively(isDated)
}
