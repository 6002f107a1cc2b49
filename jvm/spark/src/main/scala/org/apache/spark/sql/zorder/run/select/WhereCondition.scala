package org.apache.spark.sql.zorder.run.select

import scala.util.control.NonFatal

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.{ColumnPath, Folding, WordTypes}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * A WHERE condition over the columns of a table, its constant parts folded once: `current_date()` means the
 * same for every file.
 */
final private[zorder] case class WhereCondition(condition: Expression, partitionColumns: Seq[Attribute]) {

  /** As the result row shows it. */
  def sql: String = condition.sql

  /** The condition as scans ask files: true for the same rows. */
  def inferred: WhereCondition = copy(condition = Folding.inferred(condition))

  /** The data columns and fields whose bounds the condition can use. */
  val paths: Seq[Seq[String]] = pathsIn(condition).distinct

  private def pathsIn(e: Expression): Seq[Seq[String]] = e match {
    case a: Attribute if partitionColumns.exists(_.exprId == a.exprId) => Nil
    case _ =>
      ColumnPath.of(e).filter(_ => WordTypes.of(e.dataType).isDefined).map(Seq(_))
        .getOrElse(e.children.flatMap(pathsIn))
  }

  /** What is left of the condition in one partition. */
  def in(values: Seq[Literal]): Expression = {
    val literal = partitionColumns.map(_.exprId).zip(values).toMap
    condition.transformUp {
      case a: Attribute => literal.getOrElse(a.exprId, a)
      case e if !e.isInstanceOf[Literal] && e.deterministic && e.foldable => WhereCondition.evaluated(e)
    }
  }
}

private[zorder] object WhereCondition {

  def resolve(
      session: ClassicSession,
      table: String,
      schema: StructType,
      partitionColumns: Seq[String],
      where: String): WhereCondition = {
    val columns = schema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    val analyzed =
      try Shims.ofRows(session, LocalRelation(columns)).where(expr(where)).queryExecution.analyzed
      catch {
        case e: AnalysisException => refuse(why(session, table, schema, where, e))
      }
    val folded =
      try Folding(analyzed)
      catch {
        case NonFatal(e) => refuse(s"WHERE $where cannot be evaluated: ${ZOrderException.firstLine(e)}.")
      }
    folded match {
      case Filter(condition, _) if !condition.deterministic =>
        refuse(s"WHERE $where says something else at every evaluation: use a deterministic condition.")
      case Filter(condition, _) if condition.exists(_.isInstanceOf[SubqueryExpression]) =>
        refuse(s"WHERE $where holds a subquery: put its result in its place.")
      case Filter(condition, _) =>
        val partitioning = partitionColumns.map(p => columns.find(_.name == p).get)
        WhereCondition(ColumnPath.asDeclared(condition, columns), partitioning)
      case _ => refuse(s"WHERE $where is not a condition on the columns of one row.")
    }
  }

  private def why(
      session: ClassicSession,
      table: String,
      schema: StructType,
      where: String,
      e: AnalysisException): String = {
    val same = session.sessionState.conf.resolver
    val names = session.sessionState.sqlParser.parseExpression(where)
      .collect { case a: UnresolvedAttribute => a.nameParts.head }
    names.find(n => !schema.exists(f => same(f.name, n))) match {
      case Some(n) =>
        s"WHERE names a column $n that $table does not have.${NearestName.hint(n, schema.fieldNames)} " +
          s"Its columns are ${schema.fieldNames.take(20).mkString(", ")}."
      case None => s"WHERE $where cannot be resolved: ${ZOrderException.firstLine(e)}."
    }
  }

  /** A part that cannot be evaluated stays as it is, and its files count as overlapping. */
  private def evaluated(e: Expression): Expression =
    try Literal.create(e.eval(), e.dataType)
    catch { case NonFatal(_) => e }
}
