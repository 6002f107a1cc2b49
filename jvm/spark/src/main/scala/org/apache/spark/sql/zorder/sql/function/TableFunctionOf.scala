package org.apache.spark.sql.zorder.sql.function

import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Row, SparkSession, SQLContext}
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sources.{BaseRelation, TableScan}
import org.apache.spark.sql.types.{ArrayType, NullType, StringType, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** When the rows of a table function are found. */
sealed trait FoundRows

/** While the query is analysed: they are few, and the query sees one state of them. */
final case class RowsNow(rows: Seq[Row]) extends FoundRows

/** Once, and not before somebody reads them. */
final case class RowsWhenRead(find: () => Seq[Row]) extends FoundRows

/**
 * The strings that a table function takes.
 *
 * @param signature
 *   their names, as its description shows them
 * @param meaning
 *   what each of them is
 * @param wanted
 *   what a refusal says that it takes
 * @param lists
 *   whether an array of strings stands for its elements
 * @param fit
 *   whether the function takes these; None is NULL
 */
final case class StringArguments(
    signature: String,
    meaning: Seq[(String, String)],
    wanted: String,
    lists: Boolean = false)(val fit: Seq[Option[String]] => Boolean)

/**
 * A table function, used in FROM: it makes rows of constant strings.
 *
 * @param rows
 *   called while the query is analysed
 */
final class TableFunctionOf(
    val name: String,
    what: String,
    arguments: StringArguments,
    example: String,
    schema: StructType)(rows: (ClassicSession, Seq[Option[String]]) => FoundRows) {

  val info: ExpressionInfo = {
    val meaning = arguments.meaning.map { case (n, m) => s"      * $n - $m\n" }
    FunctionDescription.table(
      classOf[TableFunctionOf],
      name,
      s"_FUNC_(${arguments.signature}) - $what",
      if (meaning.isEmpty) "" else meaning.mkString("\n    Arguments:\n", "", ""),
      s"\n    Examples:\n      > SELECT * FROM _FUNC_($example);\n")
  }

  def build(given: Seq[Expression]): LogicalPlan = {
    val constants = given.map(constant)
    val strings = constants.flatten.flatten
    if (constants.contains(None) || !arguments.fit(strings))
      refuse(s"$name takes ${arguments.wanted}, as in SELECT * FROM $name($example).")
    val session = Shims.classic(SparkSession.active)
    rows(session, strings) match {
      case RowsNow(found) => LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), found)
      case RowsWhenRead(find) => LogicalRelation(new FunctionRelation(session.sqlContext, name, schema, find))
    }
  }

  /** A string or NULL, or the strings of an array; None for anything else. */
  private def constant(argument: Expression): Option[Seq[Option[String]]] =
    try if (!argument.resolved || !argument.foldable) None
      else (argument.dataType, argument.eval()) match {
        case (NullType | _: StringType, value) => Some(Seq(Option(value).map(_.toString)))
        case (ArrayType(_: StringType, _), list: ArrayData) if arguments.lists =>
          Some((0 until list.numElements()).map(i => Option(list.getUTF8String(i)).map(_.toString)))
        case _ => None
      }
    catch { case NonFatal(_) => None }
}

/** The rows of a function as a table that is read. */
final private class FunctionRelation(
    override val sqlContext: SQLContext,
    name: String,
    override val schema: StructType,
    find: () => Seq[Row])
    extends BaseRelation
    with TableScan {
  private lazy val rows: Seq[Row] = find()

  override def buildScan(): RDD[Row] = sqlContext.sparkContext.parallelize(rows, 1)

  override def toString: String = name
}
