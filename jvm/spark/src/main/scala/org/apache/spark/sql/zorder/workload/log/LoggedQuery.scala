package org.apache.spark.sql.zorder.workload.log

import java.sql.Timestamp

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/**
 * One condition of a logged query, a row of the innermost list of the format (docs/guide/query-log.md).
 *
 * @param column
 *   a column, a field of a struct or an expression, as SQL text
 * @param kind
 *   one of [[ConditionKind]]
 * @param count
 *   number of values of an `in`
 * @param width
 *   share of the column's range of values that a range or prefix covers, 0 to 1, if known
 * @param selectivity
 *   share of the rows that meet the condition, 0 to 1, if known
 * @param low
 *   lowest value of a range, or the prefix; None where it is open, or where literals are left out
 * @param values
 *   of an `equal` or `in`; empty where literals are left out
 */
final case class LoggedCondition(
    column: String,
    kind: String,
    count: Option[Int] = None,
    width: Option[Double] = None,
    selectivity: Option[Double] = None,
    low: Option[String] = None,
    high: Option[String] = None,
    values: Seq[String] = Nil)

/** The kinds of conditions that a log has. */
object ConditionKind {
  val Equal = "equal"
  val In = "in"
  val Range = "range"
  val Prefix = "prefix"
  val Null = "null"
  val NotNull = "not_null"
  val Other = "other"

  val all: Seq[String] = Seq(Equal, In, Range, Prefix, Null, NotNull, Other)
}

/**
 * One query on one table, or many that look alike.
 *
 * @param table
 *   name with its catalog, or a path; None where the log is about one table only
 * @param query
 *   a hash of what the query asks: equal for queries that look alike
 * @param weight
 *   how often it was asked
 * @param boxes
 *   the filter: conditions that hold together, of which one list suffices
 */
final case class LoggedQuery(
    table: Option[String],
    time: Option[Timestamp],
    query: String,
    weight: Double,
    boxes: Seq[Seq[LoggedCondition]])

object LoggedQuery {
  private val condition = new StructType()
    .add("column", StringType).add("kind", StringType).add("count", IntegerType)
    .add("width", DoubleType).add("selectivity", DoubleType)
    .add("low", StringType).add("high", StringType).add("values", ArrayType(StringType))

  /** The columns of a query log, in their order. */
  val schema: StructType = new StructType()
    .add("table", StringType).add("time", TimestampType).add("query", StringType)
    .add("weight", DoubleType).add("boxes", ArrayType(ArrayType(condition)))

  def row(q: LoggedQuery): Row =
    Row(q.table.orNull, q.time.orNull, q.query, q.weight, q.boxes.map(_.map(conditionRow)))

  private def conditionRow(c: LoggedCondition): Row = Row(
    c.column,
    c.kind,
    c.count.map(Int.box).orNull,
    c.width.map(Double.box).orNull,
    c.selectivity.map(Double.box).orNull,
    c.low.orNull,
    c.high.orNull,
    if (c.values.isEmpty) null else c.values)
}
